#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The example of the newsgroups finds the topics of its generated corpus."""

import numpy as np
import pytest
import scipy.sparse as sp

import pymc_geodesic as pmg


@pytest.fixture(scope="module")
def lda(load_example):
    return load_example("lda")


@pytest.fixture(scope="module")
def idata(lda):
    return lda.run(quick=True)


def test_topics_are_those_that_the_words_were_drawn_from(lda, idata):
    corpus = lda.generated_corpus()
    words = pmg.topics.top_words(idata, vocabulary=corpus.vocabulary, n=5)
    themes = [set(corpus.vocabulary[10 * k : 10 * k + 10]) for k in range(5)]
    found = [
        next(k for k, theme in enumerate(themes) if set(rows["word"]) <= theme)
        for _, rows in words.groupby("topic")
    ]
    assert sorted(found) == [0, 1, 2, 3, 4]
    np.testing.assert_allclose(idata.posterior["topics"].sum("word"), 1)
    assert not idata.sample_stats["diverging"].any()


def test_source_is_named_and_the_picture_drawn(lda, idata, check_picture):
    assert lda.report(idata).startswith("generated documents")
    check_picture(lda, idata)


def test_file_of_counts(lda, tmp_path):
    counts = sp.csr_array(np.eye(20, 30, dtype="int32") + np.eye(20, 30, 10, dtype="int32"))
    words = np.array([f"word{i}" for i in range(30)])
    parts = {"data": counts.data, "indices": counts.indices, "indptr": counts.indptr}
    np.savez(tmp_path / "counts.npz", **parts, shape=counts.shape, vocab=words)
    corpus = lda.load_corpus(tmp_path / "counts.npz", max_words=10)
    # Those that two documents have: a tenth of them, and no more.
    np.testing.assert_array_equal(corpus.vocabulary, words[10:20])
    np.testing.assert_array_equal(corpus.counts.sum(axis=0), np.full(10, 2))
    assert corpus.counts.shape[0] == 20

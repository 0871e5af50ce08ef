#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Corpora in memory and in minibatches."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

from scipy import sparse

import pymc_geodesic as pmg

from pymc_geodesic.potential.minibatch import find_batch_sources
from pymc_geodesic.potential.packed import (
    corpus_of,
    is_packed,
    rows_of_corpus,
    take_rows,
    tokens_of,
    unpack,
)

COUNTS = np.random.default_rng(1).poisson(0.4, (30, 12))
COUNTS[:, 3] += 1


def dense(words, weights, n_words):
    rows = np.zeros((len(words), n_words))
    for row, (ids, amounts) in enumerate(zip(words, weights, strict=True)):
        np.add.at(rows[row], ids, amounts)
    return rows


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.coo_array])
@pytest.mark.parametrize("rows", [None, np.array([4, 0, 29, 4])])
def test_packed_rows_are_the_documents(make, rows):
    documents = pt.as_tensor(pmg.BagOfWords(make(COUNTS)))
    expected = COUNTS
    if rows is not None:
        documents, expected = take_rows(documents, pt.constant(rows)), COUNTS[rows]
    corpus = corpus_of(documents)
    words, weights = (x.eval() for x in unpack(documents, corpus, width=corpus.width))
    np.testing.assert_array_equal(dense(words, weights, 12), expected)
    assert words.shape[1] == np.count_nonzero(COUNTS, axis=1).max()
    starts, words, weights = rows_of_corpus(documents.eval(), *(x.eval() for x in corpus))
    found = sparse.csr_array((weights, words, starts), shape=(len(expected), 12))
    np.testing.assert_array_equal(found.toarray(), expected)
    np.testing.assert_array_equal(tokens_of(documents).eval(), expected.sum(axis=1))


def test_minibatch_of_documents():
    corpus = pmg.BagOfWords(COUNTS)
    batch = pm.Minibatch(corpus, batch_size=5)
    assert is_packed(batch)
    numbers = batch.eval()
    assert numbers.shape == (5, 1)
    assert set(numbers.ravel()) <= set(range(30))
    with pm.Model() as model:
        topics = pmg.SymmetricDirichlet("topics", 1.0, shape=(2, 12))
        pmg.LatentDirichletAllocation("w", topics, 1.0, observed=batch, total_size=30)
    [source] = find_batch_sources(model)
    assert (source.n_rows, source.batch_size) == (30, 5)


def test_numbers_of_documents_are_exact(monkeypatch):
    monkeypatch.setattr("pymc_geodesic.topic_models.texts.MOST_IN_SINGLE_PRECISION", 20)
    with pytensor.config.change_flags(floatX="float32"):
        with pytest.raises(ValueError, match="at most 20 documents in single precision, got 30"):
            pt.as_tensor(pmg.BagOfWords(COUNTS))
        pt.as_tensor(pmg.BagOfWords(COUNTS[:20]))


def test_unit_vectors_and_tf_idf():
    corpus = pmg.BagOfWords(COUNTS)
    units = corpus.unit_vectors().matrix.toarray()
    np.testing.assert_allclose(units, COUNTS / np.linalg.norm(COUNTS, axis=1, keepdims=True))
    direction = corpus.unit_vectors().mean_direction()
    np.testing.assert_allclose(direction, units.sum(axis=0) / np.linalg.norm(units.sum(axis=0)))
    sparse_counts = COUNTS.copy()
    sparse_counts[:20, 3] = 0
    sparse_counts[:20, 5] += 1
    weights = sparse_counts * np.log(30 / (1 + (sparse_counts > 0).sum(axis=0)))
    weights = np.maximum(weights, 0)
    expected = weights / np.linalg.norm(weights, axis=1, keepdims=True)
    found = pmg.BagOfWords(sparse_counts).tf_idf().matrix.toarray()
    np.testing.assert_allclose(found, expected)


def test_new_documents_take_the_weights_of_those_learned_from():
    learned = pmg.BagOfWords(COUNTS[:20])
    idf = learned.inverse_document_frequencies()
    own = learned.tf_idf().matrix.toarray()
    np.testing.assert_array_equal(learned.tf_idf(idf=idf).matrix.toarray(), own)
    # What a document looks like does not depend on its company.
    new = pmg.BagOfWords(np.vstack([COUNTS[3], COUNTS[25:]])).tf_idf(idf=idf).matrix.toarray()
    np.testing.assert_allclose(new[0], own[3])
    weights = COUNTS[25:] * np.maximum(np.log(20 / (1 + (COUNTS[:20] > 0).sum(axis=0))), 0)
    np.testing.assert_allclose(new[1:], weights / np.linalg.norm(weights, axis=1, keepdims=True))


@pytest.mark.parametrize(
    ("idf", "message"),
    [
        (np.ones(3), r"`idf` expected 12 weights.*got shape \(3,\)"),
        (-np.ones(12), "values from -1"),
        (np.eye(12)[3] * 0, "got 30 documents without, the first at row 0"),
    ],
)
def test_bad_weights_of_words(idf, message):
    with pytest.raises(ValueError, match=message):
        pmg.BagOfWords(COUNTS).tf_idf(idf=idf)


def test_a_large_corpus_stays_small():
    rng = np.random.default_rng(2)
    n_documents, n_words, length = 20_000, 50_000, 10
    words = rng.integers(n_words, size=(n_documents, length))
    starts = np.arange(0, words.size + 1, length)
    matrix = sparse.csr_array((np.ones(words.size), words.ravel(), starts), (n_documents, n_words))
    packed = pt.as_tensor(pmg.BagOfWords(matrix))
    held = sum(array.get_value(borrow=True).nbytes for array in corpus_of(packed))
    assert held < 16 * words.size


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        (np.array([[1, 0], [0, 0]]), "1 without words"),
        (np.array([[1.0, np.nan]]), "finite"),
        (np.zeros((0, 3)), "shape"),
    ],
)
def test_bad_documents(documents, message):
    with pytest.raises(ValueError, match=message):
        pmg.BagOfWords(documents)

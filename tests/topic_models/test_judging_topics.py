#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Coherence, sizes and typical documents of topics."""

import numpy as np
import pytest

from scipy import sparse

import pymc_geodesic as pmg

RNG = np.random.default_rng(3)
COUNTS = RNG.poisson(0.7, (200, 12))
COUNTS[:, 0] += 1
TOPICS = RNG.dirichlet(np.ones(12), size=4)


def npmi(first, second):
    """From the definition, pair by pair."""
    together = np.mean((COUNTS[:, first] > 0) & (COUNTS[:, second] > 0))
    alone = np.mean(COUNTS[:, first] > 0) * np.mean(COUNTS[:, second] > 0)
    return np.log(together / alone) / -np.log(together)


def test_coherence_is_the_mean_over_pairs():
    found = pmg.topics.coherence(TOPICS, documents=sparse.csr_array(COUNTS), n=5)
    for topic, value in zip(TOPICS, found, strict=True):
        best = np.argsort(-topic)[:5]
        pairs = [npmi(best[i], best[j]) for i in range(5) for j in range(i)]
        assert value == pytest.approx(np.mean(pairs))


def test_coherence_of_the_true_topics_is_larger():
    true = np.kron(np.eye(3), np.ones(6)) / 6 + 1e-9
    true /= true.sum(axis=1, keepdims=True)
    counts = RNG.multinomial(10, RNG.dirichlet([0.1] * 3, size=300) @ true)
    mixed = RNG.permuted(true, axis=1)
    right, wrong = (pmg.topics.coherence(t, documents=counts, n=6) for t in (true, mixed))
    assert right.min() > 0.2
    assert wrong.max() < right.min()


def test_words_in_all_documents_and_in_none():
    documents = [[1, 1, 0, 1], [1, 1, 0, 0]]
    topics = [[0.5, 0.4, 0.05, 0.05], [0.05, 0.05, 0.5, 0.4]]
    np.testing.assert_array_equal(
        pmg.topics.coherence(topics, documents=documents, n=2), [1.0, -1.0]
    )
    with pytest.raises(ValueError, match="`n` expected 2 to 4"):
        pmg.topics.coherence(topics, documents=documents, n=1)


def test_sizes_count_tokens():
    shares = RNG.dirichlet(np.ones(4), size=200)
    tokens = COUNTS.sum(axis=1)
    found = pmg.topics.topic_sizes(shares, documents=COUNTS)
    np.testing.assert_allclose(found, np.average(shares, axis=0, weights=tokens))
    np.testing.assert_allclose(pmg.topics.topic_sizes(shares), shares.mean(axis=0))
    with pytest.raises(ValueError, match=r"`documents` expected 200 documents.*got 3"):
        pmg.topics.topic_sizes(shares, documents=COUNTS[:3])
    with pytest.raises(ValueError, match="`shares` expected a matrix"):
        pmg.topics.topic_sizes(shares / 2)


def test_top_documents_are_those_of_the_largest_shares():
    shares = RNG.dirichlet(np.ones(4), size=50)
    titles = [f"title {i}" for i in range(50)]
    table = pmg.topics.top_documents(shares, texts=titles, n=2)
    assert len(table) == 8
    for topic, rows in table.groupby("topic"):
        best = np.argsort(-shares[:, topic])[:2]
        assert rows["document"].tolist() == best.tolist()
        assert rows["text"].tolist() == [titles[i] for i in best]
        np.testing.assert_allclose(rows["share"], shares[best, topic])
    assert "text" not in pmg.topics.top_documents(shares)
    with pytest.raises(ValueError, match=r"`texts` expected 50.*corpus\.rows"):
        pmg.topics.top_documents(shares, texts=titles[:3])
    with pytest.raises(ValueError, match="`n` expected 1 to 50"):
        pmg.topics.top_documents(shares, n=51)

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Proportions of documents, and what they predict."""

import arviz as az
import numpy as np
import pytest
import scipy.sparse as sp

from scipy.special import betaln
from scipy.stats import binom

import pymc_geodesic as pmg

ALPHA = np.array([0.3, 0.6, 1.0])
N_WORDS = 30


def corpus(n_documents, length, seed=1):
    """Topics, proportions and counts drawn from the model."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(N_WORDS, 0.1), size=3)
    shares = rng.dirichlet(ALPHA, size=n_documents)
    return topics, shares, rng.multinomial(length, shares @ topics)


def test_proportions_are_posterior_means():
    """Proportions drawn from the prior differ from their posterior means by what is unexplained."""
    topics, shares, counts = corpus(1000, 40)
    found = pmg.topics.proportions(topics, documents=counts, alpha=ALPHA, rng=1, sweeps=100)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    for of_topic in (np.ones(3), found):
        product = of_topic * (shares - found)
        z = product.mean(axis=0) / (product.std(axis=0) / np.sqrt(len(counts)))
        assert np.abs(z).max() < 4
    assert np.corrcoef(found.ravel(), shares.ravel())[0, 1] > 0.95


def test_one_token_exactly():
    """With one token the posterior mean has a closed form, and Gibbs draws exactly."""
    topics = np.array([[0.9, 0.1], [0.2, 0.8]])
    alpha = np.array([0.5, 1.5])
    documents = np.tile([1, 0], (20_000, 1))
    found = pmg.topics.proportions(topics, documents=documents, alpha=alpha, rng=1, sweeps=2)
    of_first = alpha[0] * 0.9 / (alpha @ topics[:, 0])
    exact = (alpha[0] + of_first) / 3
    error = found[:, 0].std() / np.sqrt(len(found))
    assert abs(found[:, 0].mean() - exact) < 4 * error < 0.01


def test_two_words_by_quadrature():
    """Two topics of one word each make a document Binomial, with known chances."""
    topics, alpha = np.eye(2), np.array([0.7, 2.0])
    observed, held_out = np.array([[3, 1]]), np.array([[2, 1]])
    grid = (np.arange(200_000) + 0.5) / 200_000
    log_prior = (alpha[0] - 1) * np.log(grid) + (alpha[1] - 1) * np.log1p(-grid) - betaln(*alpha)
    weight = np.exp(log_prior) * binom.pmf(3, 4, grid)
    share = (weight * grid).sum() / weight.sum()
    exact = np.exp(-(2 * np.log(share) + np.log(1 - share)) / 3)
    found = pmg.topics.document_completion_perplexity(
        topics, observed=observed, held_out=held_out, alpha=alpha, rng=1
    )
    assert found.value == pytest.approx(exact, rel=1e-5)


def test_probabilities_are_averaged_before_the_logarithm():
    _, _, counts = corpus(20, 40)
    draws = np.random.default_rng(2).dirichlet(np.ones(N_WORDS), size=(2, 2, 3))
    observed, held_out = pmg.topics.split_tokens(counts, fraction=0.25, rng=1)
    options = {"alpha": ALPHA, "sweeps": 10, "discard": 4}
    rng = np.random.default_rng(3)
    probabilities = np.stack(
        [
            pmg.topics.proportions(topics, documents=observed, rng=rng, **options) @ topics
            for topics in draws.reshape(4, 3, N_WORDS)
        ]
    )
    n = held_out.toarray()
    by_hand = [
        np.exp(-(n * np.log(probabilities[:m].mean(axis=0))).sum() / n.sum()) for m in (1, 2, 3, 4)
    ]
    single = np.exp(-(n * np.log(probabilities)).sum(axis=(1, 2)) / n.sum())
    options |= {"observed": sp.csc_array(observed), "held_out": n}
    for topics in (draws, az.from_dict({"posterior": {"topics": draws}})):
        found = pmg.topics.document_completion_perplexity(topics, rng=3, **options)
        np.testing.assert_allclose(found.cumulative, by_hand, rtol=1e-12)
        np.testing.assert_allclose(found.single, single, rtol=1e-12)
        assert found.value == found.cumulative[-1]


def test_truth_predicts_best():
    topics, _, counts = corpus(300, 60)
    observed, held_out = pmg.topics.split_tokens(counts, rng=1)
    blurred = 0.8 * topics + 0.2 / N_WORDS
    values = [
        pmg.topics.document_completion_perplexity(
            t, observed=observed, held_out=held_out, alpha=ALPHA, rng=1
        ).value
        for t in (topics, blurred, np.full((3, N_WORDS), 1 / N_WORDS))
    ]
    assert values[0] < values[1] < values[2] == pytest.approx(N_WORDS)


def test_word_without_probability():
    found = pmg.topics.document_completion_perplexity(
        np.eye(3)[None, :2], observed=[[3, 1, 0]], held_out=[[0, 0, 1]], alpha=1.0, rng=1
    )
    assert found.value == np.inf


def test_split_tokens():
    documents = sp.csr_matrix(corpus(50, 41)[2])
    before = documents.copy()
    observed, held_out = pmg.topics.split_tokens(documents, fraction=0.2, rng=1)
    assert (observed + held_out != documents).nnz == 0
    assert (documents != before).nnz == 0
    np.testing.assert_array_equal(held_out.sum(axis=1), 8)
    assert observed.data.min() > 0
    assert held_out.data.min() > 0
    again = pmg.topics.split_tokens(documents.toarray(), fraction=0.2, rng=1)
    assert (again[1] != held_out).nnz == 0
    other = pmg.topics.split_tokens(documents, fraction=0.2, rng=2)
    assert (other[1] != held_out).nnz > 0


def test_split_is_hypergeometric():
    documents = np.tile([10, 0, 25, 5], (5000, 1))
    _, held_out = pmg.topics.split_tokens(documents, fraction=0.3, rng=1)
    found, share = held_out.toarray(), documents[0] / 40
    variance = 12 * share * (1 - share) * 28 / 39
    error = np.sqrt(variance / 5000)
    assert np.all(np.abs(found.mean(axis=0) - 12 * share) <= 4 * error)
    np.testing.assert_allclose(found.var(axis=0), variance, rtol=0.1)


def test_split_of_short_documents():
    _, held_out = pmg.topics.split_tokens([[0, 0], [1, 0], [0, 5]], fraction=0.2, rng=1)
    np.testing.assert_array_equal(held_out.toarray(), [[0, 0], [0, 0], [0, 1]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"observed": [[1, 1]]}, r"with 3 columns.*got shape \(1, 2\)"),
        ({"observed": [[1, 1, 1], [1, 0, 0]]}, "same documents, got 2 and 1 documents"),
        ({"observed": [[0.5, 1, 1]]}, "counts of words.*from 0.5"),
        ({"held_out": [[0, 0, 0]]}, "at least one token, got none"),
        ({"held_out": [[0, -1, 2]]}, "counts of words.*from -1"),
        ({"topics": 2 * np.eye(3)}, "sum to one"),
        ({"alpha": -1.0}, "one positive number or 3"),
        ({"sweeps": 4, "discard": 4}, "at least one of the `sweeps`"),
    ],
)
def test_bad_input(change, message):
    arguments = {"observed": [[1, 1, 1]], "held_out": [[1, 0, 0]], "alpha": 1.0, "rng": 1, **change}
    topics = arguments.pop("topics", np.eye(3))
    with pytest.raises(ValueError, match=message):
        pmg.topics.document_completion_perplexity(topics, **arguments)


@pytest.mark.parametrize("fraction", [0, 1, np.nan])
def test_bad_fraction(fraction):
    with pytest.raises(ValueError, match="`fraction` expected a number between 0 and 1"):
        pmg.topics.split_tokens([[1, 2]], fraction=fraction)

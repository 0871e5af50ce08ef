#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Priors of latent Dirichlet allocation are learned from documents."""

import numpy as np
import pytest

from scipy.optimize import approx_fprime
from scipy.special import gammaln

import pymc_geodesic as pmg

from pymc_geodesic.topic_models.priors import fit_polya

SEED = 11


def log_likelihood(logs, counts):
    alpha = np.exp(logs)
    by_row = gammaln(alpha.sum()) - gammaln(alpha.sum() + counts.sum(axis=1))
    return by_row.sum() + (gammaln(alpha + counts) - gammaln(alpha)).sum()


@pytest.mark.parametrize("symmetric", [True, False])
def test_fit_is_the_maximum(symmetric):
    rng = np.random.default_rng(SEED)
    true = np.array([0.4, 0.4, 0.4]) if symmetric else np.array([0.2, 0.5, 2.0])
    shares = rng.dirichlet(true, size=2000)
    counts = rng.multinomial(rng.poisson(20, 2000), shares)
    found = fit_polya(counts, start=np.ones(3), symmetric=symmetric)
    np.testing.assert_allclose(found, true, rtol=0.15)
    slope = approx_fprime(np.log(found), log_likelihood, 1e-6, counts)
    # Relative to what a tenth more of each concentration costs.
    steepest = np.abs(slope.sum() if symmetric else slope).max()
    best, worse = (log_likelihood(np.log(found * times), counts) for times in (1.0, 1.1))
    assert steepest < 0.05 * (best - worse)


def test_rows_of_one_word_and_of_equal_shares_stay_finite():
    lonely = np.eye(4, dtype=int)[np.arange(40) % 4] * 9
    assert 0 < fit_polya(lonely, start=np.ones(4), symmetric=True)[0] < 1e-3
    even = np.full((40, 4), 9)
    assert np.isfinite(fit_polya(even, start=np.ones(4), symmetric=False)).all()


@pytest.mark.parametrize("start", [0.05, 1.0])
def test_learned_priors_are_those_of_the_documents(start):
    rng = np.random.default_rng(SEED)
    n_topics, n_words, eta = 8, 300, 0.05
    topics = rng.dirichlet(np.full(n_words, eta), size=n_topics)
    shares = rng.dirichlet(np.full(n_topics, 0.2), size=2000)
    counts = rng.multinomial(60, shares @ topics)
    counts = np.vstack([counts, rng.multinomial(60, topics)])
    found = pmg.topics.fit_priors(topics[None, None], documents=counts, alpha=start, rng=1)
    np.testing.assert_allclose(found.alpha, np.full(n_topics, 0.2), rtol=0.1)
    # Eight topics with 2,400 cells know it to about a tenth.
    assert found.eta == pytest.approx(eta, rel=0.3)


def test_frequent_topics_have_larger_concentrations():
    rng = np.random.default_rng(SEED)
    alpha = np.array([0.05, 0.1, 0.6])
    topics = rng.dirichlet(np.full(60, 0.1), size=3)
    counts = rng.multinomial(80, rng.dirichlet(alpha, size=2000) @ topics)
    found = pmg.topics.fit_priors(topics, documents=counts, alpha=0.2, symmetric=False, rng=1)
    np.testing.assert_allclose(found.alpha, alpha, rtol=0.25)


def test_topics_with_words_that_they_lack_do_not_mislead():
    rng = np.random.default_rng(SEED)
    topics = np.kron(np.eye(4), np.ones(10)) / 10
    counts = rng.multinomial(40, rng.dirichlet(np.full(4, 0.3), size=1000) @ topics)
    found = pmg.topics.fit_priors(0.9 * topics + 0.1 / 40, documents=counts, alpha=0.3, rng=1)
    np.testing.assert_allclose(found.alpha, 0.3, rtol=0.12)


def test_bad_arguments():
    topics, counts = np.full((3, 4), 0.25), np.ones((5, 4), int)
    with pytest.raises(ValueError, match="`rounds` expected a whole number"):
        pmg.topics.fit_priors(topics, documents=counts, alpha=1.0, rounds=0)
    with pytest.raises(ValueError, match="`symmetric` expected True or False"):
        pmg.topics.fit_priors(topics, documents=counts, alpha=1.0, symmetric="yes")
    with pytest.raises(ValueError, match="`documents` expected a matrix"):
        pmg.topics.fit_priors(topics, documents=counts[:, :2], alpha=1.0)

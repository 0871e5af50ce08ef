#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Latent Dirichlet allocation with proportions and assignments summed out."""

import itertools
import tracemalloc

import arviz as az
import numpy as np
import pymc as pm
import pytest

from chains import FOUR_ERRORS, assert_mean
from pymc.backends.arviz import find_observations
from scipy import sparse
from scipy.special import gammaln, logsumexp

import pymc_geodesic as pmg

COUNTS = np.array([[2, 1, 0, 0], [0, 1, 2, 0], [1, 0, 0, 2], [0, 0, 1, 2]])
N_TOPICS, ALPHA, BETA = 2, 0.7, 1.5
RNG = np.random.default_rng(9)


def model_of(counts, batch_size=None, n_topics=N_TOPICS, beta=BETA, **options):
    corpus = pmg.BagOfWords(counts)
    observed = pm.Minibatch(corpus, batch_size=batch_size) if batch_size else corpus
    with pm.Model() as model:
        topics = pmg.SymmetricDirichlet("topics", beta, shape=(n_topics, counts.shape[1]))
        pmg.LatentDirichletAllocation(
            "w", topics, ALPHA, observed=observed, total_size=counts.shape[0], **options
        )
    return model


def exact_means():
    """Posterior means of sums over topics of probabilities and of their squares, by enumeration.

    Every assignment of the twelve tokens has a closed-form probability and Dirichlet topics.
    """
    tokens = [(d, w) for d, row in enumerate(COUNTS) for w, n in enumerate(row) for _ in range(n)]
    d, w = np.array(tokens).T
    log_weights, firsts, seconds = [], [], []
    for assignment in itertools.product(range(N_TOPICS), repeat=len(tokens)):
        by_document = np.zeros((len(COUNTS), N_TOPICS))
        by_word = np.zeros((N_TOPICS, COUNTS.shape[1]))
        np.add.at(by_document, (d, assignment), 1)
        np.add.at(by_word, (assignment, w), 1)
        shapes = BETA + by_word
        totals = shapes.sum(axis=1, keepdims=True)
        log_weights.append(
            gammaln(ALPHA + by_document).sum() + gammaln(shapes).sum() - gammaln(totals).sum()
        )
        firsts.append((shapes / totals).sum(axis=0))
        seconds.append((shapes * (shapes + 1) / (totals * (totals + 1))).sum(axis=0))
    weights = np.exp(log_weights - logsumexp(log_weights))
    return weights @ np.array(firsts), weights @ np.array(seconds)


@pytest.mark.slow
@pytest.mark.parametrize("batch_size", [None, 2])
def test_posterior_of_the_topics_by_enumeration(batch_size):
    with model_of(COUNTS, batch_size, sweeps=20):
        step = pmg.SGRLD(step_size=0.01, n_steps=10)
        idata = pm.sample(
            2500, tune=200, chains=2, cores=1, step=step, random_seed=1, progressbar=False
        )
    topics = idata.posterior["topics"].values
    blocks = topics.reshape(50, -1, *topics.shape[2:])
    found = blocks.sum(axis=2).mean(axis=1), (blocks**2).sum(axis=2).mean(axis=1)
    for averages, exact in zip(found, exact_means(), strict=True):
        for word in range(COUNTS.shape[1]):
            # The step of 0.01 leaves a bias of its own order, less than the noise of 10,000 draws.
            assert_mean(averages[:, word], exact[word], errors=FOUR_ERRORS)


def test_posterior_of_the_topics_in_memory_by_enumeration():
    # Equal topics do not move far from each other here: the chain visits both orders.
    idata = pmg.topics.sample(
        COUNTS, n_topics=N_TOPICS, alpha=ALPHA, eta=BETA, draws=10_000, chains=2, thin=2, rng=1
    )
    blocks = idata.posterior["topics"].values.reshape(50, -1, N_TOPICS, 4)
    found = blocks.sum(axis=2).mean(axis=1), (blocks**2).sum(axis=2).mean(axis=1)
    for averages, exact in zip(found, exact_means(), strict=True):
        for word in range(COUNTS.shape[1]):
            assert_mean(averages[:, word], exact[word], errors=FOUR_ERRORS)


def test_softmax_topics_are_found_by_the_thermostat():
    topics = np.array([[0.6, 0.3, 0.1, 0.0, 0.0], [0.0, 0.0, 0.2, 0.4, 0.4]])
    theta = RNG.dirichlet([0.3, 0.3], 200)
    counts = np.array([RNG.multinomial(30, row) for row in theta @ topics])
    with pm.Model():
        batch = pm.Minibatch(pmg.BagOfWords(counts), batch_size=20)
        eta = pm.Normal("eta", 0.0, 1.0, shape=(2, 5))
        probabilities = pm.Deterministic("topics", pm.math.softmax(eta, axis=-1))
        pmg.LatentDirichletAllocation("w", probabilities, 0.3, observed=batch, total_size=200)
        step = pmg.SGNHT(step_size=0.02, diffusion=5.0)
        idata = pm.sample(
            300, tune=700, chains=1, cores=1, step=step, random_seed=2, progressbar=False
        )
    found = idata.posterior["topics"].values[0].mean(axis=0)
    found = found[np.argsort(-found[:, 0])]
    np.testing.assert_allclose(found, topics, atol=0.05)


def test_draws_have_the_lengths_and_shares_of_the_documents():
    topics = np.array([[0.5, 0.5, 0.0], [0.0, 0.1, 0.9]])
    rv = pmg.LatentDirichletAllocation.dist(topics, [2.0, 1.0], np.array([5, 7]))
    draws = pm.draw(rv, draws=2000, random_seed=3)
    np.testing.assert_array_equal(draws.sum(axis=-1), np.tile([5, 7], (2000, 1)))
    expected = np.array([2.0, 1.0]) / 3 @ topics
    for word in range(3):
        assert_mean(draws[:, 0, word], 5 * expected[word])


def test_one_long_document_makes_no_other_longer():
    """Padded to the longest document, the corpus would take 160 MB."""
    rng = np.random.default_rng(4)
    words = [np.arange(5000), *(rng.choice(5000, 5, replace=False) for _ in range(1999))]
    starts = np.cumsum([0, *map(len, words)])
    counts = sparse.csr_array((np.ones(starts[-1]), np.concatenate(words), starts), (2000, 5000))
    with model_of(counts, batch_size=20) as model:
        step = pmg.SGRLD()
        point, _ = step.step(model.initial_point())
        tracemalloc.start()
        step.step(point)
        [documents] = find_observations(model).values()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    np.testing.assert_array_equal(documents, np.arange(2000)[:, None])
    assert peak < 2e7


def test_density_is_refused_with_advice():
    with model_of(COUNTS) as model, pytest.raises(NotImplementedError, match="SGRLD"):
        model.compile_logp(mode="FAST_COMPILE")(model.initial_point())
    with model_of(COUNTS), pytest.raises(ValueError, match="GMC"):
        pmg.GMC()


def draws_of_topics(n, n_topics=N_TOPICS):
    rng = np.random.default_rng(2)
    return rng.dirichlet(np.ones(COUNTS.shape[1]), (2, n, n_topics))


def test_predictions_for_all_documents():
    full = pmg.full_data(model_of(COUNTS, batch_size=2))
    topics = draws_of_topics(1500)
    idata = az.from_dict({"posterior": {"topics": topics}})
    found = pm.sample_posterior_predictive(
        idata, model=full, random_seed=1, progressbar=False, compile_kwargs={"mode": "FAST_COMPILE"}
    ).posterior_predictive["w"]
    assert found.shape == (2, 1500, *COUNTS.shape)
    np.testing.assert_array_equal(found.sum(axis=-1), np.broadcast_to(3, found.shape[:3]))
    # Proportions have the same mean for all topics. Documents of a draw share its topics.
    excess = (found.values - 3 * topics.mean(axis=2)[:, :, None]).mean(axis=2).reshape(-1, 4)
    errors = excess.std(axis=0) / np.sqrt(len(excess))
    assert np.all(np.abs(excess.mean(axis=0)) < 4.5 * errors)


def test_log_likelihood_is_refused_with_advice():
    full = pmg.full_data(model_of(COUNTS, batch_size=2))
    idata = az.from_dict({"posterior": {"topics": draws_of_topics(2)}})
    with pytest.raises(NotImplementedError, match="document_completion_perplexity"):
        pm.compute_log_likelihood(
            idata, model=full, progressbar=False, compile_kwargs={"mode": "FAST_COMPILE"}
        )


def test_diagnosis_without_a_gradient(capsys):
    stats = {"step_size": np.full((2, 200), 1e-4), "diverging": np.zeros((2, 200), dtype=bool)}
    idata = az.from_dict({"posterior": {"topics": draws_of_topics(200)}, "sample_stats": stats})
    model = model_of(COUNTS, batch_size=2)
    assert pmg.diagnose(idata, model=model).ok
    assert "Not checked: the temperatures of positions." in capsys.readouterr().out
    with pytest.raises(ValueError, match=r"latent variables of the rows \(`w`\)"):
        pmg.stein_check(idata, model=model)


@pytest.mark.parametrize(
    ("observed", "message"),
    [
        (np.array([[0.5, 1.0]]), "whole numbers"),
        (np.array([[1, -1]]), "counts or weights of 0 or more"),
        (pm.Minibatch(COUNTS.astype("int32"), batch_size=2), "BagOfWords"),
    ],
)
def test_bad_documents(observed, message):
    with pm.Model():
        topics = pmg.SymmetricDirichlet("topics", 1.0, shape=(2, 4))
        with pytest.raises(ValueError, match=message):
            pmg.LatentDirichletAllocation("w", topics, 1.0, observed=observed, total_size=4)


def test_random_alpha_is_refused():
    with pm.Model():
        topics = pmg.SymmetricDirichlet("topics", 1.0, shape=(2, 4))
        alpha = pm.HalfNormal("alpha")
        with pytest.raises(ValueError, match="alpha"):
            pmg.LatentDirichletAllocation("w", topics, alpha, observed=COUNTS)

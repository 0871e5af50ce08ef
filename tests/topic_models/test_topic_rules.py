#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Concentrations and step sizes that follow from the corpus."""

import mpmath as mp
import numpy as np
import pymc as pm
import pytest
import scipy.sparse as sp

from scipy.stats import vonmises_fisher

import pymc_geodesic as pmg

from pymc_geodesic.topic_models import (
    document_completion_perplexity,
    fit_concentration,
    log_perplexity,
    sgrld_schedule,
    split_tokens,
)

SEED = 3
RNG = np.random.default_rng(SEED)


@pytest.fixture(autouse=True)
def the_same_numbers_in_any_order(monkeypatch):
    """Tests share a generator, and the order in which they run is not fixed."""
    monkeypatch.setitem(globals(), "RNG", np.random.default_rng(SEED))


@pytest.mark.parametrize("n", [2, 3, 50, 2000])
@pytest.mark.parametrize("kappa", [0.5, 30.0, 1e4])
def test_concentration_solves_the_likelihood_equation(n, kappa):
    """Two directions at an angle with the right cosine have it as their mean resultant length."""
    above, below = (mp.besseli(mp.mpf(n) / 2 - i, kappa, maxterms=10**6) for i in (0, 1))
    length = float(above / below)
    x = np.zeros((2, n))
    x[:, 0], x[:, 1] = length, np.array([1, -1]) * np.sqrt(1 - length**2)
    assert fit_concentration(x) == pytest.approx(kappa, rel=1e-6)


def test_concentration_of_draws_around_mixtures():
    """Around mixtures of known topics it is that of the draws, around their mean a lower one."""
    topics = np.kron(np.eye(3), np.ones(20)) / np.sqrt(20)
    means = RNG.dirichlet(np.full(3, 0.5), size=600) @ topics
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    x = np.concatenate([vonmises_fisher(mean, 300.0, seed=RNG).rvs(1) for mean in means])
    found = fit_concentration(x, topics=topics)
    # A standard deviation of kappa (2 / (D V))^(1/2) is 0.7 per cent; the nearest mixture adds
    # up to (V - 1) / (V - K), three per cent.
    assert 290 < found < 320
    assert fit_concentration(sp.csr_array(x)) < 0.5 * found
    counts = np.abs(x)
    found = fit_concentration(counts, topics=topics)
    assert fit_concentration(pmg.BagOfWords(counts), topics=topics) == pytest.approx(found)


@pytest.mark.parametrize(
    ("documents", "options", "message"),
    [
        (2 * np.eye(3), {}, "`documents` expected unit vectors, got length 2"),
        (np.eye(3)[[0, 0]], {}, "expected documents that differ.*mean cosine of 1"),
        (np.array([[1.0, 0.0], [-1.0, 0.0]]), {}, "mean cosine of 0"),
        (np.eye(3), {"topics": np.eye(2)}, r"`topics` expected.*3 columns.*\(2, 2\)"),
        (np.eye(3), {"topics": 3 * np.eye(3)}, "`topics` expected unit vectors"),
    ],
)
def test_bad_directions(documents, options, message):
    with pytest.raises(ValueError, match=message):
        fit_concentration(documents, **options)


def corpus(length, n_documents=1500, n_words=60):
    """Documents from six topics, each with ten words of its own."""
    topics = np.kron(np.eye(6), np.full(10, 0.08)) + 0.2 / n_words
    shares = RNG.dirichlet(np.full(6, 0.1), size=n_documents)
    return sp.csr_array(RNG.multinomial(length, shares @ topics).astype("int32"))


def model_of(counts, batch_size, concentration=0.05, n_topics=6):
    with pm.Model() as model:
        batch = pm.Minibatch(pmg.BagOfWords(counts), batch_size=batch_size)
        topics = pmg.SymmetricDirichlet("topics", concentration, shape=(n_topics, counts.shape[1]))
        pmg.LatentDirichletAllocation(
            "w", topics, 0.1, observed=batch, total_size=counts.shape[0], sweeps=4
        )
    return model


def test_topics_get_the_schedule_of_the_corpus():
    counts = corpus(20)
    step = pmg.SGRLD(model=model_of(counts, 30))
    expected = sgrld_schedule(counts, n_topics=6, batch_size=30, concentration=0.05)
    transitions = np.array([0, 10, 1000])
    np.testing.assert_allclose(step.sampler.settings.schedule(transitions), expected(transitions))
    # The share of the way to the words of a batch, from its definition.
    share = expected(np.array([0]))[0] * counts.sum() / (2 * 6 * 60 * 0.05)
    assert share == pytest.approx(30 / 1500)
    share = sgrld_schedule(counts, n_topics=6, batch_size=900, concentration=0.05)(0)
    assert share * counts.sum() / (2 * 6 * 60 * 0.05) == pytest.approx(0.3)
    # Starts are found from two million tokens at most.
    share = sgrld_schedule(1000 * counts, n_topics=6, batch_size=30, concentration=0.05)(0)
    assert share * 1000 * counts.sum() / (2 * 6 * 60 * 0.05) == pytest.approx(0.3)
    share = sgrld_schedule(1000 * counts, n_topics=6, batch_size=10, concentration=0.05)(0)
    assert share * 1000 * counts.sum() / (2 * 6 * 60 * 0.05) == pytest.approx(0.1)


def test_other_models_keep_the_rule_of_rows():
    counts = RNG.multinomial(20, [0.7, 0.3], size=500).astype("int32")
    with pm.Model() as model:
        p = pm.Dirichlet("p", [0.1, 0.1])
        pm.Multinomial("x", 20, p, observed=pm.Minibatch(counts, batch_size=50), total_size=500)
    assert pmg.SGRLD(model=model).sampler.settings.schedule(np.array([7])) == pytest.approx(2e-5)
    lda = model_of(corpus(20), 30)
    reduced = pmg.SGRLD(model=lda, parameterization="reduced_mean")
    assert reduced.sampler.settings.schedule(np.array([7])) == pytest.approx(0.01 / 1500)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_topics": 0}, "`n_topics`"),
        ({"batch_size": 2.5}, "`batch_size`"),
        ({"concentration": -1.0}, "positive `concentration`.*-1"),
    ],
)
def test_bad_numbers(change, message):
    good = {"n_topics": 6, "batch_size": 30, "concentration": 0.1}
    with pytest.raises(ValueError, match=message):
        sgrld_schedule(np.eye(3, dtype=int), **good | change)
    with pytest.raises(ValueError, match="counts of words"):
        sgrld_schedule(0.5 * np.eye(3), **good)


@pytest.mark.parametrize("length", [8, 300])
def test_topics_by_default_predict_better_than_frequencies(length):
    """Of short documents and of long ones, whose batches differ in tokens by a factor of forty."""
    counts = corpus(length)
    observed, held_out = split_tokens(counts[:300], fraction=0.25, rng=1)
    learned = counts[300:]
    with model_of(learned, 40):
        idata = pm.sample(
            30,
            tune=60,
            chains=1,
            step=pmg.SGRLD(n_steps=5),
            random_seed=1,
            progressbar=False,
            compute_convergence_checks=False,
        )
    found = document_completion_perplexity(
        idata.posterior["topics"].values[0, ::6],
        observed=observed,
        held_out=held_out,
        alpha=0.1,
        sweeps=30,
        rng=1,
    )
    frequencies = np.asarray(learned.sum(axis=0)).ravel() / learned.sum()
    of_words = np.exp(-(held_out @ np.log(frequencies)).sum() / held_out.sum())
    assert found.single.max() < 0.75 * of_words


def test_concentration_can_be_learned_with_the_topics():
    topics = np.kron(np.eye(3), np.ones(20)) / np.sqrt(20)
    means = RNG.dirichlet(np.full(3, 2.0), size=900) @ topics
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    x = np.concatenate([vonmises_fisher(mean, 200.0, seed=RNG).rvs(1) for mean in means])
    learned, new = x[:600], x[600:]
    start = fit_concentration(learned)
    with pm.Model():
        batch = pm.Minibatch(learned, batch_size=50)
        theta = pm.Dirichlet("theta", np.full(3, 2.0), shape=(50, 3))
        beta = pmg.SphericalUniform("beta", shape=(3, 60), initval=topics[[1, 0, 2]])
        kappa = pm.HalfNormal("kappa", 10 * start, initval=start)
        pmg.SphericalAdmixture("v", theta, beta, kappa, observed=batch, total_size=len(learned))
        step_size = 0.1 * np.sqrt(3 / (len(learned) * start))
        step = pmg.gSGNHT(
            [beta, kappa],
            local=pmg.LocalGMC([theta], draws=5, tune=10),
            step_size=step_size,
            diffusion=0.02 / step_size,
            n_steps=10,
        )
        idata = pm.sample(
            60,
            tune=140,
            chains=1,
            step=step,
            random_seed=1,
            progressbar=False,
            compute_convergence_checks=False,
        )
    found = idata.posterior["kappa"].values
    # Its posterior sd is kappa (2 / (D V))^(1/2), 0.8 per cent, besides what the gradients add.
    assert found.mean() == pytest.approx(200, rel=0.08)
    draws = idata.posterior["beta"].values[0, ::10]
    of_model = log_perplexity(draws, documents=new, alpha=2.0, kappa=found.mean(), rng=1).value
    mean = learned.mean(axis=0, keepdims=True) / np.linalg.norm(learned.mean(axis=0))
    of_mean = log_perplexity(mean[None], documents=new, alpha=1.0, kappa=start, rng=1).value
    assert of_model < of_mean - 10

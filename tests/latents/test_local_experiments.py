#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Models with local variables against NUTS on all variables and all data."""

import arviz as az
import numpy as np
import pymc as pm
import pytest

from local_models import GROUP_MEANS, N_ROWS, local_gmc

import pymc_geodesic as pmg

pytestmark = pytest.mark.slow

FIVE_ERRORS = 5.0


def assert_same_means(ours, theirs):
    """Assert that means over (chain, draw) agree within five Monte Carlo standard errors."""
    for mine, reference in zip(ours, theirs, strict=True):
        error = np.hypot(*(az.mcse(draws, method="mean") for draws in (mine, reference)))
        assert abs(mine.mean() - reference.mean()) < FIVE_ERRORS * error


def nuts(model, **options):
    with model:
        return pm.sample(
            2000,
            tune=1000,
            chains=2,
            cores=1,
            random_seed=5,
            progressbar=False,
            compute_convergence_checks=False,
            **options,
        )


def spherical_admixture(rows, batch_size=None):
    n_rows = batch_size or len(rows)
    corpus = pmg.BagOfWords(rows)
    observed = pm.Minibatch(corpus, batch_size=batch_size) if batch_size else corpus
    direction = corpus.mean_direction()
    with pm.Model() as model:
        theta = pm.Dirichlet("theta", np.full(2, 1.5), shape=(n_rows, 2))
        topics = pmg.CollapsedMeanTopics(
            "topics", direction, 5.0, n_topics=2, mean_concentration=5.0
        )
        pmg.SphericalAdmixture("v", theta, topics, 40.0, observed=observed, total_size=len(rows))
    return model


def invariant(topics):
    """Functions of two topics that do not change with their names."""
    first, second = topics[..., 0, :], topics[..., 1, :]
    yield from np.moveaxis(first + second, -1, 0)
    yield (first * second).sum(axis=-1)
    yield from np.moveaxis(first * second, -1, 0)


@pytest.fixture(scope="module")
def documents():
    rng = np.random.default_rng(6)
    topics = np.array([[5, 1, 0, 2, 1], [0, 1, 5, 2, 2]]) / np.sqrt([[31], [34]])
    means = rng.dirichlet([1.5, 1.5], 30) @ topics
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    # Weights of words are not negative.
    return np.abs(pm.draw(pmg.VonMisesFisher.dist(means, 40.0), random_seed=6))


@pytest.fixture(scope="module")
def topics_by_nuts(documents):
    return nuts(spherical_admixture(documents), target_accept=0.9).posterior["topics"].values


def test_topics_of_a_spherical_admixture(documents, topics_by_nuts):
    # Gradient noise of batches is not the same in all directions; a friction well above the share
    # that it needs, which is step_size * V / 2 with V about 600, keeps its error small.
    with spherical_admixture(documents, batch_size=15):
        local = pmg.LocalGMC(["theta"], draws=5, tune=15, n_leapfrog=5)
        step = pmg.gSGNHT(["topics"], local=local, step_size=0.006, diffusion=20.0, n_steps=10)
        ours = pm.sample(
            4000, tune=300, chains=2, cores=1, step=step, random_seed=7, progressbar=False
        )
    found = ours.posterior["topics"].values
    assert_same_means(invariant(found), invariant(topics_by_nuts))


def test_topics_by_blockwise_gibbs(documents, topics_by_nuts):
    with spherical_admixture(documents):
        local = pmg.LocalGMC(["theta"], draws=1, tune=0, n_leapfrog=8)
        step = pmg.GMCWithinGibbs(["topics"], local=local, n_leapfrog=8)
        ours = pm.sample(
            20_000, tune=1000, chains=2, cores=1, step=step, random_seed=9, progressbar=False
        )
    found = ours.posterior["topics"].values
    assert_same_means(invariant(found), invariant(topics_by_nuts))


def test_random_effects_with_unknown_spread():
    def model(batch_size=None):
        rows = pm.Minibatch(GROUP_MEANS, batch_size=batch_size) if batch_size else GROUP_MEANS
        with pm.Model() as result:
            location = pm.Normal("location", 0.0, 2.0)
            spread = pm.HalfNormal("spread", 2.0)
            effect = pm.Normal("effect", location, spread, shape=batch_size or N_ROWS)
            pm.Normal("y", effect, 0.5, observed=rows, total_size=N_ROWS)
        return result

    reference = nuts(model())
    with model(batch_size=100):
        local = local_gmc("effect", draws=10, tune=10, n_leapfrog=4)
        step = pmg.SGNHT(
            ["location", "spread"],
            local=local,
            step_size=0.004,
            diffusion=10.0,
            n_steps=10,
        )
        ours = pm.sample(
            4000, tune=500, chains=2, cores=1, step=step, random_seed=8, progressbar=False
        )
    names = ["location", "spread"]
    assert_same_means(
        *([idata.posterior[name].values for name in names] for idata in (ours, reference))
    )
    for name in names:
        ratio = ours.posterior[name].values.std() / reference.posterior[name].values.std()
        assert 0.85 < ratio < 1.15

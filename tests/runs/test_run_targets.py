#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Posteriors that are known exactly, from `pmg.sample` with its defaults."""

import arviz as az
import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.distributions.bessel import bessel_ratio

# Exceeded once in 16,000 by a mean without bias.
FOUR_ERRORS = 4.0
# Half the accuracy that steps are tuned for, in standard deviations; and what a variance may have.
BIAS, SPREAD = 0.05, 0.1
N = 20_000


def assert_moments(draws, mean, deviation):
    """Means and standard deviations of entries ``(chain, draw, entry)``."""
    for i, (m, s) in enumerate(zip(mean, deviation, strict=True)):
        z = (draws[..., i] - m) / s
        size = min(float(az.ess(z)), float(az.ess(z**2)))
        assert size > 400
        assert abs(z.mean()) < BIAS + FOUR_ERRORS / np.sqrt(size)
        assert abs(z.var() - 1) < SPREAD + FOUR_ERRORS * np.sqrt(2 / size)


def sample(model, **options):
    return pmg.sample(
        model=model, tune=500, draws=1000, chains=4, random_seed=1, progressbar=False, **options
    )


def normal():
    """Location of correlated entries, whose posterior is normal."""
    rng = np.random.default_rng(1)
    precision = np.array([[2.0, 0.8, 0.0], [0.8, 1.0, 0.0], [0.0, 0.0, 30.0]])
    data = rng.multivariate_normal([1.0, -2.0, 0.1], np.linalg.inv(precision), N)
    with pm.Model() as model:
        mean = pm.Normal("mean", 0.0, 10.0, shape=3)
        batch = pm.Minibatch(data, batch_size=100)
        pm.MvNormal("x", mean, tau=precision, observed=batch, total_size=N)
    covariance = np.linalg.inv(N * precision + 0.01 * np.eye(3))
    return model, covariance @ (precision @ data.sum(axis=0)), np.sqrt(np.diag(covariance))


def test_a_normal_posterior():
    model, mean, deviation = normal()
    idata = sample(model)
    assert_moments(idata.posterior["mean"].values, mean, deviation)
    assert float(az.rhat(idata)["mean"].max()) < 1.02


@pytest.mark.slow
def test_a_normal_posterior_sequentially():
    model, mean, deviation = normal()
    idata = sample(model, chain_method="sequential")
    assert_moments(idata.posterior["mean"].values, mean, deviation)


@pytest.mark.slow
def test_a_direction():
    """Its posterior is von Mises-Fisher, whose mean cosine is known."""
    concentration, n = 2.0, 500
    axis = np.array([1.0, 2.0, -2.0]) / 3
    data = pm.draw(pmg.VonMisesFisher.dist(axis, concentration), n, random_seed=1)
    with pm.Model() as model:
        mu = pmg.VonMisesFisher("mu", [0.0, 0.0, 1.0], 1.0)
        batch = pm.Minibatch(data, batch_size=50)
        pmg.VonMisesFisher("x", mu, concentration, observed=batch, total_size=n)
    resultant = concentration * data.sum(axis=0) + [0.0, 0.0, 1.0]
    kappa = np.linalg.norm(resultant)
    idata = sample(model)
    assert idata.sample_stats.attrs["pymc_geodesic"].count("gSGNHT") == 1
    cosines = idata.posterior["mu"].values @ (resultant / kappa)
    # 1 - cos is exponential for so large a concentration, with a mean of one over it.
    expected = 1 - float(bessel_ratio(3, kappa).eval())
    size = float(az.ess(cosines))
    error = FOUR_ERRORS * expected / np.sqrt(size)
    assert abs((1 - cosines).mean() - expected) < 2 * BIAS * expected + error


@pytest.mark.slow
def test_probabilities():
    """Their posterior is Dirichlet."""
    rng = np.random.default_rng(1)
    alpha, counts = np.array([1.0, 2.0, 3.0]), rng.multinomial(20, [0.2, 0.5, 0.3], size=500)
    with pm.Model() as model:
        p = pm.Dirichlet("p", alpha)
        batch = pm.Minibatch(counts.astype("int32"), batch_size=50)
        pm.Multinomial("x", 20, p, observed=batch, total_size=500)
    posterior = alpha + counts.sum(axis=0)
    mean, total = posterior / posterior.sum(), posterior.sum()
    deviation = np.sqrt(mean * (1 - mean) / (total + 1))
    assert_moments(sample(model).posterior["p"].values, mean, deviation)

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Hierarchical models by defaults, against quadrature."""

import arviz as az
import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

N, N_GROUPS, MEAN, SCALE = 6_000, 300, 2.0, 0.5


@pytest.fixture(scope="module")
def data():
    """Rows of normal groups."""
    rng = np.random.default_rng(11)
    group = rng.integers(0, N_GROUPS, N).astype("int32")
    y = MEAN + SCALE * rng.standard_normal(N_GROUPS)[group] + rng.standard_normal(N)
    return group, y


def hierarchy(group, y, *, centred):
    """Varying intercepts, whose mean and effects form a ridge."""
    with pm.Model() as model:
        gb, yb = pm.Minibatch(group, y, batch_size=300)
        mu, tau = pm.Normal("mu", 0, 2), pm.HalfNormal("tau", 1)
        if centred:
            effect = pm.Normal("effect", mu, tau, shape=N_GROUPS)
        else:
            effect = mu + tau * pm.Normal("z", shape=N_GROUPS)
        pm.Normal("y", effect[gb], 1.0, observed=yb, total_size=N)
    return model


def exact(group, y):
    """Mean and standard deviation of the mean and scale of groups, by quadrature."""
    counts = np.bincount(group, minlength=N_GROUPS)
    means = np.bincount(group, weights=y, minlength=N_GROUPS) / np.maximum(counts, 1)
    mu = np.linspace(means.mean() - 0.4, means.mean() + 0.4, 301)
    tau = np.linspace(0.3, 0.8, 301)
    variance = tau[None, :, None] ** 2 + 1 / counts
    square = (means - mu[:, None, None]) ** 2 / variance
    log = -0.5 * np.sum(square + np.log(variance), axis=-1)
    log = log - 0.5 * (mu[:, None] / 2) ** 2 - 0.5 * tau**2
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    found = {}
    for name, grid, share in (("mu", mu, weight.sum(axis=1)), ("tau", tau, weight.sum(axis=0))):
        mean = share @ grid
        found[name] = mean, np.sqrt(share @ (grid - mean) ** 2)
    return found


@pytest.mark.parametrize("centred", [True, False])
def test_defaults_give_the_posterior_of_means_and_scales(data, centred):
    with hierarchy(*data, centred=centred):
        idata = pm.sample(
            800,
            tune=800,
            chains=2,
            cores=1,
            step=pmg.SGNHT(),
            random_seed=3,
            progressbar=False,
            compute_convergence_checks=False,
        )
    for name, (mean, deviation) in exact(*data).items():
        draws = idata.posterior[name].values
        assert float(az.rhat(draws)) < 1.03
        effective = float(az.ess(draws))
        assert effective > 200
        # Five errors of the mean and of the deviation, and the tenth of a deviation that step sizes
        # are allowed to cost.
        error = deviation / np.sqrt(effective)
        assert np.abs(draws.mean() - mean) < 5 * error + 0.1 * deviation
        ratio = draws.std() / deviation
        assert np.abs(ratio - 1) < 5 / np.sqrt(2 * float(az.ess(draws**2))) + 0.1

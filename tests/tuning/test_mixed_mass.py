#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Flat variables that form a ridge are tuned as well beside a curved one as they are alone."""

import arviz as az
import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

N_ROWS, N_GROUPS, WIDE, NARROW = 20_000, 3, 2.0, 0.5


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    group = rng.integers(0, N_GROUPS, N_ROWS)
    y = 1.0 + np.array([0.4, -0.1, 0.3])[group] + rng.normal(size=N_ROWS)
    return group, y, rng.vonmises(2.0, 1.5, N_ROWS)


def exact(group, y):
    """Mean and standard deviations of the mean and the effects, whose sums alone the data know."""
    design = np.column_stack([np.ones(N_ROWS), np.eye(N_GROUPS)[group]])
    prior = np.diag([WIDE**-2] + N_GROUPS * [NARROW**-2])
    covariance = np.linalg.inv(design.T @ design + prior)
    return covariance @ design.T @ y, np.sqrt(np.diag(covariance))


def test_a_ridge_beside_a_circle(rows):
    group, y, hour = rows
    with pm.Model():
        g, yb, h = pm.Minibatch(group, y, hour, batch_size=200)
        mean = pm.Normal("mean", 0.0, WIDE)
        effect = pm.Normal("effect", 0.0, NARROW, shape=N_GROUPS)
        peak = pm.VonMises("peak", 0.0, 0.01)
        pm.Normal("y", mean + effect[g], 1.0, observed=yb, total_size=N_ROWS)
        pm.VonMises("hour", peak, 1.5, observed=h, total_size=N_ROWS)
        idata = pmg.sample(1_000, tune=500, random_seed=1, progressbar=False)
    # A diagonal mass, which sees a ridge as wide as the data make the sums, takes a thousand.
    assert idata.sample_stats["n_steps"].values[0, -1] <= 50
    found = np.concatenate(
        [idata.posterior["mean"].values[..., None], idata.posterior["effect"].values], axis=-1
    )
    centers, sds = exact(group, y)
    for i, (center, sd) in enumerate(zip(centers, sds, strict=True)):
        scores = (found[..., i] - center) / sd
        n_effective = float(az.ess(scores))
        assert n_effective > 400
        # The error of the steps is another .05, of which half may fall on each side.
        assert abs(scores.mean()) < 4 / np.sqrt(n_effective) + 0.025
        n_effective = float(az.ess(scores**2))
        assert abs(np.mean(scores**2) - 1) < 4 * np.sqrt(2 / n_effective) + 0.05

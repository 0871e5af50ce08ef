#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Probability vectors beside other variables move in log ratios if data keep them from zero."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

import pymc_geodesic as pmg

N, SHARES = 6_000, np.array([0.1, 0.35, 0.15, 0.25, 0.15])


def monotonic(shares=SHARES):
    """Write a monotonic effect of an ordered category, with the category of each row."""
    rng = np.random.default_rng(11)
    level = rng.integers(0, len(shares) + 1, N)
    y = 3 + 2 * np.r_[0, np.cumsum(shares)][level] + rng.standard_normal(N)
    with pm.Model() as model:
        rows, outcome = pm.Minibatch(level, y, batch_size=300)
        a, b = pm.Normal("a", 0, 10), pm.Normal("b", 0, 10)
        share = pm.Dirichlet("share", np.ones(len(shares)))
        effect = b * pt.concatenate([[0.0], pt.cumsum(share)])
        pm.Normal("y", a + effect[rows], 1.0, observed=outcome, total_size=N)
    return model, level, y


def n_flat(step):
    return sum(factor.is_flat for factor in step.sampler.problem.manifold.factors)


def test_entries_near_zero_stay_on_the_simplex():
    with monotonic()[0]:
        assert n_flat(pmg.gSGNHT()) == 3
        assert n_flat(pmg.gSGNHT(manifolds={"share": pmg.Simplex()})) == 2
    with monotonic(np.array([0.5, 0.0, 0.3, 0.0, 0.2]))[0]:
        assert n_flat(pmg.gSGNHT()) == 2


def test_vectors_alone_stay_on_the_simplex():
    rng = np.random.default_rng(1)
    with pm.Model() as model:
        share = pm.Dirichlet("share", np.ones(3))
        pm.Categorical("drawn", share, observed=rng.choice(3, N))
    with pmg.minibatch(model):
        assert n_flat(pmg.gSGNHT()) == 0


def test_draws_have_the_moments_of_the_means_of_levels():
    """Means of levels are known in closed form but for a prior that is nearly flat."""
    model, level, y = monotonic()
    idata = pmg.sample(model=model, random_seed=1, progressbar=False)
    x = idata.posterior
    shares = np.cumsum(x["share"].values, axis=-1)
    zero = np.zeros((*shares.shape[:2], 1))
    means = x["a"].values[..., None] + x["b"].values[..., None] * np.concatenate(
        [zero, shares], axis=-1
    )
    truth = np.array([y[level == k].mean() for k in range(6)])
    sd = np.array([np.sum(level == k) ** -0.5 for k in range(6)])
    assert np.max(np.abs(means.mean((0, 1)) - truth) / sd) < 0.25
    assert means.std((0, 1)) / sd == pytest.approx(1, abs=0.15)
    # On the simplex a draw takes 20 or more.
    assert idata.sample_stats["n_steps"].max() <= 10

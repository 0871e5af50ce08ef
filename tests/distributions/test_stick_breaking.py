#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Weights of broken sticks against exact moments, as draws and as samples of a step."""

import numpy as np
import pymc as pm
import pytest

from chains import assert_mean, batch_averages

import pymc_geodesic as pmg

ALPHA, N_COMPONENTS = 1.7, 6


def moments(k):
    """Mean of a weight and of its square, for components from 1 up to the last but one."""
    shared = ALPHA ** (k - 1) / (1 + ALPHA)
    return shared / (1 + ALPHA) ** (k - 1), 2 * shared / (2 + ALPHA) ** k


def test_weights_are_those_of_the_formula():
    shares = np.random.default_rng(1).random((2, 3, 4))
    weights = pmg.stick_breaking(shares).eval()
    for index in np.ndindex(2, 3):
        left, expected = 1.0, []
        for v in shares[index]:
            expected.append(v * left)
            left *= 1 - v
        np.testing.assert_allclose(weights[index], [*expected, left], rtol=1e-12)


def test_pymc_has_the_same_distribution():
    """The density of its distribution, over that of the shares, is the Jacobian."""
    shares = np.random.default_rng(1).random(N_COMPONENTS - 1)
    weights = pmg.stick_breaking(shares).eval()
    theirs = pm.logp(pm.StickBreakingWeights.dist(ALPHA, N_COMPONENTS - 1), weights).eval()
    ours = pm.logp(pm.Beta.dist(1, ALPHA), shares).eval().sum()
    left = 1 - np.cumsum(weights[:-2])
    np.testing.assert_allclose(theirs, ours - np.log(left).sum())


@pytest.mark.parametrize("size", [10_000])
def test_draws_have_the_exact_moments(size):
    shares = pm.draw(pm.Beta.dist(1, ALPHA, shape=(size, N_COMPONENTS - 1)), random_seed=1)
    weights = pmg.stick_breaking(shares).eval()
    for k in range(1, N_COMPONENTS):
        mean, square = moments(k)
        assert_mean(weights[:, k - 1], mean)
        assert_mean(weights[:, k - 1] ** 2, square)
    assert_mean(weights[:, -1], (ALPHA / (1 + ALPHA)) ** (N_COMPONENTS - 1))


@pytest.mark.slow
def test_samples_have_the_exact_moments():
    with pm.Model():
        v = pm.Beta("v", 1, ALPHA, shape=(50, N_COMPONENTS - 1))
        pm.Deterministic("w", pmg.stick_breaking(v))
        step = pmg.GMC()
        idata = pm.sample(
            1000, tune=500, chains=1, cores=1, step=step, random_seed=1, progressbar=False,
            compute_convergence_checks=False,
        )  # fmt: skip
    weights = idata.posterior["w"].values
    # The fifty sticks are independent: so are their averages over time.
    for k in range(1, N_COMPONENTS):
        mean, square = moments(k)
        assert_mean(batch_averages(weights[..., k - 1], n_batches=20), mean, errors=5.0)
        assert_mean((weights[0, ..., k - 1] ** 2).mean(axis=0), square, errors=5.0)

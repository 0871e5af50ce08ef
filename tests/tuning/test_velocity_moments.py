#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What velocities say of gradient noise, and what is only chance."""

import numpy as np

from pymc_geodesic.manifolds import Euclidean, Product
from pymc_geodesic.tuning.velocity_moments import moments_of, pooled, shrunk

N_DRAWS = 200


def measured(temperatures, seed=1):
    """Mean squares of draws of these temperatures."""
    chance = np.random.default_rng(seed).chisquare(N_DRAWS, np.shape(temperatures)) / N_DRAWS
    return temperatures * chance


def test_chance_is_left_out():
    found = shrunk(measured(np.ones(3_000)), n_draws=N_DRAWS)
    assert np.abs(found - 1).max() < 0.04
    # The entry of a variable of its own is mostly left alone, too.
    alone = [shrunk(measured(np.ones(()), seed), n_draws=N_DRAWS) for seed in range(200)]
    raw = [measured(np.ones(()), seed) for seed in range(200)]
    assert np.var(alone) < 0.6 * np.var(raw)


def test_differences_beyond_chance_are_kept():
    rng = np.random.default_rng(2)
    true = 1.2 + 0.3 * rng.standard_normal(3_000).clip(-2, 2)
    raw = measured(true)
    found = shrunk(raw, n_draws=N_DRAWS)
    np.testing.assert_allclose(found.mean(), true.mean(), atol=5 * 0.32 / np.sqrt(3_000))
    assert np.mean((found - true) ** 2) < 0.95 * np.mean((raw - true) ** 2)
    np.testing.assert_allclose(shrunk(np.array(4.0), n_draws=N_DRAWS), 4.0, rtol=0.01)


def test_columns_have_means_of_their_own():
    true = np.broadcast_to([1.1, 0.9], (2_000, 2))
    found = shrunk(measured(true), n_draws=N_DRAWS, axis=0)
    np.testing.assert_allclose(found, true, atol=0.04)
    np.testing.assert_allclose(found.mean(axis=0), [1.1, 0.9], atol=5 * 0.1 / np.sqrt(2_000))


def test_what_counts_for_nothing_stays_zero():
    found = shrunk(np.array([1.5, 0.0, 0.0]), n_draws=N_DRAWS)
    np.testing.assert_array_equal(found[1:], 0.0)
    np.testing.assert_allclose(found[0], 1.5, atol=0.03)
    np.testing.assert_array_equal(shrunk(np.zeros(3), n_draws=N_DRAWS), 0.0)


def test_moments_are_sums_over_draws_and_chains():
    manifold = Product([Euclidean()] * 2, shapes=[(3,), (30, 2)])
    rng = np.random.default_rng(3)
    draws = [[rng.standard_normal(3), rng.standard_normal((30, 2))] for _ in range(4)]
    n, squares, along, of_rows = pooled([moments_of(manifold, v, None) for v in draws])
    assert n == 4
    assert along.size == 0
    np.testing.assert_allclose(squares[0], sum(v[0] ** 2 for v in draws))
    np.testing.assert_allclose(of_rows[0], sum(v[1].T @ v[1] / 30 for v in draws))

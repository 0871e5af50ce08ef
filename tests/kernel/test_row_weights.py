#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Rows that are drawn by their weight, and the factors that keep sums over them unbiased."""

import pickle

import jax.numpy as jnp
import numpy as np
import pytest

from scipy import stats

from pymc_geodesic.kernel.jax.resident import in_double_precision
from pymc_geodesic.kernel.row_weights import RowWeights, systematic

N = 400


@pytest.fixture
def sizes():
    return np.random.default_rng(1).lognormal(0, 2, N)


@pytest.mark.parametrize("power", [0, 1])
def test_factors_are_the_inverse_of_the_frequencies(sizes, power):
    weights = RowWeights.proportional_to(sizes**power)
    shares = 1 / (N * weights.factors[0].astype(float))
    assert shares.sum() == pytest.approx(1, rel=1e-6)
    drawn = weights.draw(np.random.default_rng(2), (300, 1000))
    counts = np.bincount(drawn.ravel(), minlength=N)
    assert drawn.shape == (300, 1000)
    assert stats.chisquare(counts, counts.sum() * shares / shares.sum()).pvalue > 1e-3


def test_shares_follow_the_sizes_above_a_fifth_that_is_uniform(sizes):
    weights = RowWeights.proportional_to(sizes)
    shares = 1 / (N * weights.factors[0].astype(float))
    expected = 0.2 / N + 0.8 * sizes / sizes.sum()
    assert np.abs(shares - expected).max() <= 1 / (5 * N) + 1e-9
    assert weights.factors[0].max() <= 5


def test_many_small_rows_keep_their_common_share():
    sizes = np.append(np.full(2 * N, 1e-4), np.ones(N))
    weights = RowWeights.proportional_to(sizes)
    of_small = np.sum(1 / (3 * N * weights.factors[0][: 2 * N]))
    assert of_small == pytest.approx(0.2 * 2 / 3 + 0.8 * 2e-4, abs=1e-3)


@pytest.mark.parametrize("size", [40, 61])
def test_each_half_of_a_batch_has_the_expected_rows_of_every_group(sizes, size):
    groups = np.random.default_rng(6).integers(0, 9, N)
    weights = RowWeights.proportional_to(sizes, groups)
    shares = np.bincount(groups, 1 / (N * weights.factors[0].astype(float)))
    drawn = weights.draw(np.random.default_rng(7), (4000, size))
    for half in (drawn[:, : size // 2], drawn[:, size // 2 :]):
        counts = np.array([np.bincount(batch, minlength=9) for batch in groups[half]])
        expected = half.shape[1] * shares
        assert np.all(np.abs(counts - expected) < 1 + 1e-4)
        error = np.std(counts, axis=0) / np.sqrt(len(counts))
        assert np.all(np.abs(counts.mean(axis=0) - expected) <= 4 * error + 1e-4)


def test_halves_of_a_batch_are_independent(sizes):
    weights = RowWeights.proportional_to(sizes)
    drawn = weights.draw(np.random.default_rng(8), (20_000, 10))
    first, second = (weights.factors[0] * sizes)[drawn].reshape(-1, 2, 5).sum(axis=2).T
    assert abs(np.corrcoef(first, second)[0, 1]) < 4 / np.sqrt(len(drawn))


def test_places_are_those_of_jax():
    begins = np.random.default_rng(9).random((3, 2))
    ours = systematic(begins, 7, 1000, np)
    with in_double_precision():
        theirs = systematic(jnp.array(begins), 7, 1000, jnp)
    assert ours.shape == (3, 7)
    np.testing.assert_array_equal(ours, theirs)


def test_a_copy_in_the_same_process_is_the_same_and_elsewhere_draws_the_same(sizes):
    weights = RowWeights.proportional_to(sizes)
    written = pickle.dumps(weights)
    assert pickle.loads(written) is weights
    before = weights.draw(np.random.default_rng(3), (50,))
    del weights
    again = pickle.loads(written)
    np.testing.assert_array_equal(again.draw(np.random.default_rng(3), (50,)), before)


def test_the_gain_is_that_of_the_variance_of_a_weighted_sum(sizes):
    weights = RowWeights.proportional_to(sizes)
    signs = np.random.default_rng(4).choice([-1.0, 1.0], N)
    drawn = weights.draw(np.random.default_rng(5), (20_000,))
    by_weight = np.mean((weights.factors[0] * signs * sizes)[drawn] ** 2)
    assert np.mean(sizes**2) / by_weight == pytest.approx(weights.gain(sizes), rel=0.05)
    # Weights of other rows lose.
    assert RowWeights.proportional_to(sizes[::-1]).gain(sizes) < 1


def test_equal_sizes_and_no_sizes_gain_nothing():
    assert RowWeights.proportional_to(np.ones(10)).gain(np.arange(10.0)) == pytest.approx(1)
    assert RowWeights.proportional_to(np.arange(10.0)).gain(np.zeros(10)) == 1

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Directions to start a mixture from."""

import numpy as np
import pytest

from mixtures import MEANS, mixture_data
from scipy import sparse

import pymc_geodesic as pmg


@pytest.mark.parametrize("seed", range(5))
def test_directions_of_clean_clusters(seed):
    mu = pmg.initial_directions(mixture_data(1_000, seed), 4, random_seed=seed)
    assert mu.shape == (4, 3)
    np.testing.assert_allclose(np.linalg.norm(mu, axis=1), 1)
    # The largest first, which is how the means are ordered.
    assert np.all((mu * MEANS).sum(axis=1) > np.cos(np.deg2rad(5)))


def test_sparse_rows_and_seeds():
    rng = np.random.default_rng(1)
    x = np.repeat(np.eye(50)[:3], 40, axis=0) + 0.01 * rng.normal(size=(120, 50))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    dense, again, thin = (
        pmg.initial_directions(rows, 3, random_seed=1) for rows in (x, x, sparse.csr_matrix(x))
    )
    np.testing.assert_array_equal(dense, again)
    np.testing.assert_allclose(dense, thin)
    assert {*np.abs(dense).argmax(axis=1)} == {0, 1, 2}


def test_all_rows_and_equal_rows():
    rows = np.eye(3)
    np.testing.assert_allclose(np.sort(pmg.initial_directions(rows, 3), axis=0), np.sort(rows, 0))
    assert np.all(pmg.initial_directions(np.repeat(rows[:1], 5, axis=0), 2) == rows[0])


@pytest.mark.parametrize(
    ("rows", "k", "message"),
    [
        (np.eye(3), 4, "`k` expected a number of directions between 1 and the number of rows, 3"),
        (np.eye(3), 0, "got 0"),
        (np.eye(3), 1.5, "got 1.5"),
        (2 * np.eye(3), 2, "`X` expected unit vectors in its rows, got norms in"),
        (np.full((2, 3), np.nan), 2, "`X` expected unit vectors in its rows"),
        (np.eye(3)[0], 1, "`X` expected a matrix of unit vectors"),
    ],
)
def test_bad_arguments(rows, k, message):
    with pytest.raises(ValueError, match=message):
        pmg.initial_directions(rows, k)


def test_axes_are_found_from_rows_of_any_sign():
    rng = np.random.default_rng(1)
    axes = np.linalg.qr(rng.normal(size=(5, 5)))[0][:3]
    X = np.repeat(axes, [300, 200, 100], axis=0) + 0.15 * rng.normal(size=(600, 5))
    X *= rng.choice([-1.0, 1.0], size=(600, 1)) / np.linalg.norm(X, axis=1, keepdims=True)
    found = pmg.initial_directions(X, 3, axial=True, random_seed=1)
    np.testing.assert_allclose(np.abs((found * axes).sum(1)), 1, atol=1e-2)
    assert np.abs((pmg.initial_directions(X, 3, random_seed=1) * axes).sum(1)).min() < 0.99

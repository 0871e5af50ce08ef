#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The noise that a constant friction of every entry leaves unbalanced."""

import numpy as np
import pytest

from pymc_geodesic.tuning.unbalanced import paired_differences, unbalanced_noise

N_POINTS, N_BATCHES, SIZE = 400, 12, 4


def noise(roots, rng):
    """Noise of one root of its covariance after the other, with a mean that must not matter."""
    return [
        rng.normal(size=SIZE) + rng.standard_normal((N_BATCHES, SIZE)) @ root.T for root in roots
    ]


def found_and_exact(roots, seed):
    samples = noise(roots, np.random.default_rng(seed))
    covariances = np.array([root @ root.T for root in roots])
    entries = np.mean(covariances, axis=0).diagonal()
    differences = [paired_differences(sample) for sample in samples]
    exact = np.mean(np.sum((covariances - np.diag(entries)) ** 2, axis=(1, 2)))
    found = unbalanced_noise(differences, np.diag(entries), directions=np.ones(SIZE))
    return found, np.sqrt(exact)


def test_differences_have_the_covariance_of_the_noise():
    rng = np.random.default_rng(1)
    root = rng.standard_normal((SIZE, SIZE))
    samples = 5.0 + rng.standard_normal((40_001, SIZE)) @ root.T
    differences = paired_differences(samples)
    assert len(differences) == 20_000
    products = differences[:, :, None] * differences[:, None, :]
    error = products.std(axis=0) / np.sqrt(len(products))
    assert np.all(np.abs(products.mean(axis=0) - root @ root.T) < 4.5 * error)


@pytest.mark.parametrize("kind", ["sizes", "directions", "correlations"])
def test_it_is_the_distance_from_what_is_balanced(kind):
    rng = np.random.default_rng(2)
    if kind == "sizes":
        roots = [np.sqrt(scale) * np.eye(SIZE) for scale in rng.exponential(3.0, N_POINTS)]
    elif kind == "directions":
        roots = [np.outer(u, u) / (u @ u) * 5 for u in rng.standard_normal((N_POINTS, SIZE))]
    else:
        roots = [rng.standard_normal((SIZE, SIZE))] * N_POINTS
    squares = []
    for seed in range(10):
        found, exact = found_and_exact(roots, seed)
        squares.append(found**2)
    error = np.std(squares, ddof=1) / np.sqrt(len(squares))
    assert abs(np.mean(squares) - exact**2) < 5 * error


def test_noise_of_independent_entries_is_balanced():
    roots = [np.diag([1.0, 2.0, 0.0, 5.0])] * N_POINTS
    found, exact = found_and_exact(roots, 3)
    assert exact == 0
    # Of a variance of 25: a single point's estimate has an error of that size.
    assert found < 4


def test_gradients_that_are_not_finite_are_not_hidden():
    differences = [np.full((3, 2), np.nan)]
    assert np.isnan(unbalanced_noise(differences, np.eye(2), directions=np.ones(2)))


def test_points_of_a_sphere_have_fewer_directions_than_entries():
    """Noise that is the same in all tangent directions is balanced by one friction."""
    rng = np.random.default_rng(4)
    squares = []
    for _ in range(10):
        differences = []
        for x in rng.standard_normal((N_POINTS, SIZE)):
            tangent = np.eye(SIZE) - np.outer(x, x) / (x @ x)
            differences.append(rng.standard_normal((6, SIZE)) @ tangent)
        found = [
            unbalanced_noise(differences, np.eye(SIZE), directions=np.full(SIZE, share)) ** 2
            for share in ((SIZE - 1) / SIZE, 1.0)
        ]
        squares.append(found)
    of_tangent, of_entries = np.mean(squares, axis=0)
    assert of_tangent < 0.2
    assert abs(of_entries - 1) < 0.2


def test_noise_along_balanced_directions_counts_as_balanced():
    rng = np.random.default_rng(5)
    u = np.full(SIZE, 0.5)
    balanced = np.eye(SIZE) + 8 * np.outer(u, u)
    root = np.linalg.cholesky(balanced)
    samples = noise([root] * N_POINTS, rng)
    differences = [paired_differences(sample) for sample in samples]
    assert unbalanced_noise(differences, balanced, directions=np.ones(SIZE)) < 2
    assert unbalanced_noise(differences, np.diag(np.diag(balanced)), directions=np.ones(SIZE)) > 5

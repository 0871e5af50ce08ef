#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Changes of the noise from place to place are found, and outliers are not taken for them."""

import numpy as np
import pytest

from pymc_geodesic.manifolds import Euclidean, Product, Sphere
from pymc_geodesic.tuning.unbalanced import unevenness

N_PLACES, N_PAIRS, SIZE = 32, 8, 4
FLAT = Product([Euclidean()], shapes=[(SIZE,)])


def at_places(rows, roots):
    """Gradients of the same batches at each place, with one root of its covariance."""
    return np.array([rows @ root.T for root in roots])


@pytest.mark.parametrize("kind", ["sizes", "directions", "none"])
def test_it_is_the_relative_change_of_the_covariance(kind):
    rng = np.random.default_rng(2)
    if kind == "sizes":
        roots = [np.sqrt(scale) * np.eye(SIZE) for scale in rng.exponential(3.0, N_PLACES)]
    elif kind == "directions":
        roots = [np.eye(SIZE) + np.outer(u, u) for u in rng.standard_normal((N_PLACES, SIZE))]
    else:
        roots = [rng.standard_normal((SIZE, SIZE))] * N_PLACES
    covariances = np.array([root @ root.T for root in roots])
    deviations = np.sum((covariances - covariances.mean(axis=0)) ** 2, axis=(1, 2))
    # Pairs of different places alone have no term of the deviations.
    of_mean = np.sum(covariances.mean(axis=0) ** 2) - deviations.mean() / (N_PLACES - 1)
    exact = deviations.mean() * N_PLACES / (N_PLACES - 1) / of_mean
    found = [
        unevenness(at_places(rng.standard_normal((N_PAIRS, SIZE)), roots), FLAT) ** 2
        for _ in range(400)
    ]
    if kind == "none":
        assert max(found) < 1e-9
    else:
        # A ratio of two means over 28 pairs has a bias of the order of 1 / 28.
        assert abs(np.mean(found) / exact - 1) < 0.15


def test_outliers_do_not_make_noise_uneven():
    """One pair of batches that is a hundred times as large weighs the same at all places."""
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((N_PAIRS, SIZE))
    rows[:2] *= 100
    assert unevenness(at_places(rows, [np.eye(SIZE)] * N_PLACES), FLAT) < 1e-6
    scales = rng.uniform(0.9, 1.1, N_PLACES)
    found = unevenness(at_places(rows, [s * np.eye(SIZE) for s in scales]), FLAT)
    assert found == pytest.approx(2 * np.std(scales, ddof=1), rel=0.1)


def on_a_sphere(scales, rng):
    """Isotropic noise of points anywhere on a sphere, beside one flat entry."""
    found = []
    for x, scale in zip(rng.standard_normal((len(scales), 3)), scales, strict=True):
        tangent = np.eye(3) - np.outer(x, x) / (x @ x)
        turned = rng.standard_normal((N_PAIRS, 3)) @ tangent
        found.append(scale * np.column_stack([turned, rng.standard_normal(N_PAIRS)]))
    return np.array(found)


def test_tangent_spaces_that_turn_are_not_uneven_noise():
    rng = np.random.default_rng(4)
    manifold = Product([Sphere(), Euclidean()], shapes=[(3,), ()])
    even, uneven = [], []
    for _ in range(100):
        even.append(unevenness(on_a_sphere(np.ones(N_PLACES), rng), manifold))
        uneven.append(unevenness(on_a_sphere(np.repeat([0.5, 1.5], 16), rng), manifold))
    # Other rows at each place, as here, leave an error that common rows do not have.
    assert np.mean(even) < 0.3
    assert np.mean(uneven) == pytest.approx(1.0 / 1.25 * np.sqrt(32 / 31), rel=0.1)


def test_what_cannot_be_compared():
    rows = np.random.default_rng(5).standard_normal((1, N_PAIRS, SIZE))
    assert unevenness(rows, FLAT) == 0
    assert unevenness(np.zeros((N_PLACES, N_PAIRS, SIZE)), FLAT) == 0
    assert np.isnan(unevenness(np.full((N_PLACES, N_PAIRS, SIZE), np.nan), FLAT))

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Directional statistics against SciPy and against what is known of simple sets of points."""

import numpy as np
import pytest

from scipy.stats import directional_stats

from pymc_geodesic.diagnostics import (
    angles_to,
    angular_sd,
    cap_radius,
    mean_direction,
    mean_resultant_length,
)
from pymc_geodesic.diagnostics.directional import rotate_to_pole

X = np.random.default_rng(1).normal([1.0, -0.5, 2.0, 0.0], size=(50, 3, 4))
X /= np.linalg.norm(X, axis=-1, keepdims=True)


def ring(radius, n=60):
    """Points of the sphere that all lie `radius` from the pole."""
    turn = np.linspace(0, 2 * np.pi, n, endpoint=False)
    return np.column_stack(
        [np.sin(radius) * np.cos(turn), np.sin(radius) * np.sin(turn), np.full(n, np.cos(radius))]
    )


def test_mean_direction_and_resultant_length_are_those_of_scipy():
    for point in range(3):
        expected = directional_stats(X[:, point])
        np.testing.assert_allclose(mean_direction(X)[point], expected.mean_direction, rtol=1e-13)
        found = mean_resultant_length(X)[point]
        np.testing.assert_allclose(found, expected.mean_resultant_length, rtol=1e-13)


def test_draws_that_cancel_have_no_mean_direction():
    assert np.isnan(mean_direction([[1.0, 0.0], [-1.0, 0.0]])).all()
    assert mean_resultant_length([[1.0, 0.0], [-1.0, 0.0]]) == 0


@pytest.mark.parametrize("radius", [1e-9, 1e-3, 1.0, 2.5])
def test_scatter_of_a_ring_is_its_radius(radius):
    x = ring(radius)
    pole = np.array([0.0, 0.0, 1.0])
    np.testing.assert_allclose(angles_to(x, pole), radius, rtol=1e-9)
    if radius < np.pi / 2:  # beyond it the mean is the other pole
        np.testing.assert_allclose(angular_sd(x), radius, rtol=1e-6)
        np.testing.assert_allclose(cap_radius(x, 0.9), radius, rtol=1e-6)


def test_cap_is_the_smallest_with_the_probability():
    angles = angles_to(X[:, 0], mean_direction(X[:, 0]))
    for probability in (0.1, 0.5, 0.95, 1.0):
        radius = cap_radius(X[:, 0], probability)
        assert np.mean(angles <= radius) >= probability
        assert np.mean(angles < radius) < probability


def test_probability_of_a_cap_is_checked():
    with pytest.raises(ValueError, match=r"from 0 to 1, got 95"):
        cap_radius(X, 95)


@pytest.mark.parametrize("center", [[0.0, 0.0, 0.0, 1.0], [0.5, -0.5, 0.5, -0.5]])
def test_reflection_keeps_angles_and_brings_the_center_to_the_axis(center):
    y = rotate_to_pole(X, np.broadcast_to(center, (3, 4)))
    np.testing.assert_allclose(np.abs(y[..., -1]), np.abs(X @ center), atol=1e-14)
    np.testing.assert_allclose((y[0] * y[1]).sum(-1), (X[0] * X[1]).sum(-1), atol=1e-14)

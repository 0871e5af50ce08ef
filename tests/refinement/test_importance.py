#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Moments by importance sampling are the posterior's, and their errors are known."""

import numpy as np
import pytest

from scipy.special import digamma, polygamma

from pymc_geodesic.refinement.importance import (
    LARGEST_K_HAT,
    Evaluated,
    log_density_of,
    proposed,
    weighted_moments,
)

DIRECTIONS = np.eye(3)


def of_gaussian(mean, sd, *, n=400, seed=1):
    """Around draws that are right, for a Gaussian posterior of this mean and deviation."""
    rng = np.random.default_rng(seed)

    def evaluated(z):
        force = (z - mean) / sd**2
        return Evaluated(z, 0.5 * np.sum((z - mean) * force, axis=1), force)

    points, draws = evaluated(proposed(rng, n, 3)), evaluated(rng.normal(size=(n // 4, 3)))
    return weighted_moments(points, draws, directions=DIRECTIONS)


def test_a_gaussian_posterior_has_no_error():
    mean, sd = np.array([0.3, 0.0, -0.2]), np.array([1.0, 0.8, 1.3])
    found = of_gaussian(mean, sd)
    np.testing.assert_allclose(found.mean[:3], mean, atol=1e-6)
    np.testing.assert_allclose(found.variance[:3], sd**2, atol=1e-5)
    # Behind the given directions those of the largest and the smallest variance.
    np.testing.assert_allclose(found.variance[3:], [1.3**2, 0.8**2], rtol=1e-4)
    assert found.k_hat < 0.5


def test_points_have_zero_mean_and_unit_covariance():
    z = proposed(np.random.default_rng(1), 200_000, 2)
    np.testing.assert_allclose(np.cov(z.T), np.eye(2), atol=0.03)
    np.testing.assert_allclose(z.mean(axis=0), 0, atol=0.01)
    # A standard normal density has the mass of one.
    normal = np.exp(-0.5 * np.sum(z**2, axis=1) - log_density_of(z))
    ratio = normal[np.abs(z[:, 0]) < 1].sum() / normal.sum()
    assert ratio == pytest.approx(0.6827, abs=0.01)


def test_errors_of_a_skewed_posterior_are_those_that_are_stated():
    """Logarithms of gamma variables, in 60 repetitions."""
    shape = 20.0
    center, scale = digamma(shape), np.sqrt(polygamma(1, shape))
    z_scores, errors = [], []

    def evaluated(z):
        x = center + scale * z
        energy = np.sum(np.exp(x) - shape * x, axis=1)
        return Evaluated(z, energy, scale * (np.exp(x) - shape))

    for seed in range(60):
        rng = np.random.default_rng(seed)
        points = evaluated(proposed(rng, 400, 3))
        draws = evaluated((np.log(rng.gamma(shape, size=(100, 3))) - center) / scale)
        found = weighted_moments(points, draws, directions=DIRECTIONS)
        assert found.k_hat < LARGEST_K_HAT
        errors.append(found.mean_error[:3])
        z_scores.append(found.mean[:3] / found.mean_error[:3])
        z_scores.append((found.variance[:3] - 1) / found.variance_error[:3])
    # Independent draws have a tenth of the deviation at 100.
    assert np.median(errors) < 0.02
    assert np.mean(np.abs(z_scores) > 2) < 0.12


def test_a_posterior_that_is_elsewhere_has_no_moments():
    found = of_gaussian(np.full(3, 8.0), np.ones(3))
    assert found.k_hat >= LARGEST_K_HAT
    assert np.isnan(found.mean).all()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Regions hold the probability they claim, for posteriors of any width."""

import numpy as np
import pytest

from scipy.stats import vonmises_fisher

from pymc_geodesic.diagnostics import angles_to, mean_direction
from pymc_geodesic.plots.density import (
    cap_border,
    circle_density,
    levels_of,
    regions_of_draws,
)
from pymc_geodesic.plots.ternary import CORNERS, _mirrors, _regions


def test_levels_hold_the_mass_they_claim():
    # With density proportional to exp(k z), the height z above which half the mass lies is known.
    kappa = 2.0
    latitude = np.deg2rad(np.linspace(-89.5, 89.5, 180))[:, None]
    values = np.broadcast_to(kappa * np.sin(latitude), (180, 361))
    levels, mass = levels_of(values, np.cos(latitude), (0.5, 0.9))
    heights = np.log(np.exp(kappa) - mass * (np.exp(kappa) - np.exp(-kappa))) / kappa
    np.testing.assert_allclose(levels / kappa, heights, atol=0.02)
    np.testing.assert_allclose(mass, [0.9, 0.5])


@pytest.mark.parametrize("kappa", [3.0, 100.0, 1e7])
def test_contours_of_draws_hold_the_mass_of_the_law(kappa):
    """The region is a cap about the mean, whose radius is known."""
    x = vonmises_fisher([0.6, 0.0, 0.8], kappa, seed=1).rvs(2000)
    [line] = regions_of_draws(x, [0.6])
    radii = angles_to(line, mean_direction(x))
    cosine = 1 + np.log1p(-0.6 * -np.expm1(-2 * kappa)) / kappa
    # A kernel widens the law a little, and 2,000 draws leave a ragged border.
    assert np.mean(radii) == pytest.approx(np.arccos(cosine), rel=0.12)
    assert np.std(radii) < 0.15 * np.mean(radii)


@pytest.mark.parametrize("radius", [1e-6, 0.5, 3.0])
def test_border_of_a_cap(radius):
    center = np.array([0.48, 0.6, 0.64])
    border = cap_border(center, radius)
    np.testing.assert_allclose(angles_to(border, center), radius, rtol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(border, axis=1), 1, atol=1e-14)


@pytest.mark.parametrize("mode", [0.3, np.pi])
def test_density_of_angles_is_that_of_the_law(mode):
    rng = np.random.default_rng(1)
    at = np.linspace(-np.pi, np.pi, 361)[:-1]
    exact = np.exp(4 * np.cos(at - mode))
    exact /= exact.mean() * 2 * np.pi
    found = circle_density(rng.vonmises(mode, 4.0, 5000), at)
    assert found.mean() * 2 * np.pi == pytest.approx(1)
    np.testing.assert_allclose(found, exact, atol=0.06)


def test_mirror_images_tile_the_plane_around_the_triangle():
    """Each image is a triangle of its own, and with the first they touch each corner six times."""
    images = _mirrors() @ CORNERS
    middles = images.mean(axis=1)
    assert len(np.unique(middles.round(9), axis=0)) == len(images)
    for corner in CORNERS:
        touching = np.isclose(images, corner, atol=1e-12).all(axis=-1).any(axis=-1)
        assert touching.sum() == 6


def test_no_density_is_lost_at_a_corner_of_the_triangle():
    """Of an exponential law in the corner, the densest half is known."""
    rng = np.random.default_rng(1)
    p = rng.gamma(1.0, 0.02, size=(20_000, 2))
    p = np.column_stack([p, 1 - p.sum(axis=1)])
    lines = _regions(p @ CORNERS, [0.5])
    points = np.concatenate(lines)
    # The sum of two exponentials is below its median, 1.678 times their scale, half the time.
    assert np.median(_first_two(points).sum(axis=1)) == pytest.approx(0.02 * 1.678, rel=0.1)


def _first_two(points):
    points = points[~np.isnan(points[:, 0])]
    sides = (CORNERS[:2] - CORNERS[2]).T
    return np.linalg.solve(sides, (points - CORNERS[2]).T).T

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""The point around which a tuning phase measures: a mode if it describes the posterior.

The Gaussian approximation of a posterior at a mode :math:`c`, with the curvature there, is right if
both also hold at the posterior's own scale:

.. math::

    E_q[\nabla U] \approx 0, \qquad E_q[\nabla^2 U] \approx M, \qquad q = N(c, M^{-1}).

This is so for a regression with many rows, whose mode is found in few passes over the data. It is
not so for a hierarchy, whose mode may have no scale at all, and for a likelihood with kinks, whose
curvature at a point is that of the nearest rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.kernel.host_gradient import SUBSAMPLE, HostGradient
from pymc_geodesic.mass.arrays import Mass, joined

__all__ = ["around", "is_gaussian_around"]

# Number of antithetic pairs of the check.
N_PAIRS = 32
# Limits of a mean gradient in posterior standard deviations, on average and for an entry, and in
# standard errors of the measurement.
FARTHEST, FARTHEST_ENTRY, ERRORS = 0.5, 1.5, 5.0
# Limits of the ratio of curvatures at the posterior's scale and at the mode, for all entries except
# five per cent at either end: of thousands some are far off by chance.
SMALLEST_RATIO, LARGEST_RATIO, QUANTILES = 0.4, 2.5, (0.05, 0.95)


def around(
    gradient: HostGradient, point: Sequence[np.ndarray], mass: Mass, noise: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Move a point along geodesics by noise in the frame of a mass."""
    moves = gradient.to_tangent(*point, *mass.rate(list(noise)))
    time = np.asarray(1.0, point[0].dtype)
    return gradient.geodesic(*point, *moves, time)[: len(point)]


def is_gaussian_around(
    gradient: HostGradient,
    point: Sequence[np.ndarray],
    mass: Mass,
    *,
    rng: np.random.Generator,
) -> bool:
    """Return whether the mode and the curvature there describe the posterior.

    Parameters
    ----------
    gradient : HostGradient
        Energies and gradients.
    point : sequence of ndarray
        The mode, in the embedding.
    mass : Mass
        Curvature at the mode.
    rng : Generator
        Source of pairs and rows.
    """
    slopes, ratios = [], []

    def forces(points, rows):
        found = gradient.many(points, [rows] * len(points))
        return [joined(mass.force(one.pulled_back)) for one in found]

    with np.errstate(all="ignore"):
        at_mode = joined(mass.force(gradient.whole(point).pulled_back))
        for _ in range(N_PAIRS):
            rows = gradient.rows(rng, SUBSAMPLE)
            noise = [rng.standard_normal(np.shape(x)).astype(x.dtype) for x in point]
            ends = [around(gradient, point, mass, z) for z in (noise, [-z for z in noise])]
            up, down, here = forces([*ends, point], rows)
            # For a million rows, a subsample determines the mode only to ten standard deviations,
            # but changes around it to a fraction of one.
            slopes.append((up + down) / 2 - here + at_mode)
            ratios.append(joined(noise) * (up - down) / 2)
    if not (np.all(np.isfinite(slopes)) and np.all(np.isfinite(ratios))):
        return False
    mean, error = np.mean(slopes, axis=0), np.std(slopes, axis=0, ddof=1) / np.sqrt(N_PAIRS)
    is_near = np.mean(mean**2 - error**2) <= FARTHEST**2
    is_near &= bool(np.all(np.abs(mean) <= FARTHEST_ENTRY + ERRORS * error))
    lowest, highest = np.quantile(np.mean(ratios, axis=0), QUANTILES)
    return bool(is_near and lowest >= SMALLEST_RATIO and highest <= LARGEST_RATIO)

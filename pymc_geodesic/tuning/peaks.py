#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Follow a descent to the mode, and measure its volume by Laplace's approximation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pymc_geodesic.mass.arrays import Mass
from pymc_geodesic.tuning.anchor import around
from pymc_geodesic.tuning.curvature import curvature_mass, second_derivatives
from pymc_geodesic.tuning.many_descents import Frame, descend_together

__all__ = ["Peak", "peak_near"]

# Descents, each in the frame of the curvature where the last has ended, and steps of each.
MOST_ROUNDS, MOST_STEPS = 5, 100
# Largest number of entries with all second derivatives, and Newton's steps with them.
LARGEST_MATRIX, MOST_NEWTON, MOST_HALVINGS = 150, 12, 10
# Nats to the lowest point that Newton's method leaves, and that a mode may have.
LEFT, MOST_LEFT = 1e-8, 1e-3
# Smallest share of the largest curvature: less is no minimum.
SMALLEST_SHARE = 1e-10
# Standard deviations by which a search leaves its start, in case that is a saddle.
ASIDE = 0.1


class Peak(NamedTuple):
    """A mode of the density.

    Attributes
    ----------
    vector : ndarray
        The point, as a vector of the embedding.
    energy : float
        There.
    log_volume : float
        Logarithm of the volume of a Gaussian distribution with the curvature there, up to a
        constant.
    mass : Mass
        Of that curvature.
    """

    vector: np.ndarray
    energy: float
    log_volume: float
    mass: Mass

    @property
    def evidence(self) -> float:
        """Logarithm of the probability around the mode, up to a constant."""
        return self.log_volume - self.energy


def peak_near(frame: Frame, vector: np.ndarray, *, rng: np.random.Generator) -> Peak | None:
    """Return the mode to which a point descends; None if that takes too long.

    Parameters
    ----------
    frame : Frame
        Evaluates energies.
    vector : ndarray
        The point.
    rng : Generator
        Source of random directions.
    """
    gradient, rows = frame.gradient, frame.rows

    def mass_at(x: np.ndarray, *, dense: bool = True) -> Mass:
        (point,) = frame.points(x[None])
        return curvature_mass(gradient, point, rows=rows, rng=rng, dense=dense)

    mass, (point,) = mass_at(vector), frame.points(vector[None])
    noise = [ASIDE * rng.standard_normal(np.shape(x)).astype(x.dtype) for x in point]
    (x,) = frame.vectors([around(gradient, point, mass, noise)])
    for _ in range(MOST_ROUNDS):
        ends = descend_together(frame.with_mass(mass), x[None], most=MOST_STEPS)
        (x,), mass = ends.vectors, mass_at(ends.vectors[0])
        if ends.has_ended[0]:
            break
    if len(x) <= LARGEST_MATRIX:
        return _by_newton(frame, x, mass)
    if not ends.has_ended[0]:
        return None
    widths = mass.rate([np.ones_like(part) for part in point])
    pairs = zip(widths, gradient.manifold.dims, strict=True)
    volume = sum(n * float(np.mean(np.log(np.abs(width)))) for width, n in pairs)
    return Peak(x, float(ends.energies[0]), volume, mass)


def _by_newton(frame: Frame, x: np.ndarray, mass: Mass) -> Peak | None:
    """Follow Newton's method; None if it does not end at a minimum."""
    dim, left, volume = frame.gradient.manifold.dim, np.inf, np.nan
    [energy], [slope] = frame.evaluate_plain(x[None])
    for _ in range(MOST_NEWTON):
        (point,) = frame.points(x[None])
        matrix = second_derivatives(frame.gradient, point, rows=frame.rows)
        if not np.all(np.isfinite(matrix)):
            return None
        values, axes = np.linalg.eigh((matrix + matrix.T) / 2)
        # Directions across the manifold have no curvature.
        values, axes = values[-dim:], axes[:, -dim:]
        if not values[-1] > 0:
            return None
        sizes = np.maximum(np.abs(values), SMALLEST_SHARE * values[-1])
        along = slope @ axes
        left, volume = 0.5 * float(np.sum(along**2 / sizes)), -0.5 * float(np.log(sizes).sum())
        is_minimum = bool(values[0] > SMALLEST_SHARE * values[-1])
        if left < LEFT:
            break
        step, is_lower = -axes @ (along / sizes), False
        for halvings in range(MOST_HALVINGS):
            tried = frame.projected((x + step / 2**halvings)[None])
            [there], [slope_there] = frame.evaluate_plain(tried)
            if is_lower := there < energy:
                (x,), energy, slope = tried, there, slope_there
                break
        if not is_lower:
            break
    if not (is_minimum and left < MOST_LEFT):
        return None
    return Peak(x, float(energy), volume, mass)

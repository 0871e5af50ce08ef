#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Which ends of descents lie in one basin, which are one mode with other labels, and peaks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pymc_geodesic.mass.arrays import Mass
from pymc_geodesic.tuning.anchor import around
from pymc_geodesic.tuning.curvature import curvature_mass, second_derivatives
from pymc_geodesic.tuning.many_descents import Descents, Frame, descend_together

__all__ = ["Basins", "Peak", "peak_near"]


# Nats by which the energy must rise on the way from one end to another. It never rises on a
# straight way between two points of a density whose logarithm is concave. Chains cross a lower
# barrier easily.
BARRIER = 1.0
# Points on the way to the middle, and from there.
N_ON_THE_WAY = 6
# In posterior standard deviations. Ends so near each other are one.
SAME = 1.0
# Nats. Energies of different modes differ by several, and those of one mode with other labels only
# by what is left at the ends of descents.
EQUAL = 0.01
# Steps of descents that only remove a tilt.
MOST_STEPS = 100
# Of the distance between a number and its negative.
NEGATIVE = 0.05
# Off the chord, in units of the embedding: the middle between opposite unit vectors is nowhere.
ASIDE = 1e-3


class Basins:
    """Tell ends of descents apart.

    Parameters
    ----------
    frame : Frame
        The coordinates, and the rows at which energies are evaluated.
    rng : Generator
        For ways between opposite points.

    Attributes
    ----------
    n_copies : int
        Ends that were another one with other labels or signs.
    """

    def __init__(self, frame: Frame, *, rng: np.random.Generator) -> None:
        self._frame, self._rng, self.n_copies = frame, rng, 0
        factors, shapes = frame.gradient.manifold.factors, frame.gradient.manifold.shapes
        pairs = list(zip(factors, shapes, strict=True))
        repeated = [np.full(shape, factor.is_flat).ravel() for factor, shape in pairs]
        self._is_flat = np.concatenate(repeated)
        alone = [np.full(shape, factor.is_flat and shape == ()).ravel() for factor, shape in pairs]
        self._is_number = np.concatenate(alone)

    def distinct(self, ends: Descents, *, most: int) -> list[int]:
        """Return the numbers of ends in different basins: the first end, then the lowest ones.

        Of a mode and its copies with other labels only one counts. But a single number with the
        other sign is another answer to the question what it is.
        """
        lowest = [i for i in np.argsort(ends.energies) if i != 0 and np.isfinite(ends.energies[i])]
        kept = [0]
        for i in lowest:
            if len(kept) == most:
                break
            if not self._is_known(ends, i, kept):
                kept.append(int(i))
        return kept

    def _is_known(self, ends: Descents, i: int, kept: Sequence[int]) -> bool:
        here, others = ends.vectors[i], ends.vectors[list(kept)]
        moves = self._frame.whitened(others - here)
        if np.any(np.einsum("ij,ij->i", moves, moves) < SAME**2):
            return True
        energies = ends.energies[list(kept)]
        # A tilt is not the same for other labels.
        if self._frame.tilt is None and self._is_copy(here, ends.energies[i], others, energies):
            self.n_copies += 1
            return True
        highest = self._highest(here, others)
        return bool(np.any(highest - np.maximum(energies, ends.energies[i]) < BARRIER))

    def without_copies(self, ends: Descents, kept: Sequence[int]) -> list[int]:
        """Leave out ends that without a tilt are an earlier one with other labels."""
        if self._frame.tilt is None:
            return list(kept)
        plain = descend_together(
            self._frame.without_tilt(), ends.vectors[list(kept)], most=MOST_STEPS
        )
        chosen = [0]
        for i in range(1, len(kept)):
            here, others = plain.vectors[i], plain.vectors[chosen]
            # Near modes of all rows may be one of some rows.
            moves = self._frame.whitened(others - here)
            apart = np.einsum("ij,ij->i", moves, moves) > SAME**2
            energies = np.where(apart, plain.energies[chosen], np.inf)
            if self._is_copy(here, plain.energies[i], others, energies):
                self.n_copies += 1
            else:
                chosen.append(i)
        return [kept[i] for i in chosen]

    def _is_copy(
        self, here: np.ndarray, energy: float, others: np.ndarray, energies: np.ndarray
    ) -> bool:
        """Return whether a point is one of some others with other labels."""
        equal = others[np.abs(energies - energy) < EQUAL]
        return not all(self._has_other_sign(here, there) for there in equal)

    def _has_other_sign(self, here: np.ndarray, there: np.ndarray) -> bool:
        """Return whether a variable that is a single number has become its negative."""
        a, b = here[self._is_number], there[self._is_number]
        far = np.abs(self._frame.whitened((there - here)[None])[0][self._is_number]) > SAME
        return bool(np.any(far & (np.abs(a + b) < NEGATIVE * np.abs(a - b))))

    def _highest(self, here: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return the highest energy on the way from one point to each of some others."""
        middles = (here + others) / 2
        noise = self._rng.standard_normal(middles.shape)
        middles = self._frame.projected(middles + ASIDE * ~self._is_flat * noise)
        shares = (np.arange(N_ON_THE_WAY) + 1)[:, None, None] / N_ON_THE_WAY
        ways = [
            end + shares * (middles - end) for end in (np.broadcast_to(here, others.shape), others)
        ]
        points = np.concatenate(ways)
        energies = self._frame.energies(points.reshape(-1, points.shape[-1]))
        return energies.reshape(len(points), len(others)).max(axis=0)


# Descents, each in the frame of the curvature where the last has ended, and steps of each.
MOST_ROUNDS, MOST_STEPS_OF_PEAKS = 5, 100
# Largest number of entries with all second derivatives, and Newton's steps with them.
LARGEST_MATRIX, MOST_NEWTON, MOST_HALVINGS = 150, 12, 10
# Nats to the lowest point that Newton's method leaves, and that a mode may have.
LEFT, MOST_LEFT = 1e-8, 1e-3
# Smallest share of the largest curvature: less is no minimum.
SMALLEST_SHARE = 1e-10
# Standard deviations by which a search leaves its start, in case that is a saddle.
ASIDE_OF_PEAKS = 0.1


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

    def mass_at(x: np.ndarray) -> Mass:
        (point,) = frame.points(x[None])
        return curvature_mass(gradient, point, rows=rows, rng=rng, dense=True)

    mass, (point,) = mass_at(vector), frame.points(vector[None])
    noise = [ASIDE_OF_PEAKS * rng.standard_normal(np.shape(x)).astype(x.dtype) for x in point]
    (x,) = frame.vectors([around(gradient, point, mass, noise)])
    for _ in range(MOST_ROUNDS):
        ends = descend_together(frame.with_mass(mass), x[None], most=MOST_STEPS_OF_PEAKS)
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
        newton = along / sizes
        left, volume = 0.5 * float(along @ newton), -0.5 * float(np.log(sizes).sum())
        is_minimum = bool(values[0] > SMALLEST_SHARE * values[-1])
        if left < LEFT:
            break
        step, is_lower = -axes @ newton, False
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

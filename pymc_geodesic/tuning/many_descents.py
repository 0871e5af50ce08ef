#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Descents from many starts at once: each step evaluates all of them in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.mass.arrays import Mass, joined, split

__all__ = ["Descents", "Frame", "Tilt", "descend_together"]

# Steps whose curvature is remembered; more help little where a mass has scaled the coordinates.
N_REMEMBERED = 8
# Shortenings of one step after which a descent is given up.
MOST_SHORTENED = 20
# Share of the predicted decrease that a step must reach.
SUFFICIENT = 1e-4
# Predicted decrease, in nats, at which a descent has come to its end.
ENDED = 1e-4

Energies = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""``(coordinates, numbers of the starts) -> (energies, gradients)``."""


class Tilt(NamedTuple):
    """A change of the energy that is proportional to the distance from a point.

    The mode of some rows is many standard deviations away from that of all. With the gradient of
    all rows at a point, its surroundings are those of all rows.
    """

    at: np.ndarray
    slope: np.ndarray


class Frame:
    """Points as vectors in which a mass is one, and energies and gradients there.

    Parameters
    ----------
    gradient : HostGradient
        Energies and gradients.
    mass : Mass
        The mass.
    rows : sequence of ndarray
        Rows of each source at which energies are evaluated.
    tilt : Tilt, optional
        By which the energy of these rows is that of all near a point.
    """

    def __init__(
        self,
        gradient: HostGradient,
        mass: Mass,
        *,
        rows: Sequence[np.ndarray] = (),
        tilt: Tilt | None = None,
    ) -> None:
        self.gradient, self.mass, self.rows, self.tilt = gradient, mass, list(rows), tilt
        self._shapes, self._dtype = gradient.manifold.shapes, mass.arrays[0].dtype
        size = sum(int(np.prod(shape)) for shape in self._shapes)
        units = np.eye(size)
        # Row i is the move along unit i of the frame; its transpose pulls gradients back.
        self.axes = np.array([joined(mass.rate(split(u, self._shapes))) for u in units], float)
        self._inverse = np.linalg.inv(self.axes)

    def points(self, vectors: np.ndarray) -> list[list[np.ndarray]]:
        """Return the points of flat vectors ``(n, entries)``, off the manifold perhaps."""
        arrays = split(np.asarray(vectors, self._dtype), self._shapes)
        return [[x[i, ...] for x in arrays] for i in range(len(vectors))]

    def vectors(self, points: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
        """Return points as flat vectors ``(n, entries)``."""
        return np.array([joined(list(point)) for point in points], float)

    def whitened(self, moves: np.ndarray) -> np.ndarray:
        """Return moves in the frame."""
        return moves @ self._inverse

    def projected(self, vectors: np.ndarray) -> np.ndarray:
        """Return the nearest points on the manifold."""
        return self.vectors([self.gradient.project(*point) for point in self.points(vectors)])

    def energies(self, vectors: np.ndarray) -> np.ndarray:
        """Evaluate the energies of the projected points; infinite where they are not finite."""
        return self.evaluate_plain(vectors)[0]

    def with_mass(self, mass: Mass) -> Frame:
        """Return the same with another mass."""
        return Frame(self.gradient, mass, rows=self.rows, tilt=self.tilt)

    def without_tilt(self) -> Frame:
        """Return the same for the energies of the rows themselves."""
        return self if self.tilt is None else Frame(self.gradient, self.mass, rows=self.rows)

    def evaluate(self, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate energies, and gradients in the frame."""
        energies, slopes = self.evaluate_plain(vectors)
        return energies, slopes @ self.axes.T

    def evaluate_plain(self, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate energies, and gradients in the embedding."""
        points = self.points(vectors)
        with np.errstate(all="ignore"):
            found = self.gradient.many(points, [self.rows] * len(points))
            slopes = self.vectors([one.pulled_back for one in found])
        energies = np.array([one.energy for one in found], float)
        if self.tilt is not None:
            energies += (vectors - self.tilt.at) @ self.tilt.slope
            slopes += self.tilt.slope
        fine = np.isfinite(energies) & np.isfinite(slopes).all(axis=1)
        return np.where(fine, energies, np.inf), np.where(fine[:, None], slopes, 0.0)


class Descents(NamedTuple):
    """The ends of several descents.

    Attributes
    ----------
    vectors : ndarray, shape (n, entries)
        Points of the embedding.
    energies : ndarray, shape (n,)
        There; infinite for starts without a finite energy.
    has_ended : ndarray of bool, shape (n,)
        Whether a descent ended by itself.
    """

    vectors: np.ndarray
    energies: np.ndarray
    has_ended: np.ndarray


def descend_together(frame: Frame, starts: np.ndarray, *, most: int) -> Descents:
    """Minimise energies from several starts by L-BFGS, with one call for each step of all.

    Parameters
    ----------
    frame : Frame
        The coordinates, and the rows at which energies are evaluated.
    starts : ndarray, shape (n, entries)
        Points of the embedding.
    most : int
        Calls.

    Returns
    -------
    Descents
        Where each descent came to.

    References
    ----------
    J. Nocedal and S. J. Wright, Numerical Optimization (2006), algorithm 7.4.
    """
    x = np.array(starts, float)
    energy, slope = frame.evaluate(x)
    goes_on, has_ended = np.isfinite(energy), np.zeros(len(x), bool)
    length, shortened = np.ones(len(x)), np.zeros(len(x), int)
    memory = _Memory(x.shape)
    for _ in range(most):
        direction = memory.direction(slope)
        expected = -np.einsum("ij,ij->i", slope, direction)
        has_ended |= goes_on & (expected < ENDED)
        goes_on &= ~has_ended & (shortened <= MOST_SHORTENED)
        if not (now := np.flatnonzero(goes_on)).size:
            break
        step = length[now, None] * direction[now]
        tried, there = frame.evaluate(x[now] + step @ frame.axes)
        wanted = energy[now] - SUFFICIENT * length[now] * expected[now]
        accepted = tried <= wanted
        memory.add(now[accepted], step[accepted], (there - slope[now])[accepted])
        moved, stayed = now[accepted], now[~accepted]
        x[moved] += step[accepted] @ frame.axes
        energy[moved], slope[moved] = tried[accepted], there[accepted]
        length[moved], shortened[moved] = 1.0, 0
        length[stayed] *= _shorter(tried[~accepted] - energy[stayed], (length * expected)[stayed])
        shortened[stayed] += 1
    return Descents(frame.projected(x), energy, has_ended)


def _shorter(rise: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return the factor by which to shorten a step: to the lowest point of a parabola."""
    with np.errstate(all="ignore"):
        factor = expected / (2 * (rise + expected))
    return np.clip(np.where(np.isfinite(factor), factor, 0.1), 0.1, 0.5)


class _Memory:
    """The last steps of every descent, and how gradients changed along them."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._steps, self._changes = (np.zeros((N_REMEMBERED, *shape)) for _ in range(2))
        # Zero for steps that are not used.
        self._weights = np.zeros((N_REMEMBERED, shape[0]))
        self._scale = np.ones(shape[0])

    def add(self, numbers: np.ndarray, steps: np.ndarray, changes: np.ndarray) -> None:
        """Remember a step of the descents with these numbers, where the curvature is positive."""
        products = np.einsum("ij,ij->i", steps, changes)
        lengths = np.einsum("ij,ij->i", changes, changes)
        kept = products > 1e-10 * np.sqrt(np.einsum("ij,ij->i", steps, steps) * lengths)
        # Squares of the last changes of a descent may vanish.
        kept &= np.minimum(products, lengths) > np.finfo(float).tiny
        numbers, steps, changes = numbers[kept], steps[kept], changes[kept]
        for array, new in (
            (self._steps, steps),
            (self._changes, changes),
            (self._weights, 1 / products[kept]),
        ):
            array[:-1, numbers] = array[1:, numbers]
            array[-1, numbers] = new
        self._scale[numbers] = products[kept] / lengths[kept]

    def direction(self, slope: np.ndarray) -> np.ndarray:
        """Return the direction of each next step."""
        q, factors = slope.copy(), []
        pairs = list(zip(self._steps, self._changes, self._weights, strict=True))
        for step, change, weight in reversed(pairs):
            factors.append(weight * np.einsum("ij,ij->i", step, q))
            q -= factors[-1][:, None] * change
        q *= self._scale[:, None]
        for (step, change, weight), factor in zip(pairs, reversed(factors), strict=True):
            back = weight * np.einsum("ij,ij->i", change, q)
            q += (factor - back)[:, None] * step
        return -q

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Second moments of velocities over draws, which improve the estimate of gradient noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pymc_geodesic.algorithms.row_noise import covariance_of_rows
from pymc_geodesic.manifolds import Product
from pymc_geodesic.mass.arrays import Mass
from pymc_geodesic.tuning.rare_entries import along_directions

__all__ = ["VelocityMoments", "cooled", "moments_of", "pooled", "shrunk"]


class VelocityMoments(NamedTuple):
    """Sums over draws, and their number.

    Attributes
    ----------
    n_draws : int
        Number of draws.
    squares : list of ndarray
        Squares of the entries of each variable.
    along : ndarray
        Squares along the directions of the mass.
    of_rows : list of ndarray
        Mean products of the entries of a row, for each variable with rows.
    """

    n_draws: int
    squares: list[np.ndarray]
    along: np.ndarray
    of_rows: list[np.ndarray]


def moments_of(
    manifold: Product, velocity: Sequence[np.ndarray], mass: Mass | None
) -> VelocityMoments:
    """Return the moments of one draw.

    Parameters
    ----------
    manifold : Product
        Manifold of the chain.
    velocity : sequence of ndarray
        One array per variable, in the frame of the mass.
    mass : Mass or None
        Mass with the directions.
    """
    squares = [np.square(v) for v in velocity]
    along = np.square(along_directions(velocity, mass))
    return VelocityMoments(1, squares, along, covariance_of_rows(manifold, velocity))


def pooled(moments: Sequence[VelocityMoments]) -> VelocityMoments:
    """Add the sums of several draws or chains."""
    numbers, squares, alongs, of_rows = zip(*moments, strict=True)

    def added(lists: Sequence[list[np.ndarray]]) -> list[np.ndarray]:
        return [sum(arrays[1:], start=arrays[0]) for arrays in zip(*lists, strict=True)]

    return VelocityMoments(
        sum(numbers), added(squares), sum(alongs[1:], start=alongs[0]), added(of_rows)
    )


def shrunk(temperatures: np.ndarray, *, n_draws: int, axis: int | None = None) -> np.ndarray:
    r"""Shrink temperatures towards their mean, and the mean towards one, by the error of chance.

    A mean T of n squares of normals has the variance 2 T^2 / n. Differences of entries from their
    mean, and of the mean from one, are kept as far as they exceed chance: by a factor of
    :math:`\max(0, 1 - (2 T^2 / n) / d^2)` for a mean square difference :math:`d^2` (James and
    Stein 1961). Frictions that follow chance would make some entries too hot and others too cold,
    and all too cold on average, because noise cannot be negative.

    Parameters
    ----------
    temperatures : ndarray
        One per entry; entries of zero are left out.
    n_draws : int
        Number of squares in each.
    axis : int, optional
        Axis of the means; by default there is one mean for all entries.
    """
    counts = temperatures > 0
    n = np.maximum(counts.sum(axis=axis, keepdims=True), 1)
    mean = temperatures.sum(axis=axis, keepdims=True) / n
    differences = np.where(counts, temperatures - mean, 0.0)
    spread = np.sum(differences**2, axis=axis, keepdims=True) / np.maximum(n - 1, 1)
    drawn = 1 + _beyond_chance((mean - 1) ** 2, 2 / (n_draws * n)) * (mean - 1)
    drawn = drawn + _beyond_chance(spread, 2 * mean**2 / n_draws) * differences
    return np.where(counts, drawn, temperatures)


def cooled(covariance: np.ndarray, temperatures: np.ndarray, *, mass: np.ndarray) -> np.ndarray:
    """Divide a covariance of positions by the temperatures of the velocities.

    With the covariance as it is, noise that makes positions too wide along an entry would make its
    mass too small, and so keep it as hot as before: wrong widths would confirm themselves.

    Parameters
    ----------
    covariance : ndarray
        Diagonal, or matrix.
    temperatures : ndarray
        Mean squares of the velocities, in the frame of the mass.
    mass : ndarray
        Diagonal, or matrix.
    """
    if mass.ndim == 1:
        return covariance / temperatures
    # Velocities are those of L' theta, where L is the Cholesky factor of the mass.
    factor = np.linalg.cholesky(mass).T
    cool = np.linalg.solve(factor, factor / np.sqrt(temperatures)[:, None])
    return cool @ covariance @ cool.T


def _beyond_chance(square: np.ndarray, by_chance: np.ndarray) -> np.ndarray:
    exceeds = square > by_chance
    return np.where(exceeds, 1 - by_chance / np.where(exceeds, square, 1.0), 0.0)

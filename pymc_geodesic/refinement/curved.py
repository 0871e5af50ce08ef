#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Points of a curved manifold: functions in whose moments draws are corrected, and the moves.

In flat space an affine map :math:`x \mapsto b + (1 + S) x` gives draws any mean and covariance. On
a manifold with coordinates y it is a small move along :math:`\sum_a (b + S y)_a \nabla y_a`. To
first order it changes :math:`y_a` by :math:`\sum_b P_{ab} (b + S y)_b`, with the inner products P
of the gradients. So b and S follow from linear equations, and a few rounds solve them.
"""

from __future__ import annotations

import math

from typing import NamedTuple

import numpy as np

from pymc_geodesic.manifolds import Manifold
from pymc_geodesic.refinement.moments import Correction

__all__ = ["LARGEST_POINT", "PointFrame", "PointMoves", "moved_to", "moves_of"]


# Entries of a point, whose products are held at every draw.
LARGEST_POINT = 50
# Of the largest variance: combinations of functions that do not move.
NO_WIDTH = 1e-10


class PointMoves:
    """The functions of one manifold, and moves along their gradients, for many points.

    Parameters
    ----------
    manifold : Manifold
        The manifold, which has such functions.
    """

    def __init__(self, manifold: Manifold) -> None:
        self.manifold = manifold

    def __call__(self, x: np.ndarray, gradient: np.ndarray) -> list[np.ndarray]:
        """Return functions, forces and products at points ``(draw, *core)``."""
        with np.errstate(all="ignore"):
            found = self.manifold.stein_functions(x, gradient)
        assert found is not None, "the manifold has functions"
        return list(found)

    def moved(self, x: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Move points along the gradients of functions with weights ``(draw, function)``."""
        with np.errstate(all="ignore"):
            return self.manifold.moved_along(x, weights.astype(x.dtype))


def moves_of(manifold: Manifold, core: tuple[int, ...], dtype: str) -> PointMoves | None:
    """Return the functions of a manifold; None if it has none, or points are large."""
    if math.prod(core) > LARGEST_POINT:
        return None
    point = np.ones((1, *core), dtype)
    with np.errstate(all="ignore"):
        found = manifold.stein_functions(point, point)
    return None if found is None else PointMoves(manifold)


class PointFrame(NamedTuple):
    """Combinations of functions of a point with mean zero and unit covariance over the draws.

    Attributes
    ----------
    moves : PointMoves
        The functions.
    mean : ndarray, shape (function,)
        Their means.
    into : ndarray, shape (function, coordinate)
        The combinations.
    """

    moves: PointMoves
    mean: np.ndarray
    into: np.ndarray

    @classmethod
    def of(cls, moves: PointMoves, x: np.ndarray) -> PointFrame | None:
        """Find the combinations for draws ``(draw, *core)``; None if nothing moves."""
        h = moves(x, np.zeros_like(x))[0]
        mean = h.mean(axis=0)
        values, vectors = np.linalg.eigh(np.cov(h, rowvar=False, bias=True))
        kept = values > NO_WIDTH * max(values[-1], np.finfo(float).tiny)
        if not np.all(np.isfinite(values)) or not kept.any():
            return None
        return cls(moves, mean, vectors[:, kept] / np.sqrt(values[kept]))

    def at(self, x: np.ndarray, gradient: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return coordinates, forces and products at points."""
        h, force, products = self.moves(x, gradient)
        return (h - self.mean) @ self.into, force @ self.into, self.into.T @ products @ self.into

    def moved(self, x: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Move points along the gradients of coordinates."""
        return self.moves.moved(x, weights @ self.into.T)


ROUNDS = 8
# Coordinates up to which products of different ones are given their moments too.
MOST_PAIRED = 9
# Least squares with errors as weights, and a little weight on points that stay.
RIDGE = 1e-8
# Longest move in a round, in units in which coordinates have unit variance.
LONGEST = 0.5


def moved_to(frame: PointFrame, x: np.ndarray, target: Correction) -> np.ndarray:
    """Return points with the moments of a correction.

    Parameters
    ----------
    frame : PointFrame
        Coordinates of the points.
    x : ndarray, shape (draw, *core)
        The points.
    target : Correction
        Means and covariance of the coordinates.
    """
    m = len(target.mean)
    first, second = np.triu_indices(m) if m <= MOST_PAIRED else (np.arange(m), np.arange(m))
    wanted = np.concatenate([target.mean, target.cov[first, second]])
    errors = np.concatenate([target.mean_error, target.cov_error[first, second]])
    weights = 1 / np.maximum(errors, 1e-6)
    for _ in range(ROUNDS):
        y, _, products = frame.at(x, np.zeros_like(x))
        about = y - target.mean
        moments = np.concatenate(
            [y.mean(axis=0), (about[:, first] * about[:, second]).mean(axis=0)]
        )
        change = _changes(y, about, products, first, second)
        a = change * weights[:, None]
        normal = a.T @ a
        normal[np.diag_indices_from(normal)] += RIDGE * np.trace(normal)
        found = np.linalg.solve(normal, a.T @ ((wanted - moments) * weights))
        field = _field(found, y, first, second)
        length = np.sqrt(np.mean(np.sum(field**2, axis=1)) / m)
        x = frame.moved(x, field * min(1.0, LONGEST / max(length, np.finfo(float).tiny)))
    return x


def _field(
    parameters: np.ndarray, y: np.ndarray, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """Return b + S y for the parameters of b and of the symmetric matrix S."""
    m = y.shape[1]
    matrix = np.zeros((m, m))
    matrix[first, second] = parameters[m:]
    matrix[second, first] = parameters[m:]
    return parameters[:m] + y @ matrix


def _changes(
    y: np.ndarray, about: np.ndarray, products: np.ndarray, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """Return derivatives of the moments with respect to the parameters."""
    m = y.shape[1]
    columns = []
    for k in range(m + len(first)):
        unit = np.zeros(m + len(first))
        unit[k] = 1.0
        moved = np.einsum("nab,nb->na", products, _field(unit, y, first, second))
        square = moved[:, first] * about[:, second] + about[:, first] * moved[:, second]
        columns.append(np.concatenate([moved.mean(axis=0), square.mean(axis=0)]))
    return np.stack(columns, axis=1)

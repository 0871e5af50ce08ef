#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Functions of the points of a curved manifold, in whose moments draws are corrected."""

from __future__ import annotations

import math

from typing import NamedTuple

import numpy as np

from pymc_geodesic.manifolds import Manifold

__all__ = ["LARGEST_POINT", "PointFrame", "PointMoves", "moves_of"]

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

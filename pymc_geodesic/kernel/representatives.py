#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Draws in coordinates around one center, in which means, variances and distances make sense.

Coordinates may jump where a point does not: those of an angle at pi, those of an axis at the
equator. Each manifold says which coordinates of a point are nearest to another point
(:meth:`~pymc_geodesic.manifolds.Manifold.nearest`). Here the other point is the center of all draws
of all chains, so that nothing depends on where the coordinates jump.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from pymc_geodesic.manifolds import Manifold, Product

__all__ = ["Representatives", "without_seam"]

# Rounds in which the center moves to the mean of the coordinates nearest to it. Draws around one
# point take two or three; those from nearly everywhere take more, and gain nothing by it.
MOST_ROUNDS = 20


class Representatives:
    """The coordinates of draws that are nearest to a center.

    Parameters
    ----------
    manifold : Product
        The manifold of the draws.
    """

    def __init__(self, manifold: Product) -> None:
        self._factors = manifold.factors
        # Coordinates of all others never jump, and their draws are left alone.
        ones = [np.ones(shape) for shape in manifold.shapes]
        with np.errstate(all="ignore"):
            pairs = enumerate(zip(manifold.factors, ones, strict=True))
            self._jumping = [i for i, (factor, x) in pairs if factor.nearest(x, x) is not x]

    def nearest(
        self, draws: Sequence[np.ndarray], center: Sequence[np.ndarray]
    ) -> list[np.ndarray]:
        """Return the coordinates nearest to a center.

        Parameters
        ----------
        draws : sequence of ndarray, shape (draw, ...)
            Points of each variable.
        center : sequence of ndarray
            One point of each variable.
        """
        found = list(draws)
        with np.errstate(all="ignore"):
            for i in self._jumping:
                found[i] = self._factors[i].nearest(draws[i], center[i])
        return found

    def of_point(
        self, point: Sequence[np.ndarray], center: Sequence[np.ndarray]
    ) -> list[np.ndarray]:
        """Return the coordinates of one point that are nearest to a center."""
        return [x[0] for x in self.nearest([np.asarray(x)[None] for x in point], center)]

    def of_chains(self, chains: list[list[list[np.ndarray]]]) -> list[list[list[np.ndarray]]]:
        """Return the draws of chains in coordinates around the center of them all.

        Parameters
        ----------
        chains : list of list of draws
            One array for each variable of each draw of each chain.
        """
        pooled = [draw for chain in chains for draw in chain]
        if not self._jumping or not pooled:
            return chains
        found = self.around_center([np.array([draw[i] for draw in pooled]) for i in self._jumping])
        moved = [list(draw) for draw in pooled]
        for i, column in zip(self._jumping, found, strict=True):
            for draw, x in zip(moved, column, strict=True):
                draw[i] = np.asarray(x)
        rest = iter(moved)
        return [[next(rest) for _ in chain] for chain in chains]

    def around_center(self, columns: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        """Return coordinates around the center of draws, for the variables whose may jump.

        The center moves to the mean of the coordinates nearest to it until none of them jumps any
        more. For angles this is a minimum of the mean squared distance along the circle. Draws that
        are not finite do not move it.
        """
        finite = np.all([np.isfinite(x).reshape(len(x), -1).all(axis=1) for x in columns], axis=0)
        if not self._jumping or not finite.any():
            return columns
        factors = [self._factors[i] for i in self._jumping]
        # The last draw is farthest from where a chain has begun.
        center, found = [x[finite][-1] for x in columns], columns
        with np.errstate(all="ignore"):
            for _ in range(MOST_ROUNDS):
                trios = zip(factors, columns, center, strict=True)
                before, found = found, [m.nearest(x, c) for m, x, c in trios]
                if all(map(partial(np.allclose, equal_nan=True), before, found)):
                    break
                pairs = zip(factors, found, strict=True)
                center = [m.project(x[finite].mean(axis=0)) for m, x in pairs]
        return found


def without_seam(manifold: Manifold | None, x: np.ndarray) -> np.ndarray:
    """Return draws of one variable, ``(chain, draw, *shape)``, in coordinates that do not jump.

    R-hat and effective sample sizes of coordinates assume that near points have near coordinates.

    Parameters
    ----------
    manifold : Manifold or None
        That of the variable, in whose embedding the draws are, if it is known.
    x : ndarray, shape (chain, draw, ...)
        Draws of all chains that are compared.

    Examples
    --------
    >>> import numpy as np
    >>> from pymc_geodesic.kernel.representatives import without_seam
    >>> from pymc_geodesic.manifolds import Circle
    >>> np.ptp(without_seam(Circle(), np.array([[3.1, -3.1], [-3.1, 3.1]]))).round(2)
    np.float64(0.08)
    """
    if manifold is None or not x.size:
        return x
    shape = x.shape[2:]
    one = Representatives(Product([manifold], shapes=[shape]))
    [found] = one.around_center([x.reshape(-1, *shape)])
    return found.reshape(x.shape)

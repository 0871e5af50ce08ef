#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Scales of the entries of a Gaussian approximation, and those with which to begin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy

import numpy as np

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.manifolds import Manifold
from pymc_geodesic.mass.arrays import VariableMasses, averaged, joined, split

__all__ = ["Scales", "first_scales"]

# Batches whose gradients are compared, and the largest scale that they may find: that of priors.
N_BATCHES, LARGEST = 64, 1.0
# How far a point on a curved manifold moves at first, so that its direction is still told.
LARGEST_ANGLE = 0.5


class Scales:
    """Scales of all entries in one vector: one number for each point on a curved manifold.

    Parameters
    ----------
    gradient : HostGradient
        Gives the manifold.
    start : sequence of ndarray
        Arrays of the shapes of the variables.
    """

    def __init__(self, gradient: HostGradient, start: Sequence[np.ndarray]) -> None:
        self.factors, self.shapes = gradient.manifold.factors, [np.shape(x) for x in start]
        self.point_dims = gradient.manifold.point_dims

    def small(self, size: float) -> np.ndarray:
        """Return scales of a size, or less: points move by about half a radian at most."""
        pairs = zip(self.shapes, self.factors, self.point_dims, strict=True)
        sizes = [
            np.full(shape, size if factor.is_flat else min(size, LARGEST_ANGLE / np.sqrt(dim)))
            for shape, factor, dim in pairs
        ]
        return joined(sizes)

    def averaged(self, curvature: np.ndarray) -> np.ndarray:
        """Replace the curvatures of a point by their mean over its directions if it has one."""
        return joined(
            [
                np.broadcast_to(factor.over_core(h, keepdims=True) / dim, h.shape)
                if factor.mass == "number"
                else h
                for h, factor, dim in self._parts(curvature)
            ]
        )

    def bounded(self, scales: np.ndarray) -> np.ndarray:
        """Cut the scales of points that have nowhere to run to at the size of their manifold."""
        return joined(
            [np.minimum(s, 1.0) if factor.is_compact else s for s, factor, _ in self._parts(scales)]
        )

    def farthest(self, moves: np.ndarray) -> float:
        """Return the root mean square of moves over the entries of the variable that moved most."""
        return max(float(np.sqrt(np.mean(part**2))) for part, _, _ in self._parts(moves))

    def entropy(self, scales: np.ndarray) -> float:
        """Sum of the logarithms over all directions."""
        parts = self._parts(scales)
        return float(
            sum(
                dim * np.log(averaged(s, factor.mass_shape(s.shape))).sum()
                if factor.mass == "number"
                else np.log(s).sum()
                for s, factor, dim in parts
            )
        )

    def mass(self, scales: np.ndarray, dtype: str) -> VariableMasses:
        """Return the mass of these scales."""
        parts = self._parts(scales)
        masses = [1 / averaged(s, factor.mass_shape(s.shape)) ** 2 for s, factor, _ in parts]
        dense = [False] * len(masses)
        return VariableMasses(masses, dense=dense, shapes=self.shapes, dtype=dtype)

    def _parts(self, entries: np.ndarray) -> Iterator[tuple[np.ndarray, Manifold, int]]:
        return zip(split(entries, self.shapes), self.factors, self.point_dims, strict=True)


def first_scales(
    gradient: HostGradient, start: Sequence[np.ndarray], *, rng: np.random.Generator
) -> VariableMasses:
    """Estimate the scales of all entries from gradients of batches at one place.

    The information on an entry is about the sum of the squares of its gradients over rows, the
    empirical Fisher information. Far from the posterior it is too large, for all entries alike.

    Parameters
    ----------
    gradient : HostGradient
        Gradients of the model, whose rows are drawn uniformly.
    start : sequence of ndarray
        Where to evaluate them.
    rng : numpy.random.Generator
        A copy is used.

    Returns
    -------
    VariableMasses
        The mass of these scales; that of an entry on which rows say little is one.
    """
    rng = deepcopy(rng)
    rows = [gradient.rows(rng) for _ in range(N_BATCHES)]
    found = gradient.many([start] * N_BATCHES, rows)
    variances = np.var([joined(one.pulled_back) for one in found], axis=0, ddof=1)
    # The gradient of a batch of n rows is scaled to all N: its variance is N / n times the sum.
    of_entry = np.max(np.divide(list(map(len, rows[0])), gradient.n_rows)) * variances
    of_entry = np.where(np.isfinite(of_entry), of_entry, 0.0) + LARGEST**-2
    scales = Scales(gradient, start)
    return scales.mass(scales.averaged(of_entry) ** -0.5, start[0].dtype.name)

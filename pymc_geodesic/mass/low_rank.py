#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""A diagonal mass with a correction along a few directions.

Let S be the scales of the entries and U orthonormal directions. In units of the scales, the
posterior has curvatures :math:`\lambda` along U and one elsewhere. The mass is :math:`M = L L^\top`
with

.. math::

    L^{-\top} = S [I + U (\Lambda^{-1/2} - I) U^\top] D .

The diagonal matrix D corrects the result from draws; it begins as the identity. It is the innermost
factor, because a soft direction is a fine balance between entries, which other scales S would
disturb. The mass costs two products with the directions; a dense mass costs one with a matrix.
"""

from __future__ import annotations

import math

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds.product import Point
from pymc_geodesic.mass.arrays import averaged, joined, split
from pymc_geodesic.mass.frames import Frame, Scaling
from pymc_geodesic.potential.estimate import Variance

__all__ = ["LowRankFrame", "LowRankMass"]


class LowRankMass:
    """A diagonal mass, corrected in a few directions.

    Parameters
    ----------
    scales : sequence of ndarray
        One per variable: ``1 / sqrt(mass)``, which broadcasts to it.
    directions : ndarray
        Orthonormal columns over the entries of all variables, in units of the scales; zero for
        entries of variables that are not flat. Columns of zeros have no effect.
    curvatures : ndarray
        One per direction, in units of the scales.
    corrections : sequence of ndarray, optional
        The entries of D: one array per variable, which broadcasts to it; ones by default.
    shapes : sequence of tuple of int
        Shape of each variable.
    dtype : str
        Type of the variables.
    """

    is_diagonal = False
    is_one = False

    def __init__(
        self,
        scales: Sequence[np.ndarray],
        *,
        directions: np.ndarray,
        curvatures: np.ndarray,
        corrections: Sequence[np.ndarray] | None = None,
        shapes: Sequence[tuple[int, ...]],
        dtype: str,
    ) -> None:
        self.shapes, self.dtype = tuple(shapes), dtype
        self.curvatures = np.asarray(curvatures, dtype=dtype)
        self._scales = [np.asarray(scale, dtype=dtype) for scale in scales]
        ones = [np.ones_like(scale) for scale in self._scales]
        given = ones if corrections is None else corrections
        self._corrections = [np.asarray(correction, dtype=dtype) for correction in given]
        self._directions = np.asarray(directions, dtype=dtype)
        self._factors = np.asarray(self.curvatures**-0.5 - 1, dtype=dtype)

    def regrouped(
        self,
        scales: Sequence[np.ndarray],
        corrections: Sequence[np.ndarray],
        *,
        shapes: Sequence[tuple[int, ...]],
    ) -> LowRankMass:
        """Return the same mass for other arrays of the same entries in the same order."""
        other = copy(self)
        other._scales, other._corrections = list(scales), list(corrections)
        other.shapes = tuple(shapes)
        return other

    @property
    def directions(self) -> np.ndarray:
        """The directions, in units of the scales: one column each."""
        return self._directions

    @property
    def form(self) -> dict[str, Any]:
        """What a kernel is compiled for: all but the values of the arrays."""
        return {"shapes": self.shapes}

    @property
    def arrays(self) -> list[np.ndarray]:
        """Scales, corrections, directions, and the stretch of each direction."""
        return [*self._scales, *self._corrections, self._directions, self._factors]

    def frame(self, arrays: Sequence[Array]) -> Frame:
        """Write the map to the frame of unit mass for symbolic ``arrays``."""
        n = len(self.shapes)
        scales, corrections, (directions, factors) = arrays[:n], arrays[n : 2 * n], arrays[2 * n :]
        return LowRankFrame(scales, corrections, directions, factors, shapes=self.shapes)

    def rate(self, velocity: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Map velocities of the frame to the rates at which positions move."""
        inner = _products(self._corrections, velocity)
        stretched = split(self._stretched(joined(inner), self._factors), self.shapes)
        return _products(self._scales, stretched)

    def force(self, gradient: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Map gradients to the frame."""
        scaled = joined(_products(self._scales, gradient))
        return _products(
            self._corrections, split(self._stretched(scaled, self._factors), self.shapes)
        )

    def whiten(self, displacement: Sequence[np.ndarray]) -> np.ndarray:
        """Map displacements to the frame, as one vector: the inverse of :meth:`rate`."""
        scaled = [x / scale for scale, x in zip(self._scales, displacement, strict=True)]
        inner = split(self._stretched(joined(scaled), 1 / (1 + self._factors) - 1), self.shapes)
        pairs = zip(self._corrections, inner, strict=True)
        return joined([x / correction for correction, x in pairs])

    def refined(self, covariance: np.ndarray) -> LowRankMass:
        """Return the mass that also whitens a diagonal covariance, given in the present frame."""
        pairs = zip(self._corrections, split(covariance, self.shapes), strict=True)
        corrections = [c * np.sqrt(averaged(v, c.shape)) for c, v in pairs]
        return LowRankMass(
            self._scales,
            directions=self._directions,
            curvatures=self.curvatures,
            corrections=corrections,
            shapes=self.shapes,
            dtype=self.dtype,
        )

    def turned(self, directions: np.ndarray, covariance: np.ndarray) -> LowRankMass:
        r"""Return the mass that also whitens a covariance along directions of the present frame.

        Let V be these directions, C the covariance along them, and :math:`f = \Lambda^{-1/2} - 1`.
        In units of the scales SD the inverse mass is then :math:`A (I + V (C - I) V^\top) A^\top`
        with :math:`A = D^{-1} (I + U f U^\top) D`. It differs from the identity on the span of
        :math:`D^{-1} U`, :math:`D U` and :math:`A V` alone, whose principal axes become the new
        directions: as many as there are columns, the curvatures farthest from one first.

        Parameters
        ----------
        directions : ndarray, shape (entry, direction)
            Orthonormal columns, zero for entries of variables that are not flat.
        covariance : ndarray, shape (direction, direction)
            Covariance of draws along them, in the present frame: positive definite.

        Returns
        -------
        LowRankMass
            A mass with as many columns; D is the identity.
        """
        n_columns = self._directions.shape[1]
        if not (n_columns and directions.size):
            return self
        pairs = zip(self._corrections, self.shapes, strict=True)
        d = joined([np.broadcast_to(c, shape) for c, shape in pairs]).astype(float)[:, None]
        u, f = self._directions.astype(float), np.diag(self._factors.astype(float))
        outer, inner = u / d, u * d
        along = directions + outer @ f @ (inner.T @ directions)
        nothing = np.zeros((n_columns, directions.shape[1]))
        change = np.block(
            [
                [f @ inner.T @ inner @ f, f, nothing],
                [f, np.zeros_like(f), nothing],
                [nothing.T, nothing.T, covariance - np.eye(len(covariance))],
            ]
        )
        variances, vectors = _principal(np.concatenate([outer, inner, along], axis=1), change)
        n = min(n_columns, len(variances))
        chosen = np.argsort(-np.abs(np.log(variances)), kind="stable")[:n]
        new, curvatures = np.zeros_like(u), np.ones(n_columns)
        new[:, :n], curvatures[:n] = vectors[:, chosen], 1 / variances[chosen]
        return LowRankMass(
            _products(self._corrections, self._scales),
            directions=new,
            curvatures=curvatures,
            shapes=self.shapes,
            dtype=self.dtype,
        )

    def _stretched(self, vector: np.ndarray, factors: np.ndarray) -> np.ndarray:
        return vector + self._directions @ (factors * (vector @ self._directions))


def _principal(columns: np.ndarray, change: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of ``I + columns change columns'`` on the span of the columns, and vectors."""
    basis, sizes, mixed = np.linalg.svd(columns, full_matrices=False)
    # Columns of zeros, and those that D leaves parallel to others, add nothing to the span.
    is_real = sizes > 1e-10 * sizes[0]
    basis, mixed = basis[:, is_real], sizes[is_real, None] * mixed[is_real]
    values, vectors = np.linalg.eigh(mixed @ change @ mixed.T)
    return 1 + values, basis @ vectors


def _products(factors: Sequence[np.ndarray], parts: Sequence[np.ndarray]) -> list[np.ndarray]:
    return [factor * part for factor, part in zip(factors, parts, strict=True)]


class LowRankFrame:
    """The map of a diagonal mass with a correction along a few directions.

    Parameters
    ----------
    scales, corrections : sequence of array
        One per variable, which broadcasts to it.
    directions : array
        Orthonormal columns over the entries of all variables.
    factors : array
        Stretch of each direction: ``1 / sqrt(curvature) - 1``.
    shapes : sequence of tuple of int
        Shape of each variable.
    """

    def __init__(
        self,
        scales: Sequence[Array],
        corrections: Sequence[Array],
        directions: Array,
        factors: Array,
        *,
        shapes: Sequence[tuple[int, ...]],
    ) -> None:
        self._scales, self._corrections = list(scales), list(corrections)
        self.shapes = tuple(shapes)
        self._directions, self._factors = directions, factors

    def to_frame(self, gradient: Point) -> Point:
        """Map a gradient to the frame."""
        stretched = self._stretched(_scaled(self._scales, gradient), self._factors)
        return _scaled(self._corrections, stretched)

    def from_frame(self, velocity: Point) -> Point:
        """Map a velocity from the frame to the rate at which the position moves."""
        stretched = self._stretched(_scaled(self._corrections, velocity), self._factors)
        return _scaled(self._scales, stretched)

    def variance(self, variance: Variance) -> Variance:
        """Return the variance unchanged: steps raise an error for known noise with such a mass."""
        return variance

    def damp_directions(self, velocity: Point, exponents: Array) -> Point:
        """Multiply the components of a velocity along each direction by ``exp(-exponent)``."""
        return self._stretched(velocity, arrays.exp(-exponents) - 1)

    def diagonal(self, index: int) -> Scaling:
        """Return the map of a variable on a curved manifold."""
        return Scaling(self._scales[index] * self._corrections[index])

    def _stretched(self, parts: Point, factors: Array) -> Point:
        sizes = [math.prod(shape) for shape in self.shapes]
        starts = np.cumsum([0, *sizes[:-1]])
        rows = [
            self._directions[start : start + size]
            for start, size in zip(starts, sizes, strict=True)
        ]
        pairs = list(zip(parts, rows, strict=True))
        along = sum(arrays.dot(v.ravel(), u) for v, u in pairs)
        moves = factors * along
        return tuple(v + arrays.dot(u, moves).reshape(v.shape) for v, u in pairs)


def _scaled(scales: Sequence[Array], parts: Point) -> Point:
    return tuple(scale * part for scale, part in zip(scales, parts, strict=True))

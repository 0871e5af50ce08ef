#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""A diagonal mass with some directions of their own.

With the scales S of the entries and orthonormal directions U, in which the posterior has the
curvatures :math:`\lambda` where it has one everywhere else,

.. math::

    M = S^{-1} [I + U (\Lambda - I) U^\top] S^{-1}, \qquad
    M^{-1/2} = S [I + U (\Lambda^{-1/2} - I) U^\top].

It costs two products with the directions, where a dense mass costs one with a matrix.
"""

from __future__ import annotations

import math

from collections.abc import Sequence
from copy import copy

import numpy as np
import pytensor.tensor as pt

from pytensor.tensor import TensorVariable

from pymc_geodesic.manifolds.product import Point
from pymc_geodesic.mass.arrays import joined, split
from pymc_geodesic.mass.frames import Frame, Scaling

__all__ = ["LowRankFrame", "LowRankMass"]


class LowRankMass:
    """A diagonal mass, corrected in a few directions.

    Parameters
    ----------
    scales : sequence of ndarray
        One per variable: ``1 / sqrt(mass)``, that broadcasts to it.
    directions : ndarray
        Orthonormal columns over the entries of all variables, in units of the scales; zero for
        entries of variables that are not flat. Columns of zeros count for nothing.
    curvatures : ndarray
        One per direction, in units of the scales.
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
        shapes: Sequence[tuple[int, ...]],
        dtype: str,
    ) -> None:
        self.shapes, self.dtype = tuple(shapes), dtype
        self.curvatures = np.asarray(curvatures, dtype=dtype)
        self._scales = [np.asarray(scale, dtype=dtype) for scale in scales]
        self._directions = np.asarray(directions, dtype=dtype)
        self._factors = np.asarray(self.curvatures**-0.5 - 1, dtype=dtype)

    def regrouped(
        self, arrays: Sequence[np.ndarray], *, shapes: Sequence[tuple[int, ...]]
    ) -> LowRankMass:
        """Return the same mass for other arrays of the same entries in the same order."""
        other = copy(self)
        other._scales, other.shapes = list(arrays[:-2]), tuple(shapes)
        return other

    @property
    def arrays(self) -> list[np.ndarray]:
        """Scales, directions, and by how much each direction is stretched."""
        return [*self._scales, self._directions, self._factors]

    def frame(self, arrays: Sequence[TensorVariable]) -> Frame:
        """Write the map to the frame of unit mass for symbolic ``arrays``."""
        *scales, directions, factors = arrays
        return LowRankFrame(scales, directions, factors, shapes=self.shapes)

    def rate(self, velocity: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Map velocities of the frame to the rates at which positions move."""
        stretched = split(self._stretched(joined(velocity), self._factors), self.shapes)
        return [scale * v for scale, v in zip(self._scales, stretched, strict=True)]

    def force(self, gradient: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Map gradients to the frame."""
        scaled = [scale * g for scale, g in zip(self._scales, gradient, strict=True)]
        return split(self._stretched(joined(scaled), self._factors), self.shapes)

    def whiten(self, displacement: Sequence[np.ndarray]) -> np.ndarray:
        """Map displacements to the frame, as one vector: the inverse of :meth:`rate`."""
        scaled = [x / scale for scale, x in zip(self._scales, displacement, strict=True)]
        return self._stretched(joined(scaled), 1 / (1 + self._factors) - 1)

    def refined(self, covariance: np.ndarray) -> LowRankMass:
        """Return the mass that whitens a diagonal covariance too, given in the present frame.

        Entries change their scales; the directions stay what they are in units of the scales.
        """
        variances = split(covariance, self.shapes)
        pairs = zip(self._scales, variances, strict=True)
        changes = [np.sqrt(v if scale.ndim else v.mean()) for scale, v in pairs]
        scales = [scale * change for scale, change in zip(self._scales, changes, strict=True)]
        return LowRankMass(
            scales,
            directions=self._directions,
            curvatures=self.curvatures,
            shapes=self.shapes,
            dtype=self.dtype,
        )

    def _stretched(self, vector: np.ndarray, factors: np.ndarray) -> np.ndarray:
        return vector + self._directions @ (factors * (vector @ self._directions))


class LowRankFrame:
    """The map of a diagonal mass with some directions of their own.

    Parameters
    ----------
    scales : sequence of TensorVariable
        One per variable, that broadcasts to it.
    directions : TensorVariable
        Orthonormal columns over the entries of all variables.
    factors : TensorVariable
        By how much each direction is stretched: ``1 / sqrt(curvature) - 1``.
    shapes : sequence of tuple of int
        Shape of each variable.
    """

    def __init__(
        self,
        scales: Sequence[TensorVariable],
        directions: TensorVariable,
        factors: TensorVariable,
        *,
        shapes: Sequence[tuple[int, ...]],
    ) -> None:
        self._scales, self.shapes = list(scales), tuple(shapes)
        self._directions, self._factors = directions, factors

    def to_frame(self, gradient: Point) -> Point:
        """Map a gradient to the frame."""
        pairs = zip(self._scales, gradient, strict=True)
        return self._stretched(tuple(scale * g for scale, g in pairs))

    def from_frame(self, velocity: Point) -> Point:
        """Map a velocity from the frame to the rate at which the position moves."""
        pairs = zip(self._scales, self._stretched(velocity), strict=True)
        return tuple(scale * v for scale, v in pairs)

    def variance(
        self, variance: tuple[TensorVariable | None, ...]
    ) -> tuple[TensorVariable | None, ...]:
        """Leave the variance of a known noise as it is: steps refuse one with such a mass."""
        return variance

    def diagonal(self, index: int) -> Scaling:
        """Return the map of a variable on a curved manifold."""
        return Scaling(self._scales[index])

    def _stretched(self, parts: Point) -> Point:
        sizes = [math.prod(shape) for shape in self.shapes]
        starts = np.cumsum([0, *sizes[:-1]])
        rows = [
            self._directions[start : start + size]
            for start, size in zip(starts, sizes, strict=True)
        ]
        pairs = list(zip(parts, rows, strict=True))
        along = sum(pt.dot(v.ravel(), u) for v, u in pairs)
        moves = self._factors * along
        return tuple(v + pt.dot(u, moves).reshape(v.shape) for v, u in pairs)

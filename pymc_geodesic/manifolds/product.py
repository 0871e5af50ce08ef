#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Several variables, each on its own manifold, moved together."""

from __future__ import annotations

import math

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds.base import Manifold, Shape

__all__ = ["Point", "Product", "along_rows", "joined_entries", "split_entries"]

Point = tuple[Array, ...]
"""One tensor per factor: a point, a tangent vector or a gradient on a product."""


def along_rows(per_row: Array, x: Array) -> Array:
    """Give an array with one entry per row the axes of ``x``; a scalar is unchanged."""
    return per_row[(..., *[None] * (x.ndim - 1))] if per_row.ndim else per_row


def joined_entries(parts: Point) -> Array:
    """Put the entries of all parts into one vector."""
    return arrays.concatenate([part.ravel() for part in parts])


def split_entries(vector: Array, shapes: Sequence[Shape]) -> Point:
    """Give the entries of a vector to parts of these shapes: undo :func:`joined_entries`."""
    sizes = [math.prod(shape) for shape in shapes]
    ends = accumulate(sizes)
    return tuple(
        vector[end - size : end].reshape(shape)
        for end, size, shape in zip(ends, sizes, shapes, strict=True)
    )


class Product:
    """The product of manifolds, whose points are tuples with one tensor per factor.

    Parameters
    ----------
    factors : sequence of Manifold
        The manifold of each variable.
    shapes : sequence of tuple of int
        The shape of each embedded variable, batch axes included.
    """

    def __init__(self, factors: Sequence[Manifold], *, shapes: Sequence[Shape]) -> None:
        self.factors = tuple(factors)
        self.shapes = tuple(tuple(int(size) for size in shape) for shape in shapes)

    @property
    def _pairs(self) -> list[tuple[Manifold, Shape]]:
        return list(zip(self.factors, self.shapes, strict=True))

    @property
    def batch_shapes(self) -> tuple[Shape, ...]:
        """Shape of the array of points of each factor."""
        return tuple(factor.batch_shape(shape) for factor, shape in self._pairs)

    @property
    def point_dims(self) -> tuple[int, ...]:
        """Intrinsic dimension of one point of each factor."""
        return tuple(factor.dim(factor.core_shape(shape)) for factor, shape in self._pairs)

    @property
    def dims(self) -> tuple[int, ...]:
        """Intrinsic dimension of each factor, summed over its points."""
        return tuple(factor.dim_of(shape) for factor, shape in self._pairs)

    @property
    def dim(self) -> int:
        """Intrinsic dimension of the product."""
        return sum(self.dims)

    @property
    def has_geodesics(self) -> bool:
        """Whether points of all factors can follow geodesics."""
        return all(factor.has_geodesics for factor in self.factors)

    def to_tangent(self, x: Point, u: Point) -> Point:
        """Project ``u`` onto the tangent space at ``x``, factor by factor."""
        return tuple(m.to_tangent(*pair) for m, *pair in zip(self.factors, x, u, strict=True))

    def geodesic(self, x: Point, v: Point, t: Array) -> tuple[Point, Point]:
        """Follow the geodesic from ``x`` along ``v`` for time ``t``, and remove rounding drift.

        The time is one number, or one for each entry of the first axis that all factors share.
        """
        moved = [
            m.geodesic(position, velocity, along_rows(t, velocity))
            for m, position, velocity in zip(self.factors, x, v, strict=True)
        ]
        positions, velocities = zip(*moved, strict=True)
        return self.project(positions), velocities

    def project(self, x: Point) -> Point:
        """Return the nearest point of the product."""
        return tuple(m.project(position) for m, position in zip(self.factors, x, strict=True))

    def random_point(self, noise: Point) -> Point:
        """Turn standard normals into a random point; see :meth:`Manifold.random_point`."""
        return tuple(m.random_point(part) for m, part in zip(self.factors, noise, strict=True))

    def fold(self, x: Point, v: Point) -> tuple[Point, Point]:
        """Choose the representative that ``embed`` would give; see :meth:`Manifold.fold`."""
        folded = [m.fold(*pair) for m, *pair in zip(self.factors, x, v, strict=True)]
        positions, velocities = zip(*folded, strict=True)
        return positions, velocities

    def align(self, u: Point, at: Point, x: Point) -> Point:
        """Carry vectors to the representative nearest to ``x``; see :meth:`Manifold.align`."""
        return tuple(m.align(*parts) for m, *parts in zip(self.factors, u, at, x, strict=True))

    def nearest(self, x: Point, reference: Point) -> Point:
        """Return the representatives nearest to a reference; see :meth:`Manifold.nearest`."""
        return tuple(m.nearest(*pair) for m, *pair in zip(self.factors, x, reference, strict=True))

    def squared_norm(self, v: Point) -> Point:
        """Squared length of every tangent vector, one array per factor, of its batch shape."""
        return tuple(m.squared_norm(velocity) for m, velocity in zip(self.factors, v, strict=True))

    def lengths(self, time: Array) -> tuple[Array, ...]:
        """Distance that a point of each factor moves in ``time`` at unit velocity."""
        return tuple(time for _ in self.factors)

    def to_frame(self, gradient: Point) -> Point:
        """Map a gradient to the frame of the velocities: here the embedding itself."""
        return gradient

    def variance_to_frame(self, variance: tuple[Any, ...]) -> tuple[Any, ...]:
        """Map the variance of a gradient's noise to that frame."""
        return variance

    def damp_directions(self, velocity: Point, exponents: Array) -> Point:
        """Damp a velocity along the directions of the frame: here there are none."""
        return velocity

    def __repr__(self) -> str:
        """List the factors with their shapes."""
        parts = [f"{m!r}{shape}" for m, shape in self._pairs]
        return f"Product({' x '.join(parts)})"

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Symmetric matrices by their eigenvalues and eigenvectors, one or one for each point."""

from __future__ import annotations

import math

from collections.abc import Callable

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds import Manifold
from pymc_geodesic.manifolds.base import Shape

__all__ = ["Map", "Spectrum", "applied", "in_tangent_space", "mapped"]

Map = Callable[[Array], Array]


class Spectrum:
    """Symmetric matrices over the entries of points.

    Parameters
    ----------
    values : array, shape (..., D)
        Eigenvalues.
    vectors : array, shape (..., D, D), optional
        Eigenvectors in columns; those of a diagonal matrix by default.
    """

    def __init__(self, values, vectors=None) -> None:
        self.values, self.vectors = values, vectors

    def map(self, function: Map) -> Spectrum:
        """Return a function of the matrices."""
        return Spectrum(function(self.values), self.vectors)

    def times(self, function: Map, x: Array) -> Array:
        """Multiply points, whose entries may have several axes, by a function of the matrices."""
        if self.vectors is None:
            return function(self.values) * x
        flat = x if x.ndim == self.values.ndim else x.reshape(self.values.shape)
        along = function(self.values) * _product(self.vectors.mT, flat)
        found = _product(self.vectors, along)
        if flat is x:
            return found
        return arrays.with_shape(found.reshape(x.shape), arrays.static_shape(x))

    def matrix(self, function: Map) -> Array:
        """Return a function of one matrix."""
        if self.vectors is None:
            return arrays.diag(function(self.values))
        return arrays.dot(self.vectors * function(self.values), self.vectors.T)

    def of_points(self, numbers: Array) -> Array:
        """Give numbers, one for each point or for all, the axes of the eigenvalues."""
        numbers = arrays.asarray(numbers)
        n_batch = self.values.ndim - 1
        while numbers.ndim > n_batch + 1:
            numbers = numbers[..., 0]
        return numbers


def _product(matrices, x: Array) -> Array:
    return arrays.dot(matrices, x) if x.ndim == 1 else (matrices @ x[..., None])[..., 0]


def mapped(function: Map, number: Array | Spectrum) -> Array | Spectrum:
    """Return a function of a number for each entry, or of symmetric matrices."""
    return number.map(function) if isinstance(number, Spectrum) else function(number)


def applied(number: Array | Spectrum, x: Array) -> Array:
    """Multiply by a number for each entry, or by symmetric matrices."""
    if isinstance(number, Spectrum):
        return number.times(lambda values: values, x)
    return number * x


def in_tangent_space(manifold: Manifold, x: Array, matrices: Array, *, shape: Shape) -> Spectrum:
    r"""Return :math:`\Lambda(x) V \Lambda(x)` for matrices V over the entries of points.

    Parameters
    ----------
    manifold : Manifold
        The manifold of the points.
    x : array, shape (*batch, *core)
        Points.
    matrices : array, shape (*batch, D, D)
        A symmetric matrix for each of them.
    shape : tuple of int
        Shape of the points.
    """
    batch, core = manifold.batch_shape(shape), manifold.core_shape(shape)
    size = math.prod(core)

    def projected(rows: Array) -> Array:
        """Project every row of the matrices, all rows of a point along a new first axis."""
        first = arrays.moveaxis(rows, -2, 0).reshape((size, *batch, *core))
        tangent = manifold.to_tangent(x, first).reshape((size, *batch, size))
        return arrays.moveaxis(tangent, 0, -2)

    both = projected(projected(matrices).mT)
    values, vectors = arrays.eigh(0.5 * (both + both.mT))
    # Across the manifold, and along directions without noise, rounding makes them negative.
    return Spectrum(arrays.maximum(values, 0), vectors)

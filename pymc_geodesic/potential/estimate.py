#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""What transitions, estimators and potentials exchange: estimates, their noise, its spectrum.

The covariance of the noise of a curved point's gradient, from the scores of single rows.

Noise has a direction: data that are spread along one axis push a mean direction along this axis.
Only :math:`\Lambda V \Lambda` acts, at the point where the gradient is taken, so V itself, over the
entries of the embedding, is averaged over transitions and projected at each new point. For the
von Mises-Fisher distribution, whose scores are the rows times a number, V does not depend on the
point at all.
"""

from __future__ import annotations

import math

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds import Manifold, Point, Product
from pymc_geodesic.manifolds.base import Shape

if TYPE_CHECKING:
    from pymc_geodesic.potential.estimator import HalvedEstimator, MinibatchEstimator

__all__ = [
    "MOST_ENTRIES",
    "Estimate",
    "Estimator",
    "Map",
    "PotentialEnergy",
    "Spectrum",
    "Variance",
    "Width",
    "applied",
    "covariance_of_points",
    "has_matrix_noise",
    "in_tangent_space",
    "mapped",
    "matrix_shape",
]


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


type Width = Array | tuple[Array, ...]
"""Length over which poles are softened, for all variables or one for each."""

type Variance = tuple[Array | Spectrum | None, ...]
"""Variance of each variable's gradient; see :class:`Estimate`."""


class Estimate(NamedTuple):
    """A gradient of the potential energy, with the variance of its noise.

    Attributes
    ----------
    gradient : tuple of array
        Estimate of dU/dx in the frame of the velocities, one tensor per variable.
    variance : tuple of (array, Spectrum or None)
        Variance of every gradient coordinate, broadcastable to the variable, or covariance of the
        gradient of each of its points in the tangent space there; None means zero.
    covariance : array or None
        Covariance between the entries of all variables, instead of variances.
    difference : tuple of array or None
        A random tangent vector in the frame of the velocities, whose covariance is that of the
        gradient's noise, independent of it; see :class:`~pymc_geodesic.potential.HalvedEstimator`.
    """

    gradient: Point
    variance: Variance
    covariance: Array | None = None
    difference: Point | None = None


type Estimator = MinibatchEstimator | HalvedEstimator
"""What estimates the potential energy and its gradient at a position, from the rows of a batch."""


class PotentialEnergy(Protocol):
    """A potential energy on a product of manifolds, from the rows of one batch."""

    @property
    def variables(self) -> Sequence[Any]:
        """The variables that move."""
        ...

    @property
    def manifold(self) -> Product:
        """The product of manifolds on which they move."""
        ...

    def values(self, position: Point) -> Point:
        """Map a point to PyMC's values."""
        ...

    def energy(self, position: Point, indices: Sequence[Array]) -> Array:
        """U at a point."""
        ...

    def gradient(self, position: Point, indices: Sequence[Array], *, width: Width) -> Point:
        """dU/dx in the embedding, with poles softened over ``width``."""
        ...

    def energy_and_gradient(self, position: Point, indices: Sequence[Array]) -> tuple[Array, Point]:
        """U and dU/dx."""
        ...

    @property
    def is_standardised(self) -> bool:
        """Whether the coordinates of some effects are not those on which rows depend."""
        ...

    def carried(self, vectors: Point, center: Point, position: Point) -> Point:
        """Carry gradients from a center to a position."""
        ...


# Entries of a point up to which its noise is a matrix, which is decomposed in each transition: 3
# entries take 5 microseconds, 32 take 150.
MOST_ENTRIES = 32


def has_matrix_noise(manifold: Manifold, shape: Shape) -> bool:
    """Return whether the noise of a variable's points is measured as matrices.

    On flat space a point is an entry. A point with one direction needs no matrix, and one of many
    entries would need a large one.
    """
    core = manifold.core_shape(shape)
    is_curved = not manifold.is_flat and manifold.dim(core) > 1
    return is_curved and math.prod(core) <= MOST_ENTRIES


def matrix_shape(manifold: Manifold, shape: Shape) -> Shape:
    """Return the shape of a matrix over the entries of each point."""
    size = math.prod(manifold.core_shape(shape))
    return (*manifold.batch_shape(shape), size, size)


def covariance_of_points(manifold: Manifold, scores: Array, *, shape: Shape) -> Array:
    """Return the covariance of the mean of the scores of independent rows, for each point.

    Parameters
    ----------
    manifold : Manifold
        The manifold of the points.
    scores : array, shape (n, *shape)
        Scores of n rows in the embedding.
    shape : tuple of int
        Shape of the points.

    Returns
    -------
    Array, shape (*batch, D, D)
        The unbiased estimate.
    """
    *batch, size, _ = matrix_shape(manifold, shape)
    n, size_of_batch = scores.shape[0], arrays.size_along(scores, 0)
    rows = arrays.moveaxis((scores - scores.mean(axis=0)).reshape((n, *batch, size)), 0, -2)
    return rows.mT @ rows / (size_of_batch * (size_of_batch - 1))

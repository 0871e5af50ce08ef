#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The interfaces between transitions, gradient estimators and potentials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds import Manifold, Point, Product
from pymc_geodesic.potential.spectrum import Spectrum

__all__ = ["Estimate", "Estimator", "MovedVariable", "PotentialEnergy", "Variance", "Width"]

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


class Estimator(Protocol):
    """Estimate the potential energy and its gradient at a position, from the rows of one batch."""

    def __call__(self, position: Point) -> Estimate:
        """Return the estimate at ``position``; called once per transition."""
        ...

    def energy(self, position: Point) -> Array:
        """Return an estimate of the energy, from the same rows as the gradient."""
        ...

    def energy_change(self, start: Point, end: Point) -> Array:
        """Return an estimate of the change of the energy, whose gradient is the estimate's."""
        ...

    def energy_and_gradient(self, position: Point) -> tuple[Array, Point]:
        """Return the energy and its gradient, for exact tests."""
        ...


class MovedVariable(Protocol):
    """A variable of a kernel, or several that it carries in one array."""

    @property
    def name(self) -> str:
        """Name, for messages."""
        ...

    @property
    def position(self) -> Array:
        """Placeholder for the point of the embedding."""
        ...

    @property
    def manifold(self) -> Manifold:
        """The manifold on which it moves."""
        ...

    def to_position(self, value: Array) -> Array:
        """Map PyMC's value to the point of the embedding."""
        ...

    def to_value(self, position: Array) -> Array:
        """Map a point of the embedding to PyMC's value."""
        ...


class PotentialEnergy(Protocol):
    """A potential energy on a product of manifolds, from the rows of one batch."""

    @property
    def variables(self) -> Sequence[MovedVariable]:
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

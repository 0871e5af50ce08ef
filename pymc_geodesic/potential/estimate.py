#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The interfaces between transitions, gradient estimators and potentials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from pytensor.tensor import TensorVariable

from pymc_geodesic.manifolds import Manifold, Point, Product
from pymc_geodesic.potential.spectrum import Spectrum

__all__ = ["Estimate", "Estimator", "MovedVariable", "PotentialEnergy", "Variance", "Width"]

type Width = TensorVariable | tuple[TensorVariable, ...]
"""Length over which poles are softened, for all variables or one for each."""

type Variance = tuple[TensorVariable | Spectrum | None, ...]
"""Variance of each variable's gradient; see :class:`Estimate`."""


class Estimate(NamedTuple):
    """A gradient of the potential energy, with the variance of its noise.

    Attributes
    ----------
    gradient : tuple of TensorVariable
        Estimate of dU/dx in the frame of the velocities, one tensor per variable.
    variance : tuple of (TensorVariable, Spectrum or None)
        Variance of every gradient coordinate, broadcastable to the variable, or covariance of the
        gradient of each of its points in the tangent space there; None means zero.
    covariance : TensorVariable or None
        Covariance between the entries of all variables, instead of variances.
    difference : tuple of TensorVariable or None
        A random tangent vector in the frame of the velocities, whose covariance is that of the
        gradient's noise, independent of it; see :class:`~pymc_geodesic.potential.HalvedEstimator`.
    """

    gradient: Point
    variance: Variance
    covariance: TensorVariable | None = None
    difference: Point | None = None


class Estimator(Protocol):
    """Estimate the potential energy and its gradient at a position, from the rows of one batch."""

    def __call__(self, position: Point) -> Estimate:
        """Return the estimate at ``position``; called once per transition."""
        ...

    def energy(self, position: Point) -> TensorVariable:
        """Return an estimate of the energy, from the same rows as the gradient."""
        ...

    def energy_change(self, start: Point, end: Point) -> TensorVariable:
        """Return an estimate of the change of the energy, whose gradient is the estimate's."""
        ...

    def energy_and_gradient(self, position: Point) -> tuple[TensorVariable, Point]:
        """Return the energy and its gradient, for exact tests."""
        ...


class MovedVariable(Protocol):
    """A variable of a kernel, or several that it carries in one array."""

    @property
    def name(self) -> str:
        """Name, for messages."""
        ...

    @property
    def position(self) -> TensorVariable:
        """Placeholder for the point of the embedding."""
        ...

    @property
    def manifold(self) -> Manifold:
        """The manifold on which it moves."""
        ...

    def to_position(self, value: TensorVariable) -> TensorVariable:
        """Map PyMC's value to the point of the embedding."""
        ...

    def to_value(self, position: TensorVariable) -> TensorVariable:
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

    @property
    def positions(self) -> Point:
        """Placeholders for the embedded points."""
        ...

    @property
    def conditioned(self) -> list[TensorVariable]:
        """Inputs that are constant during the transitions of a call."""
        ...

    @property
    def row_weights(self) -> Sequence[TensorVariable]:
        """Those of them that are factors of rows, the last ones."""
        ...

    @property
    def indices(self) -> tuple[TensorVariable, ...]:
        """Inputs for the rows of each source of minibatches."""
        ...

    def energy(self, position: Point, indices: Sequence[TensorVariable]) -> TensorVariable:
        """U at a point."""
        ...

    def gradient(
        self, position: Point, indices: Sequence[TensorVariable], *, width: Width
    ) -> Point:
        """dU/dx in the embedding, with poles softened over ``width``."""
        ...

    def energy_and_gradient(
        self, position: Point, indices: Sequence[TensorVariable]
    ) -> tuple[TensorVariable, Point]:
        """U and dU/dx."""
        ...

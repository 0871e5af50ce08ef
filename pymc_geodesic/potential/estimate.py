#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The interface between transitions and gradient estimators."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from pytensor.tensor import TensorVariable

from pymc_geodesic.manifolds import Point

__all__ = ["Estimate", "Estimator"]


class Estimate(NamedTuple):
    """A gradient of the potential energy, with the variance of its noise.

    Attributes
    ----------
    gradient : tuple of TensorVariable
        Estimate of dU/dx in the frame in which velocities are held, one tensor per variable.
    variance : tuple of (TensorVariable or None)
        Variance of every gradient coordinate, broadcastable to the variable; None means zero.
    """

    gradient: Point
    variance: tuple[TensorVariable | None, ...]


class Estimator(Protocol):
    """Estimate the potential energy and its gradient at a position, from the rows of one batch."""

    def __call__(self, position: Point) -> Estimate:
        """Return the estimate at ``position``; asked for once per transition."""
        ...

    def energy(self, position: Point) -> TensorVariable:
        """Return an estimate of the energy, from the same rows as the gradient."""
        ...

    def energy_and_gradient(self, position: Point) -> tuple[TensorVariable, Point]:
        """Return the energy and its gradient, for exact tests."""
        ...

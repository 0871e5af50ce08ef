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
    memory : tuple of TensorVariable
        The estimator's memory for the next transition.
    """

    gradient: Point
    variance: tuple[TensorVariable | None, ...]
    memory: tuple[TensorVariable, ...]


class Estimator(Protocol):
    """Estimate the potential energy and its gradient at a position."""

    def __call__(self, position: Point, memory: tuple[TensorVariable, ...]) -> Estimate:
        """Return the estimate at ``position``."""
        ...

    def energy(self, position: Point) -> TensorVariable:
        """Return an estimate of the energy, from the same rows as the gradient."""
        ...

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What a transition reads and returns, and what it may ask of the gradient."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from pytensor.tensor import TensorVariable

from pymc_geodesic.manifolds import Point

__all__ = ["Estimate", "Estimator", "State"]


class State(NamedTuple):
    """The chain's state: only what the next transition needs.

    Attributes
    ----------
    position, velocity : tuple of TensorVariable
        One tensor a variable, of the variable's embedded shape. With a mass, velocities are held in
        the frame in which it is one; see :mod:`pymc_geodesic.manifolds.weighted`.
    thermostat : tuple of TensorVariable
        One tensor a thermostat; empty for dynamics without one.
    estimator : tuple of TensorVariable
        Memory of the gradient estimator, such as a running noise covariance.
    auxiliary : tuple of TensorVariable
        Variables that the dynamics add to the model's, other than velocities.
    """

    position: Point
    velocity: Point = ()
    thermostat: tuple[TensorVariable, ...] = ()
    estimator: tuple[TensorVariable, ...] = ()
    auxiliary: tuple[TensorVariable, ...] = ()


class Estimate(NamedTuple):
    """A gradient of the potential energy, with what is known of its noise.

    Attributes
    ----------
    gradient : tuple of TensorVariable
        Estimate of dU/dx in the frame in which velocities are held, one tensor a variable.
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

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What a transition reads and returns."""

from __future__ import annotations

from typing import NamedTuple

from pytensor.tensor import TensorVariable

from pymc_geodesic.manifolds import Point

__all__ = ["State"]


class State(NamedTuple):
    """The chain's state: only what the next transition needs.

    Attributes
    ----------
    position, velocity : tuple of TensorVariable
        One tensor a variable, of the variable's embedded shape. With a mass, velocities are held in
        the frame in which it is one; see :mod:`pymc_geodesic.mass.frames`.
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

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stochastic gradient Langevin dynamics."""

from __future__ import annotations

import pytensor.tensor as pt

from pytensor.tensor import TensorVariable

from pymc_geodesic.algorithms.state import State
from pymc_geodesic.manifolds import Point
from pymc_geodesic.potential.estimate import Estimator

__all__ = ["sgld"]


def sgld(state: State, *, estimator: Estimator, noise: Point, step_size: TensorVariable) -> State:
    r"""One step of Welling and Teh (2011), equation 4.

    .. math::

        \theta \leftarrow \theta - \tfrac{\epsilon}{2} \nabla \tilde U(\theta)
            + \sqrt{\epsilon}\, z
    """
    estimate = estimator(state.position, state.estimator)
    terms = zip(state.position, estimate.gradient, noise, strict=True)
    position = tuple(x - 0.5 * step_size * g + pt.sqrt(step_size) * z for x, g, z in terms)
    return State(position, estimator=estimate.memory)

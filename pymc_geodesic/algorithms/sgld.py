#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stochastic gradient Langevin dynamics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.algorithms.algorithm import Algorithm, Setup, flat_only
from pymc_geodesic.algorithms.tuning_rules import langevin_rule
from pymc_geodesic.arrays import Array
from pymc_geodesic.kernel.interface import Dynamics
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.potential.estimate import Estimator

__all__ = ["SGLD", "State", "init", "transition"]


class State(NamedTuple):
    """Positions."""

    position: Point


def init(setup: Setup, rng: np.random.Generator) -> State:
    """Begin at the position."""
    return State(setup.position)


def transition(
    state: State,
    gradient: Estimator,
    noise: Point,
    *,
    manifold: Product,
    step_size: Array,
) -> State:
    r"""One step of Welling and Teh (2011), equation 4.

    .. math::

        \theta \leftarrow \theta - \tfrac{\epsilon}{2} \nabla \tilde U(\theta)
            + \sqrt{\epsilon}\, z
    """
    estimate = gradient(state.position)
    terms = zip(state.position, estimate.gradient, noise, strict=True)
    position = tuple(x - 0.5 * step_size * g + arrays.sqrt(step_size) * z for x, g, z in terms)
    return State(position)


SGLD = Algorithm(
    state=State,
    init=init,
    dynamics=Dynamics(transition),
    order=1,
    tuning_rule=langevin_rule,
    require=flat_only,
    step_size_power=2,
)

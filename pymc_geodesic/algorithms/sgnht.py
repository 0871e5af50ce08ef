#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stochastic gradient Nose-Hoover thermostats, as first printed."""

from __future__ import annotations

import pytensor.tensor as pt

from pytensor.tensor import TensorVariable

from pymc_geodesic.algorithms.gsgnht import thermostat_noise_variance
from pymc_geodesic.algorithms.state import State
from pymc_geodesic.algorithms.thermostat import Thermostat
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.potential.estimate import Estimator

__all__ = ["sgnht_euler"]


def sgnht_euler(
    state: State,
    *,
    manifold: Product,
    thermostat: Thermostat,
    estimator: Estimator,
    noise: Point,
    step_size: TensorVariable,
    diffusion: TensorVariable,
) -> State:
    r"""One transition of Algorithm 1 of Ding et al. (2014), first order, on Euclidean space.

    .. math::

        p &\leftarrow p - \xi p h - \nabla \tilde U(\theta) h + \sqrt{2 A h}\, z \\
        \theta &\leftarrow \theta + p h \\
        \xi &\leftarrow \xi + (p^\top p / n - 1) h

    Each line uses the new values of the lines above it.
    """
    thermostat = thermostat.on(manifold)
    estimate = estimator(state.position, state.estimator)
    terms = zip(
        state.velocity,
        thermostat.friction(state.thermostat),
        estimate.gradient,
        noise,
        estimate.variance,
        strict=True,
    )
    velocity = tuple(
        p
        - xi * p * step_size
        - g * step_size
        + pt.sqrt(thermostat_noise_variance(diffusion, step_size, v)) * z
        for p, xi, g, z, v in terms
    )
    position, velocity = manifold.geodesic(state.position, velocity, step_size)
    xi = thermostat.heat(state.thermostat, velocity, step_size)
    return State(position, velocity, xi, estimate.memory)

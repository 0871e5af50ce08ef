#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stochastic gradient Nose-Hoover thermostats, as first published, on Euclidean space."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from pymc_geodesic import arrays
from pymc_geodesic.algorithms.algorithm import Algorithm, Integrator, flat_only
from pymc_geodesic.algorithms.gsgnht import State, gsgnht, thermostat_noise_variance
from pymc_geodesic.algorithms.thermostat import Grouping, Thermostat
from pymc_geodesic.arrays import Array
from pymc_geodesic.kernel.interface import Dynamics
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.potential.estimate import Estimator

__all__ = ["euler_transition", "sgnht"]


def euler_transition(
    state: State,
    gradient: Estimator,
    noise: Point,
    *,
    manifold: Product,
    step_size: Array,
    diffusion: Array,
    grouping: Grouping,
) -> State:
    r"""One transition of Algorithm 1 of Ding et al. (2014), first order, on Euclidean space.

    .. math::

        p &\leftarrow p - \xi p h - \nabla \tilde U(\theta) h + \sqrt{2 A h}\, z \\
        \theta &\leftarrow \theta + p h \\
        \xi &\leftarrow \xi + (p^\top p / n - 1) h

    Each line uses the new values of the lines above it.
    """
    thermostat = Thermostat(manifold, grouping=grouping)
    estimate = gradient(state.position)
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
        + arrays.sqrt(thermostat_noise_variance(diffusion, step_size, v)) * z
        for p, xi, g, z, v in terms
    )
    position, velocity = manifold.geodesic(state.position, velocity, step_size)
    xi = thermostat.heat(state.thermostat, velocity, step_size)
    return State(position, velocity, xi)


def sgnht(grouping: Grouping, *, integrator: Integrator = "splitting") -> Algorithm:
    """Return the algorithm: the geodesic splitting, or the steps as first published."""
    splitting = replace(gsgnht(grouping), require=flat_only)
    if integrator == "splitting":
        return splitting
    dynamics = Dynamics(partial(euler_transition, grouping=grouping))
    return replace(splitting, dynamics=dynamics, order=1, accelerates=False, balances=False)

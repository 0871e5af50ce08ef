#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stochastic gradient Hamiltonian Monte Carlo, as first published, on Euclidean space."""

from __future__ import annotations

from dataclasses import replace

from pymc_geodesic import arrays
from pymc_geodesic.algorithms.algorithm import Algorithm, Integrator
from pymc_geodesic.algorithms.sggmc import SGHMC, State
from pymc_geodesic.algorithms.splitting import FRICTION_MARGIN
from pymc_geodesic.arrays import Array
from pymc_geodesic.kernel.interface import Dynamics
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.potential.estimate import Estimator

__all__ = ["euler_transition", "sghmc"]


def euler_transition(
    state: State,
    gradient: Estimator,
    noise: Point,
    *,
    manifold: Product,
    step_size: Array,
    friction: Array,
) -> State:
    r"""One transition of Algorithm 2 of Chen, Fox and Guestrin (2014), first order.

    .. math::

        \theta &\leftarrow \theta + \epsilon r \\
        r &\leftarrow r - \epsilon \nabla \tilde U(\theta) - \epsilon C r
            + \sqrt{2 (C - \epsilon V / 2) \epsilon}\, z

    The second line uses the new position. If the friction is too small to balance V, it is raised.
    """
    position, momentum = manifold.geodesic(state.position, state.velocity, step_size)
    estimate = gradient(position)
    terms = zip(momentum, estimate.gradient, noise, estimate.variance, strict=True)
    moved = []
    for r, g, z, v in terms:
        heat = 0.0 if v is None else 0.5 * step_size * v
        c = friction if v is None else arrays.maximum(friction, FRICTION_MARGIN * heat)
        injected = arrays.sqrt(2 * (c - heat) * step_size) * z
        moved.append(r - step_size * g - step_size * c * r + injected)
    return State(position, tuple(moved))


def sghmc(integrator: Integrator = "splitting") -> Algorithm:
    """Return the algorithm: the symmetric splitting, or the steps as first published."""
    if integrator == "splitting":
        return SGHMC
    return replace(SGHMC, dynamics=Dynamics(euler_transition), order=1)

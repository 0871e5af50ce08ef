#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stochastic gradient geodesic Monte Carlo, and SGHMC, as first published, on flat space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.algorithms.algorithm import (
    Algorithm,
    Integrator,
    Setup,
    draw_velocity,
    flat_only,
)
from pymc_geodesic.algorithms.splitting import (
    FRICTION_MARGIN,
    balanced_kick,
    damp,
    drift,
    kick,
    least_friction,
    matched_friction,
    momentum_decay,
)
from pymc_geodesic.algorithms.tuning_rules import friction_noise, friction_rule
from pymc_geodesic.arrays import Array
from pymc_geodesic.kernel.interface import Dynamics
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.potential.estimate import Estimator, applied

__all__ = ["SGGMC", "SGHMC", "State", "init", "sghmc", "transition"]


class State(NamedTuple):
    """Positions and velocities."""

    position: Point
    velocity: Point


def init(setup: Setup, rng: np.random.Generator) -> State:
    """Begin with velocities at temperature one."""
    return State(setup.position, draw_velocity(setup, rng))


def transition(
    state: State,
    gradient: Estimator,
    noise: Point,
    *,
    manifold: Product,
    step_size: Array,
    friction: Array,
) -> State:
    r"""One transition of Algorithm 1 of Liu, Zhu and Song (2016), in the order A, B, O, B, A.

    .. math::

        \text{A:}\;& (x, v) \leftarrow \text{geodesic}(x, v, \epsilon / 2) \\
        \text{B:}\;& v \leftarrow e^{-C \epsilon / 2} v \\
        \text{O:}\;& v \leftarrow \Lambda(x) [v - f \epsilon \nabla \tilde U(x) + \sqrt{s}\, z]

    with f and s from :func:`~pymc_geodesic.algorithms.splitting.balanced_kick`. On a curved
    manifold V, f and s are matrices in the tangent space at x. If V is the covariance of the
    gradient, it leaves the density :math:`\exp(-U(x) - v^\top v / 2)` invariant, up
    to terms of the order :math:`\epsilon^2`.
    """
    position, velocity = drift(manifold, state.position, state.velocity, step_size / 2)
    estimate = gradient(position)
    frictions = matched_friction(manifold, friction, step_size, estimate.variance)
    scales, noise_variance = balanced_kick(manifold, frictions, step_size, estimate.variance)
    force = tuple(applied(f, g) for f, g in zip(scales, estimate.gradient, strict=True))

    velocity = damp(velocity, frictions, step_size / 2)
    velocity = kick(
        manifold,
        position,
        velocity,
        gradient=force,
        noise=noise,
        step_size=step_size,
        noise_variance=noise_variance,
    )
    velocity = damp(velocity, frictions, step_size / 2)
    position, velocity = drift(manifold, position, velocity, step_size / 2)
    return State(position, velocity)


def statistics(
    state: State,
    *,
    step_size: float,
    noise_variance: float,
    parameters: Mapping[str, float],
    **measured: Any,
) -> dict[str, float]:
    """Return the largest friction in use: the given one, or the one the gradient noise needs."""
    needed = float(least_friction(step_size, noise_variance))
    return {"friction": max(parameters["friction"], needed)}


SGGMC = Algorithm(
    state=State,
    init=init,
    dynamics=Dynamics(transition),
    parameters={"friction": momentum_decay},
    statistics=statistics,
    statistic_names=("friction",),
    tuning_rule=friction_rule,
    heating_noise=friction_noise,
)
SGHMC = replace(SGGMC, require=flat_only)


def _euler_transition(
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
    return replace(SGHMC, dynamics=Dynamics(_euler_transition), order=1)

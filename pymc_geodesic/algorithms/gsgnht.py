#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stochastic gradient Nose-Hoover thermostats: geodesic, and as first published, on flat space."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

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
    balanced_estimate,
    damp_along,
    damp_balanced,
    drift,
    kick,
    momentum_decay,
)
from pymc_geodesic.algorithms.thermostat import Grouping, Thermostat
from pymc_geodesic.algorithms.tuning_rules import thermostat_rule
from pymc_geodesic.arrays import Array
from pymc_geodesic.kernel.interface import Dynamics
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.potential.estimate import Estimator, Spectrum, mapped

__all__ = [
    "State",
    "euler_transition",
    "gsgnht",
    "init",
    "recorded",
    "sgnht",
    "thermostat_noise_variance",
    "transition",
]


class State(NamedTuple):
    """Positions, velocities and the frictions that control their temperature."""

    position: Point
    velocity: Point
    thermostat: tuple[Array, ...]


def init(setup: Setup, rng: np.random.Generator, *, grouping: Grouping) -> State:
    """Begin with thermostats at their value for exact gradients."""
    thermostat = Thermostat(setup.manifold, grouping=grouping)
    frictions = thermostat.initial(setup.parameters["diffusion"])
    velocity = draw_velocity(setup, rng)
    return State(setup.position, velocity, tuple(xi.astype(setup.dtype) for xi in frictions))


def thermostat_noise_variance(
    diffusion: Array,
    step_size: Array,
    variance: Array | Spectrum | None,
) -> Array | Spectrum:
    """Variance to inject in O: ``(2 A - eps V) eps``, but at least zero.

    Zero as a lower bound is enough: the thermostat finds the friction that balances
    the remaining noise.
    """
    injected = 2 * diffusion * step_size
    if variance is None:
        return injected
    return mapped(lambda v: arrays.maximum(injected - step_size**2 * v, 0), variance)


def transition(
    state: State,
    gradient: Estimator,
    noise: Point,
    *,
    manifold: Product,
    step_size: Array,
    diffusion: Array,
    grouping: Grouping,
    tuning: Array | None = None,
    measured_noise: Point = (),
) -> State:
    r"""One transition of Algorithm 2 of Liu, Zhu and Song (2016), in the order A, B, O, B, A.

    .. math::

        \text{A:}\;& (x, v) \leftarrow \text{geodesic}(x, v, \epsilon / 2), \quad
                     \xi \leftarrow \xi + \tfrac{\epsilon}{2} (v^\top v / m - 1) \\
        \text{B:}\;& v \leftarrow e^{-\xi \epsilon / 2} v \\
        \text{O:}\;& v \leftarrow \Lambda(x) [v - \epsilon \nabla \tilde U(x)
                     + \sqrt{2 A \epsilon}\, z]

    with m the intrinsic dimension. ``tuning`` is described in
    :meth:`~pymc_geodesic.algorithms.thermostat.Thermostat.heat`, and the friction that is added for
    ``measured_noise`` in :func:`~pymc_geodesic.algorithms.splitting.damp_balanced`. With
    ``measured_noise``, O is that of
    :func:`~pymc_geodesic.algorithms.splitting.balanced_kick`, with which the width of the positions
    does not depend on the friction. The kick of an estimate with a ``difference`` is between two
    :func:`~pymc_geodesic.algorithms.splitting.damp_along`. On Euclidean space this is the splitting
    form of SGNHT.

    With exact gradients and one thermostat, up to terms of the order :math:`\epsilon^2`, it leaves
    the density :math:`\exp(-U(x) - v^\top v / 2 - m (\xi - A)^2 / 2)` invariant.
    """
    thermostat = Thermostat(manifold, grouping=grouping)
    position, velocity = drift(manifold, state.position, state.velocity, step_size / 2)
    xi = thermostat.heat(state.thermostat, velocity, step_size / 2, tuning=tuning)

    damped = partial(damp_balanced, manifold, noise=measured_noise, step_size=step_size)
    velocity = damped(velocity, thermostat.friction(xi))
    estimate = gradient(position)
    if measured_noise:
        estimate, injected = balanced_estimate(
            manifold, estimate, measured_noise, friction=diffusion, step_size=step_size
        )
    else:
        injected = tuple(
            thermostat_noise_variance(diffusion, step_size, v) for v in estimate.variance
        )
    damp_difference = partial(damp_along, difference=estimate.difference, step_size=step_size)
    velocity = kick(
        manifold,
        position,
        damp_difference(velocity),
        gradient=estimate.gradient,
        noise=noise,
        step_size=step_size,
        noise_variance=injected,
    )
    velocity = damped(damp_difference(velocity), thermostat.friction(xi))

    position, velocity = drift(manifold, position, velocity, step_size / 2)
    xi = thermostat.heat(xi, velocity, step_size / 2, tuning=tuning)
    return State(position, velocity, xi)


def recorded(
    state: State,
    *,
    manifold: Product,
    step_size: Array,
    measured_noise: Point = (),
    **parameters: Array,
) -> Point:
    r"""Return the point that becomes the draw: with measured noise, that of the next gradient.

    For a Gaussian posterior of curvature :math:`\lambda` and a velocity of variance T, with the O
    of :func:`~pymc_geodesic.algorithms.splitting.balanced_kick`, the variances between and in the
    middle of transitions are

    .. math::

        T \left(\frac{1}{\lambda} - \frac{\epsilon^2}{4}\right)
        \qquad \text{and} \qquad \frac{T}{\lambda}

    at any step size and friction (the stationary covariance of the linear map, without expansion).
    Frictions that are measured for each entry make each T one, and so the second is exact.
    """
    if not measured_noise:
        return state.position
    return drift(manifold, state.position, state.velocity, step_size / 2)[0]


def gsgnht(grouping: Grouping) -> Algorithm:
    """Return the algorithm with thermostats shared according to ``grouping``."""
    return Algorithm(
        state=State,
        init=partial(init, grouping=grouping),
        dynamics=Dynamics(partial(transition, grouping=grouping), recorded=recorded),
        parameters={"diffusion": momentum_decay},
        tuning_rule=thermostat_rule,
        grouping=grouping,
        accelerates=True,
        damps=True,
        balances=grouping == "shared",
    )


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

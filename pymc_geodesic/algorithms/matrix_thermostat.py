#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Stochastic gradient Nose-Hoover thermostats with a matrix of frictions, on Euclidean space.

One thermostat assumes that the gradient noise is the same in all directions, and one per entry that
it is independent between entries. A symmetric matrix :math:`\Xi` adapts to any covariance V, also
of noise that entries share: it settles around :math:`A + \epsilon V / 2`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.algorithms.algorithm import Algorithm, Setup, draw_velocity, flat_only
from pymc_geodesic.algorithms.gsgnht import thermostat_noise_variance
from pymc_geodesic.algorithms.splitting import drift, kick, momentum_decay
from pymc_geodesic.arrays import Array
from pymc_geodesic.kernel.interface import Dynamics
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.manifolds.product import joined_entries, split_entries
from pymc_geodesic.potential.estimate import Estimator

__all__ = ["MATRIX_SGNHT", "State", "init", "transition"]


class State(NamedTuple):
    """Positions, velocities, and the matrix of frictions over the entries of all variables."""

    position: Point
    velocity: Point
    thermostat: tuple[Array]


def init(setup: Setup, rng: np.random.Generator) -> State:
    """Begin with the frictions that balance exact gradients."""
    frictions = setup.parameters["diffusion"] * np.eye(setup.manifold.dim, dtype=setup.dtype)
    return State(setup.position, draw_velocity(setup, rng), (frictions,))


def transition(
    state: State,
    gradient: Estimator,
    noise: Point,
    *,
    manifold: Product,
    step_size: Array,
    diffusion: Array,
) -> State:
    r"""One transition with the matrix of Ding et al. (2014), equation 11, as A, B, O, B, A.

    .. math::

        \text{A:}\;& \theta \leftarrow \theta + \tfrac{\epsilon}{2} p, \quad
                     \Xi \leftarrow \Xi + \tfrac{\epsilon}{2} (p p^\top - I) \\
        \text{B:}\;& p \leftarrow e^{-\Xi \epsilon / 2} p \\
        \text{O:}\;& p \leftarrow p - \epsilon \nabla \tilde U(\theta) + \sqrt{2 A \epsilon}\, z

    Up to terms of the order :math:`\epsilon^2` it leaves the density
    :math:`\exp(-U(\theta) - p^\top p / 2 - \| \Xi - A - \epsilon V / 2 \|_F^2 / 2)` invariant. The
    mean of the diagonal then moves like a single thermostat.
    """
    position, velocity = drift(manifold, state.position, state.velocity, step_size / 2)
    momentum = joined_entries(velocity)
    [frictions] = state.thermostat
    frictions = _heat(frictions, momentum, step_size / 2)
    damping = arrays.expm(-0.5 * step_size * frictions)

    velocity = split_entries(damping @ momentum, manifold.shapes)
    estimate = gradient(position)
    velocity = kick(
        manifold,
        position,
        velocity,
        gradient=estimate.gradient,
        noise=noise,
        step_size=step_size,
        noise_variance=tuple(
            thermostat_noise_variance(diffusion, step_size, v) for v in estimate.variance
        ),
    )
    momentum = damping @ joined_entries(velocity)
    velocity = split_entries(momentum, manifold.shapes)

    position, velocity = drift(manifold, position, velocity, step_size / 2)
    return State(position, velocity, (_heat(frictions, momentum, step_size / 2),))


def _heat(frictions: Array, momentum: Array, time: Array) -> Array:
    return frictions + time * (
        arrays.outer(momentum, momentum)
        - np.eye(arrays.static_shape(momentum)[0], dtype=momentum.dtype)
    )


def statistics(state: State, **measured: Any) -> dict[str, float]:
    """Return the mean friction, the largest, and the largest between two entries."""
    frictions = np.asarray(state.thermostat[0], dtype=float)
    diagonal = np.diag(frictions)
    # A state that is not finite is undone, so that eigenvalues exist.
    return {
        "thermostat": float(diagonal.mean()),
        "thermostat_largest": float(np.linalg.eigvalsh(frictions)[-1]),
        "thermostat_off_diagonal": float(np.abs(frictions - np.diag(diagonal)).max()),
    }


MATRIX_SGNHT = Algorithm(
    state=State,
    init=init,
    dynamics=Dynamics(transition),
    parameters={"diffusion": momentum_decay},
    statistics=statistics,
    statistic_names=("thermostat", "thermostat_largest", "thermostat_off_diagonal"),
    require=flat_only,
    needs_step_size="a matrix of thermostats",
)

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stochastic gradient Nose-Poincare Hamiltonian Monte Carlo, resampled at every trajectory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.algorithms.algorithm import Algorithm, Setup, draw_velocity, flat_only
from pymc_geodesic.algorithms.splitting import damp, drift, kick, least_friction
from pymc_geodesic.algorithms.tuning_rules import trajectory_rule
from pymc_geodesic.arrays import Array
from pymc_geodesic.kernel.interface import Dynamics
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.potential.estimate import Estimate, Estimator

__all__ = ["State", "Trajectory", "init", "sgnphmc", "transition"]

# The largest logarithm whose exponential is finite.
LARGEST_LOG = 700.0


class Trajectory(NamedTuple):
    """The state of a trajectory besides position and velocity.

    Attributes
    ----------
    count : array
        Steps made in this trajectory.
    log_s : array
        Logarithm of the time scaling s.
    q : array
        Momentum of s.
    kinetic : array
        Kinetic energy ``v.v / 2 + q^2 / 2Q`` at the start of the trajectory.
    error : array
        The Hamiltonian without its factor s, at the last kick; zero for exact dynamics.
    start : Point
        Position at the start of the trajectory.
    """

    count: Array
    log_s: Array
    q: Array
    kinetic: Array
    error: Array
    start: Point


class State(NamedTuple):
    """Positions, velocities ``p / s`` in the frame of the mass, and the trajectory."""

    position: Point
    velocity: Point
    trajectory: Trajectory


def init(setup: Setup, rng: np.random.Generator) -> State:
    """Begin before a trajectory; the trajectory draws its velocities itself."""
    zeros = [np.zeros((), setup.dtype) for _ in range(5)]
    start = tuple(np.zeros_like(x) for x in setup.position)
    return State(setup.position, draw_velocity(setup, rng), Trajectory._make([*zeros, start]))


def transition(
    state: State,
    gradient: Estimator,
    noise: Point,
    *,
    manifold: Product,
    step_size: Array,
    thermal_mass: Array,
    n_leapfrog: int,
) -> State:
    r"""One explicit step of the dynamics of the Nose-Poincare Hamiltonian.

    .. math::

        H = s \left[U(\theta) + \frac{p^\top M^{-1} p}{2 s^2} + \frac{q^2}{2 Q} + D \log s - H_0
            \right]

    in terms of :math:`v = L^{-1} p / s`, in the symmetric order A, S, B, O, B, S, A, each the exact
    flow of a part of H, or damping (Nose 2001):

    .. math::

        \text{A:}\;& \theta \leftarrow \theta + \tfrac{\epsilon}{2} L^{-\top} v, \quad
            q \leftarrow q + \tfrac{\epsilon}{4} v^\top v \\
        \text{S:}\;& r = 1 + \tfrac{\epsilon q}{4 Q}, \quad
            s \leftarrow r^2 s, \quad q \leftarrow q / r, \quad v \leftarrow v / r^2 \\
        \text{B:}\;& v \leftarrow e^{-C \epsilon / 2} v, \quad
            \sinh(C \epsilon) = \epsilon^2 V / 2 \\
        \text{O:}\;& v \leftarrow v - \epsilon L^{-1} \nabla \tilde U, \quad
            q \leftarrow q - \epsilon (\tilde U + D \log s + D - H_0)

    At the start of each trajectory v and q are drawn anew, s is one and :math:`H_0` makes H zero.
    :math:`\tilde U - H_0` is formed from the energies of the same minibatch at both positions: the
    difference of two minibatches' energies would be noise. With control variates it is corrected as
    the gradient is.
    """
    velocity, begun = _begun(
        state, noise, manifold=manifold, thermal_mass=thermal_mass, n_leapfrog=n_leapfrog
    )
    dim = float(manifold.dim)

    position, velocity, q = _move(manifold, state.position, velocity, begun.q, step_size)
    velocity, log_s, q = _rescale(velocity, begun.log_s, q, step_size, thermal_mass)

    estimate = gradient(position)
    difference = gradient.energy_change(begun.start, position)
    potential = difference - begun.kinetic + dim * log_s
    error = potential + _kinetic(manifold, velocity) + 0.5 * q**2 / thermal_mass
    velocity = _kick(manifold, position, velocity, estimate, noise, step_size)
    q = q - step_size * (potential + dim)

    velocity, log_s, q = _rescale(velocity, log_s, q, step_size, thermal_mass)
    position, velocity, q = _move(manifold, position, velocity, q, step_size)
    trajectory = Trajectory(begun.count + 1, log_s, q, begun.kinetic, error, begun.start)
    return State(position, velocity, trajectory)


def _begun(
    state: State,
    noise: Point,
    *,
    manifold: Product,
    thermal_mass: Array,
    n_leapfrog: int,
) -> tuple[Point, Trajectory]:
    """Return the velocity and the trajectory, drawn anew if the last trajectory has ended."""
    *fresh_velocity, fresh_q = noise
    carried = state.trajectory
    first = arrays.equal(carried.count % n_leapfrog, 0)
    velocity = _either(first, fresh_velocity, state.velocity)
    start = _either(first, state.position, carried.start)
    log_s = arrays.where(first, 0.0, carried.log_s)
    q = arrays.where(first, arrays.sqrt(thermal_mass) * fresh_q, carried.q)
    kinetic = _kinetic(manifold, velocity) + 0.5 * q**2 / thermal_mass
    kinetic = arrays.where(first, kinetic, carried.kinetic)
    return velocity, Trajectory(carried.count, log_s, q, kinetic, carried.error, start)


def _either(condition: Array, yes: Sequence[Array], no: Point) -> Point:
    return tuple(arrays.where(condition, a, b) for a, b in zip(yes, no, strict=True))


def _kinetic(manifold: Product, velocity: Point) -> Array:
    return 0.5 * sum(square.sum() for square in manifold.squared_norm(velocity))


def _move(manifold, position, velocity, q, step_size):
    """Follow the flow of the momenta's kinetic energy for half a step: A."""
    position, velocity = drift(manifold, position, velocity, step_size / 2)
    return position, velocity, q + 0.5 * step_size * _kinetic(manifold, velocity)


def _kick(
    manifold: Product,
    position: Point,
    velocity: Point,
    estimate: Estimate,
    noise: Point,
    step_size: Array,
) -> Point:
    """Follow the force for a step, between two halves of the damping: B, O, B for velocities."""
    friction = tuple(
        np.zeros(()) if v is None else least_friction(step_size, v) for v in estimate.variance
    )
    velocity = damp(velocity, friction, step_size / 2)
    velocity = kick(
        manifold,
        position,
        velocity,
        gradient=estimate.gradient,
        noise=noise[: len(velocity)],
        step_size=step_size,
        noise_variance=tuple(np.zeros(()) for _ in velocity),
    )
    return damp(velocity, friction, step_size / 2)


def _rescale(velocity, log_s, q, step_size, thermal_mass):
    """Follow the flow of the kinetic energy of q for half a step: S."""
    ratio = 1 + 0.25 * step_size * q / thermal_mass
    velocity = tuple(v / ratio**2 for v in velocity)
    return velocity, log_s + 2 * arrays.log(arrays.abs(ratio)), q / ratio


def statistics(state: State, **measured: Any) -> dict[str, float]:
    """Return s and the bracket of H at the end of the draw."""
    # It is not a number for a chain that has diverged.
    log_s = min(float(state.trajectory.log_s), LARGEST_LOG)
    return {"time_scaling": float(np.exp(log_s)), "energy_error": float(state.trajectory.error)}


def _as_fast_as_positions(step_size: float, dim: int) -> float:
    return float(dim)


def sgnphmc(n_leapfrog: int, *, noise_is_known: bool = False) -> Algorithm:
    """Return the algorithm with a given number of steps per trajectory."""
    return Algorithm(
        state=State,
        init=init,
        dynamics=Dynamics(partial(transition, n_leapfrog=n_leapfrog)),
        parameters={"thermal_mass": _as_fast_as_positions},
        scalar_noise=True,
        statistics=statistics,
        statistic_names=("time_scaling", "energy_error"),
        tuning_rule=partial(trajectory_rule, n_leapfrog=n_leapfrog, noise_is_known=noise_is_known),
        require=flat_only,
    )

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stochastic gradient Nose-Poincare Hamiltonian Monte Carlo, resampled at every trajectory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytensor.tensor as pt

from pytensor.tensor import TensorVariable

from pymc_geodesic.algorithms.splitting import damp, drift, kick, least_friction
from pymc_geodesic.algorithms.state import State
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.potential.estimate import Estimator

__all__ = ["NosePoincare", "sgnphmc"]


class NosePoincare(NamedTuple):
    """What a trajectory carries besides position and velocity: ``State.auxiliary``.

    Attributes
    ----------
    count : TensorVariable
        Steps made in this trajectory.
    log_s : TensorVariable
        Logarithm of the time scaling s.
    q : TensorVariable
        Momentum of s.
    kinetic : TensorVariable
        Kinetic energy ``v.v / 2 + q^2 / 2Q`` at the start of the trajectory.
    error : TensorVariable
        The Hamiltonian without its factor s, at the last kick; zero for exact dynamics.
    start : Point
        Position at the start of the trajectory.
    """

    count: TensorVariable
    log_s: TensorVariable
    q: TensorVariable
    kinetic: TensorVariable
    error: TensorVariable
    start: Point

    @classmethod
    def from_state(cls, auxiliary: tuple[TensorVariable, ...]) -> NosePoincare:
        """Read what :meth:`to_state` wrote."""
        return cls(*auxiliary[:5], start=tuple(auxiliary[5:]))

    def to_state(self) -> tuple[TensorVariable, ...]:
        """Write all tensors one after the other."""
        return (*self[:5], *self.start)


def sgnphmc(
    state: State,
    *,
    manifold: Product,
    estimator: Estimator,
    noise: Point,
    step_size: TensorVariable,
    thermal_mass: TensorVariable,
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
    difference of two minibatches' energies would be noise.
    """
    *fresh_velocity, fresh_q = noise
    carried = NosePoincare.from_state(state.auxiliary)
    first = pt.eq(carried.count % n_leapfrog, 0)
    velocity = tuple(
        pt.switch(first, z, v) for z, v in zip(fresh_velocity, state.velocity, strict=True)
    )
    start = tuple(
        pt.switch(first, x, y) for x, y in zip(state.position, carried.start, strict=True)
    )
    log_s = pt.switch(first, 0.0, carried.log_s)
    q = pt.switch(first, pt.sqrt(thermal_mass) * fresh_q, carried.q)
    kinetic = pt.switch(
        first, _kinetic(manifold, velocity) + 0.5 * q**2 / thermal_mass, carried.kinetic
    )

    position, velocity, q = _move(manifold, state.position, velocity, q, step_size)
    velocity, log_s, q = _rescale(velocity, log_s, q, step_size, thermal_mass)

    estimate = estimator(position, state.estimator)
    potential = (
        estimator.energy(position) - estimator.energy(start) - kinetic + float(manifold.dim) * log_s
    )
    error = potential + _kinetic(manifold, velocity) + 0.5 * q**2 / thermal_mass
    friction = tuple(
        np.zeros(()) if v is None else least_friction(step_size, v) for v in estimate.variance
    )
    velocity = damp(velocity, friction, step_size / 2)
    velocity = kick(
        manifold,
        position,
        velocity,
        gradient=estimate.gradient,
        noise=tuple(fresh_velocity),
        step_size=step_size,
        noise_variance=tuple(np.zeros(()) for _ in velocity),
    )
    q = q - step_size * (potential + float(manifold.dim))
    velocity = damp(velocity, friction, step_size / 2)

    velocity, log_s, q = _rescale(velocity, log_s, q, step_size, thermal_mass)
    position, velocity, q = _move(manifold, position, velocity, q, step_size)
    carried = NosePoincare(carried.count + 1, log_s, q, kinetic, error, start)
    return State(position, velocity, estimator=estimate.memory, auxiliary=carried.to_state())


def _kinetic(manifold: Product, velocity: Point) -> TensorVariable:
    return 0.5 * sum(square.sum() for square in manifold.squared_norm(velocity))


def _move(manifold, position, velocity, q, step_size):
    """Follow the flow of the momenta's kinetic energy for half a step: A."""
    position, velocity = drift(manifold, position, velocity, step_size / 2)
    return position, velocity, q + 0.5 * step_size * _kinetic(manifold, velocity)


def _rescale(velocity, log_s, q, step_size, thermal_mass):
    """Follow the flow of the kinetic energy of q for half a step: S."""
    ratio = 1 + 0.25 * step_size * q / thermal_mass
    velocity = tuple(v / ratio**2 for v in velocity)
    return velocity, log_s + 2 * pt.log(pt.abs(ratio)), q / ratio

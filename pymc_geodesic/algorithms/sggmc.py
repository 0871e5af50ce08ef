#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stochastic gradient geodesic Monte Carlo."""

from __future__ import annotations

from pytensor.tensor import TensorVariable

from pymc_geodesic.algorithms.splitting import balanced_kick, damp, drift, kick, matched_friction
from pymc_geodesic.algorithms.state import State
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.potential.estimate import Estimator

__all__ = ["sggmc"]


def sggmc(
    state: State,
    *,
    manifold: Product,
    estimator: Estimator,
    noise: Point,
    step_size: TensorVariable,
    friction: TensorVariable,
) -> State:
    r"""One transition of Algorithm 1 of Liu, Zhu and Song (2016), in the order A, B, O, B, A.

    .. math::

        \text{A:}\;& (x, v) \leftarrow \text{geodesic}(x, v, \epsilon / 2) \\
        \text{B:}\;& v \leftarrow e^{-C \epsilon / 2} v \\
        \text{O:}\;& v \leftarrow \Lambda(x) [v - f \epsilon \nabla \tilde U(x) + \sqrt{s}\, z]

    with f and s from :func:`~pymc_geodesic.algorithms.splitting.balanced_kick`.
    """
    position, velocity = drift(manifold, state.position, state.velocity, step_size / 2)
    estimate = estimator(position, state.estimator)
    frictions = matched_friction(manifold, friction, step_size, estimate.variance)
    scales, noise_variance = balanced_kick(manifold, frictions, step_size, estimate.variance)
    force = tuple(f * g for f, g in zip(scales, estimate.gradient, strict=True))

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
    return State(position, velocity, estimator=estimate.memory)

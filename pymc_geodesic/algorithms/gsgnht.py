#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Geodesic stochastic gradient Nose-Hoover thermostats."""

from __future__ import annotations

import pytensor.tensor as pt

from pytensor.tensor import TensorVariable

from pymc_geodesic.algorithms.splitting import damp, drift, kick
from pymc_geodesic.algorithms.state import State
from pymc_geodesic.algorithms.thermostat import Thermostat
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.potential.estimate import Estimator

__all__ = ["gsgnht", "thermostat_noise_variance"]


def thermostat_noise_variance(
    diffusion: TensorVariable, step_size: TensorVariable, variance: TensorVariable | None
) -> TensorVariable:
    """Variance to inject in O: ``(2 A - eps V) eps``, and never less than zero.

    Nothing more is needed than to stop at zero: the thermostat finds the friction that balances
    whatever noise is left.
    """
    injected = 2 * diffusion * step_size
    return injected if variance is None else pt.maximum(injected - step_size**2 * variance, 0)


def gsgnht(
    state: State,
    *,
    manifold: Product,
    thermostat: Thermostat,
    estimator: Estimator,
    noise: Point,
    step_size: TensorVariable,
    diffusion: TensorVariable,
    tuning: TensorVariable | None = None,
) -> State:
    r"""One transition of Algorithm 2 of Liu, Zhu and Song (2016), in the order A, B, O, B, A.

    .. math::

        \text{A:}\;& (x, v) \leftarrow \text{geodesic}(x, v, \epsilon / 2), \quad
                     \xi \leftarrow \xi + \tfrac{\epsilon}{2} (v^\top v / m - 1) \\
        \text{B:}\;& v \leftarrow e^{-\xi \epsilon / 2} v \\
        \text{O:}\;& v \leftarrow \Lambda(x) [v - \epsilon \nabla \tilde U(x)
                     + \sqrt{2 A \epsilon}\, z]

    with m the intrinsic dimension; ``tuning`` is described in
    :meth:`~pymc_geodesic.algorithms.thermostat.Thermostat.heat`. On Euclidean space this is the
    splitting form of SGNHT.
    """
    thermostat = thermostat.on(manifold)
    position, velocity = drift(manifold, state.position, state.velocity, step_size / 2)
    xi = thermostat.heat(state.thermostat, velocity, step_size / 2, tuning=tuning)

    velocity = damp(velocity, thermostat.friction(xi), step_size / 2)
    estimate = estimator(position, state.estimator)
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
    velocity = damp(velocity, thermostat.friction(xi), step_size / 2)

    position, velocity = drift(manifold, position, velocity, step_size / 2)
    xi = thermostat.heat(xi, velocity, step_size / 2, tuning=tuning)
    return State(position, velocity, xi, estimate.memory)

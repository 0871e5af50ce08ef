#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Stochastic gradient Riemannian Hamiltonian Monte Carlo on the probability simplex.

With the metric :math:`G = \operatorname{diag}(\theta)^{-1}` of Gamma variables, whose shares are
the probabilities, the printed drift :math:`\dot\theta = G^{-1/2} r` is :math:`\dot\phi = r` for
:math:`\phi = 2 \sqrt\theta`. The Hamiltonian part is therefore that of flat space, and only the
friction, :math:`G^{-1} = \theta`, depends on the position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.algorithms.algorithm import Algorithm, Setup
from pymc_geodesic.algorithms.sgrld import gamma_shape, simplex_only
from pymc_geodesic.algorithms.sgrld import init as draw_totals
from pymc_geodesic.algorithms.simplex_chart import floor_of, projection_of, size_of, total_of
from pymc_geodesic.arrays import Array
from pymc_geodesic.kernel.interface import Dynamics
from pymc_geodesic.kernel.streams import draw_noise
from pymc_geodesic.manifolds import LogSimplex, Point, Simplex
from pymc_geodesic.potential.estimate import Estimator
from pymc_geodesic.potential.variables import SampledVariable

__all__ = ["sgrhmc", "transition"]


class State(NamedTuple):
    """Log probabilities, log totals of the Gamma variables, and momenta."""

    position: Point
    log_totals: tuple[Array, ...]
    momentum: Point


class Roots(NamedTuple):
    r"""Square roots of the Gamma variables, :math:`\phi / 2`, and momenta."""

    position: Point
    momentum: Point


def enter(state: State) -> Roots:
    """Turn log probabilities and log totals into roots."""
    pairs = zip(state.position, state.log_totals, strict=True)
    return Roots(tuple(arrays.exp(0.5 * (x + total)) for x, total in pairs), state.momentum)


def leave(state: Roots) -> State:
    """Undo :func:`enter`."""
    logs = [2 * arrays.log(root) for root in state.position]
    totals = [arrays.logsumexp(log, axis=-1, keepdims=True) for log in logs]
    position = tuple(log - total for log, total in zip(logs, totals, strict=True))
    return State(position, tuple(totals), state.momentum)


def transition(
    state: Roots,
    gradient: Estimator,
    noise: Point,
    *,
    step_size: Array,
    gamma_shapes: Sequence[np.ndarray],
    **unused: Any,
) -> Roots:
    r"""One transition of the dynamics of Ma, Chen and Fox (2015), section 4.1, to second order.

    .. math::

        \dot\phi = r, \qquad
        \dot r = - \frac{\partial U}{\partial \phi} - \theta r + \sqrt{2 \theta}\, \dot W, \qquad
        - \frac{\partial U}{\partial \phi_k}
            = \frac{a_k - \tfrac12 - \theta_k}{\sqrt{\theta_k}} .

    Positions move by half a step before and after the momenta do. They are reflected at zero, as
    the momenta then are, and the force is regularised within half a step of zero. The kick and the
    noise make the friction exact at a fixed position. The noise of the gradient is not subtracted.
    """
    roots, momenta = _drift(state.position, state.momentum, step_size)
    log_pi = tuple(2 * arrays.log(x / arrays.sqrt(total_of(x**2))) for x in roots)
    estimate = gradient(log_pi)
    moved = []
    for x, r, g, z, shape in zip(
        roots, momenta, estimate.gradient, noise, gamma_shapes, strict=True
    ):
        theta = x**2
        pi = theta / total_of(theta)
        weights = projection_of(-g, pi) + (shape - size_of(theta)) * pi
        h = step_size * theta
        # The force of print ends in 1 / x, and one kick next to zero would throw a chain so far
        # that its friction, theta, holds it there. Potentials in log(x^2 + h^2 / 4) have no pole.
        force = (weights + 0.5) * x / (theta + step_size**2 / 4) - x
        kicked = arrays.exp(-h / 2) * r + step_size * arrays.cosh(h / 2) * force
        moved.append(arrays.exp(-h / 2) * (kicked + arrays.sqrt(2 * arrays.sinh(h)) * z))
    return Roots(*_drift(roots, tuple(moved), step_size))


def _drift(roots: Point, momenta: Point, step_size: Array) -> tuple[Point, Point]:
    """Move for half a step, and reflect at zero."""
    moved = [x + 0.25 * step_size * r for x, r in zip(roots, momenta, strict=True)]
    turned = tuple(arrays.where(x < 0, -r, r) for x, r in zip(moved, momenta, strict=True))
    return tuple(arrays.maximum(arrays.abs(x), np.sqrt(floor_of(x))) for x in moved), turned


def init(setup: Setup, rng: np.random.Generator, *, gamma_shapes: Sequence[np.ndarray]) -> State:
    """Draw the totals and momenta from their distributions."""
    drawn = draw_totals(setup, rng, gamma_shapes=gamma_shapes, counts=False)
    shapes = [x.shape for x in setup.position]
    momentum = tuple(z[0] for z in draw_noise(rng, 1, shapes, setup.dtype))
    return State(drawn.position, drawn.log_totals, momentum)


def sgrhmc() -> Algorithm:
    """Return the algorithm."""
    return Algorithm(
        state=State,
        # Before it is bound to variables it has no totals.
        init=partial(init, gamma_shapes=()),
        dynamics=Dynamics(transition, enter=enter, leave=leave),
        coordinates={Simplex: LogSimplex()},
        require=simplex_only,
        bind=_bound,
    )


def _bound(variables: Sequence[SampledVariable]) -> Algorithm:
    """Find the totals of every variable, which follow from its prior."""
    dtype = variables[0].position.dtype
    shapes = [np.asarray(gamma_shape(variable), dtype) for variable in variables]
    moves = partial(transition, gamma_shapes=shapes)
    return replace(
        sgrhmc(),
        init=partial(init, gamma_shapes=shapes),
        dynamics=Dynamics(moves, enter=enter, leave=leave),
    )

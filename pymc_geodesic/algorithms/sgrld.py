#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stochastic gradient Riemannian Langevin dynamics on the probability simplex."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytensor.tensor as pt

from pytensor.tensor import TensorVariable

from pymc_geodesic.algorithms.simplex_coordinates import SimplexCoordinates
from pymc_geodesic.algorithms.state import State
from pymc_geodesic.manifolds import Point
from pymc_geodesic.potential.estimate import Estimator

__all__ = ["enter", "leave", "metropolis_sgrld", "sgrld"]


def enter(state: State, *, coordinates: Sequence[SimplexCoordinates]) -> State:
    """Turn log probabilities, and the log totals before other auxiliaries, into coordinates."""
    totals, others = state.auxiliary[: len(coordinates)], state.auxiliary[len(coordinates) :]
    pairs = zip(coordinates, state.position, totals, strict=True)
    return state._replace(
        position=tuple(chart.from_log(*pair) for chart, *pair in pairs), auxiliary=others
    )


def leave(state: State, *, coordinates: Sequence[SimplexCoordinates]) -> State:
    """Undo :func:`enter`."""
    logs = [chart.to_log(theta) for chart, theta in zip(coordinates, state.position, strict=True)]
    positions, totals = zip(*logs, strict=True)
    return state._replace(position=positions, auxiliary=(*totals, *state.auxiliary))


def sgrld(
    state: State,
    *,
    coordinates: Sequence[SimplexCoordinates],
    estimator: Estimator,
    noise: Point,
    step_size: TensorVariable,
) -> State:
    r"""One step of Patterson and Teh (2013), equation 7 in the expanded-mean coordinates.

    ``state.position`` holds the coordinates :math:`\theta`.

    .. math::

        \theta_k \leftarrow \left| \theta_k + \tfrac{\epsilon}{2} \left(\alpha_k - \theta_k
            + \tfrac{N}{n} \sum_{d \in S} (n_{dk} - \pi_k n_{d \cdot})\right)
            + \sqrt{\epsilon \theta_k}\, z_k \right|
    """
    estimate = estimator(_log_probabilities(coordinates, state.position), state.estimator)
    moved = []
    for chart, theta, gradient, z in zip(
        coordinates, state.position, estimate.gradient, noise, strict=True
    ):
        mean, scale = chart.move(theta, -gradient, step_size)
        moved.append(chart.fold(mean + chart.noise(theta, scale, z)))
    return state._replace(position=tuple(moved), estimator=estimate.memory)


def metropolis_sgrld(
    state: State,
    *,
    coordinates: Sequence[SimplexCoordinates],
    energy_and_gradient: Callable[[Point], tuple[TensorVariable, Point]],
    noise: Point,
    step_size: TensorVariable,
) -> State:
    """Make the same step with exact gradients and a Metropolis-Hastings test: no bias.

    The last entry of ``noise`` decides the test; ``state.auxiliary`` counts the accepted steps. The
    step's proposal density takes the reflection into account.
    """
    *normals, decision = noise
    [n_accepted] = state.auxiliary
    energy, gradient = energy_and_gradient(_log_probabilities(coordinates, state.position))

    forward, proposals, inside = 0.0, [], pt.constant(np.array(True))
    for chart, theta, g, z in zip(coordinates, state.position, gradient, normals, strict=True):
        mean, scale = chart.move(theta, -g, step_size)
        raw = mean + chart.noise(theta, scale, z)
        inside &= chart.contains(raw)
        proposal = chart.fold(raw)
        forward += chart.log_proposal(proposal, mean, scale) + chart.log_density(theta, 0.0)
        proposals.append(proposal)

    new_energy, new_gradient = energy_and_gradient(_log_probabilities(coordinates, proposals))
    backward = 0.0
    pairs = zip(coordinates, state.position, proposals, new_gradient, strict=True)
    for chart, theta, proposal, g in pairs:
        mean, scale = chart.move(proposal, -g, step_size)
        backward += chart.log_proposal(theta, mean, scale) + chart.log_density(proposal, 0.0)

    log_ratio = energy - new_energy + backward - forward
    # The normal's distribution function gives a uniform number without another input.
    log_uniform = pt.log(0.5 * pt.erfc(-decision / np.sqrt(2.0)))
    accepted = inside & pt.lt(log_uniform, log_ratio)
    kept = tuple(
        pt.switch(accepted, new, old) for new, old in zip(proposals, state.position, strict=True)
    )
    count = n_accepted + accepted.astype(n_accepted.dtype)
    return state._replace(position=kept, auxiliary=(count,))


def _log_probabilities(coordinates: Sequence[SimplexCoordinates], position: Point) -> Point:
    return tuple(chart.log_pi(theta) for chart, theta in zip(coordinates, position, strict=True))

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stochastic gradient Riemannian Langevin dynamics on the probability simplex."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytensor.tensor as pt

from pytensor.tensor import TensorVariable

from pymc_geodesic.dynamics.simplex_coordinates import SimplexCoordinates
from pymc_geodesic.dynamics.state import Estimator, State
from pymc_geodesic.manifolds import Point

__all__ = ["metropolis_sgrld", "sgrld"]


def sgrld(
    state: State,
    *,
    coordinates: Sequence[SimplexCoordinates],
    estimator: Estimator,
    noise: Point,
    step_size: TensorVariable,
) -> State:
    r"""One step of Patterson and Teh (2013), equation 7 in the expanded-mean coordinates.

    ``state.position`` holds log probabilities, ``state.auxiliary`` the log total of each variable.

    .. math::

        \theta_k \leftarrow \left| \theta_k + \tfrac{\epsilon}{2} \left(\alpha_k - \theta_k
            + \tfrac{N}{n} \sum_{d \in S} (n_{dk} - \pi_k n_{d \cdot})\right)
            + \sqrt{\epsilon \theta_k}\, z_k \right|
    """
    estimate = estimator(state.position, state.estimator)
    moved = []
    terms = zip(coordinates, state.position, state.auxiliary, estimate.gradient, noise, strict=True)
    for chart, log_pi, log_total, gradient, z in terms:
        theta = chart.from_log(log_pi, log_total)
        mean, scale = chart.move(theta, -gradient, step_size)
        moved.append(chart.to_log(chart.fold(mean + chart.noise(theta, scale, z))))
    positions, totals = zip(*moved, strict=True)
    return State(positions, auxiliary=totals, estimator=estimate.memory)


def metropolis_sgrld(
    state: State,
    *,
    coordinates: Sequence[SimplexCoordinates],
    energy_and_gradient: Callable[[Point], tuple[TensorVariable, Point]],
    noise: Point,
    step_size: TensorVariable,
) -> State:
    """Make the same step with exact gradients and a Metropolis-Hastings test: no bias.

    The last entry of ``noise`` decides the test; the last entry of ``state.auxiliary`` counts the
    accepted steps. The step's proposal density takes the reflection into account.
    """
    *normals, decision = noise
    *log_totals, n_accepted = state.auxiliary
    energy, gradient = energy_and_gradient(state.position)

    forward, proposals, inside = 0.0, [], pt.constant(np.array(True))
    terms = zip(coordinates, state.position, log_totals, gradient, normals, strict=True)
    for chart, log_pi, log_total, g, z in terms:
        theta = chart.from_log(log_pi, log_total)
        mean, scale = chart.move(theta, -g, step_size)
        raw = mean + chart.noise(theta, scale, z)
        inside &= chart.contains(raw)
        proposal = chart.fold(raw)
        forward += chart.log_proposal(proposal, mean, scale) + chart.log_density(theta, 0.0)
        proposals.append(proposal)

    moved = [chart.to_log(p) for chart, p in zip(coordinates, proposals, strict=True)]
    positions, totals = zip(*moved, strict=True)
    new_energy, new_gradient = energy_and_gradient(positions)
    backward = 0.0
    pairs = zip(coordinates, state.position, log_totals, proposals, new_gradient, strict=True)
    for chart, log_pi, log_total, proposal, g in pairs:
        theta = chart.from_log(log_pi, log_total)
        mean, scale = chart.move(proposal, -g, step_size)
        backward += chart.log_proposal(theta, mean, scale) + chart.log_density(proposal, 0.0)

    log_ratio = energy - new_energy + backward - forward
    # The normal's distribution function gives a uniform number without another input.
    log_uniform = pt.log(0.5 * pt.erfc(-decision / np.sqrt(2.0)))
    accepted = inside & pt.lt(log_uniform, log_ratio)
    kept = [
        tuple(pt.switch(accepted, new, old) for new, old in zip(news, olds, strict=True))
        for news, olds in ((positions, state.position), (totals, log_totals))
    ]
    count = n_accepted + accepted.astype(n_accepted.dtype)
    return State(kept[0], auxiliary=(*kept[1], count), estimator=state.estimator)

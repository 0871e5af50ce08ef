#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stochastic gradient Riemannian Langevin dynamics on the probability simplex."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.algorithms.algorithm import Algorithm, Setup
from pymc_geodesic.algorithms.simplex_chart import Metric, SimplexCoordinates
from pymc_geodesic.algorithms.simplex_coordinates import COORDINATES
from pymc_geodesic.arrays import Array
from pymc_geodesic.distributions.symmetric_dirichlet import known_concentration
from pymc_geodesic.kernel.interface import Dynamics
from pymc_geodesic.manifolds import LogSimplex, Point, Simplex
from pymc_geodesic.potential.estimate import Estimator
from pymc_geodesic.potential.variables import SampledVariable

__all__ = [
    "Coordinates",
    "Parameterization",
    "State",
    "TestedCoordinates",
    "gamma_shape",
    "metropolis_transition",
    "sgrld",
    "simplex_only",
    "transition",
]

Parameterization = Literal["expanded_mean", "expanded_natural", "reduced_mean", "reduced_natural"]


class State(NamedTuple):
    """Log probabilities, and the log totals that some coordinates have in addition.

    ``n_accepted`` counts the steps that a Metropolis test has accepted in the last call.
    """

    position: Point
    log_totals: tuple[Array, ...]
    n_accepted: Array | None = None


class Coordinates(NamedTuple):
    r"""Coordinates :math:`\theta` of the simplex."""

    position: Point


class TestedCoordinates(NamedTuple):
    """Coordinates, and how many steps have been accepted."""

    position: Point
    n_accepted: Array


def enter(state: State, *, coordinates: Sequence[SimplexCoordinates]) -> NamedTuple:
    """Turn log probabilities and log totals into coordinates."""
    pairs = zip(coordinates, state.position, state.log_totals, strict=True)
    position = tuple(chart.from_log(*pair) for chart, *pair in pairs)
    if state.n_accepted is None:
        return Coordinates(position)
    return TestedCoordinates(position, arrays.zeros_like(state.n_accepted))


def leave(
    state: Coordinates | TestedCoordinates, *, coordinates: Sequence[SimplexCoordinates]
) -> State:
    """Undo :func:`enter`."""
    logs = [chart.to_log(theta) for chart, theta in zip(coordinates, state.position, strict=True)]
    positions, totals = zip(*logs, strict=True)
    return State(positions, totals, getattr(state, "n_accepted", None))


def transition(
    state: Coordinates,
    gradient: Estimator,
    noise: Point,
    *,
    step_size: Array,
    coordinates: Sequence[SimplexCoordinates],
    **unused: Any,
) -> Coordinates:
    r"""One step of Patterson and Teh (2013), equation 7 in the expanded-mean coordinates.

    ``state.position`` holds the coordinates :math:`\theta`.

    .. math::

        \theta_k \leftarrow \left| \theta_k + \tfrac{\epsilon}{2} \left(\alpha_k - \theta_k
            + \tfrac{N}{n} \sum_{d \in S} (n_{dk} - \pi_k n_{d \cdot})\right)
            + \sqrt{\epsilon \theta_k}\, z_k \right|
    """
    estimate = gradient(_log_probabilities(coordinates, state.position))
    moved = []
    for chart, theta, slope, z in zip(
        coordinates, state.position, estimate.gradient, noise, strict=True
    ):
        mean, scale = chart.move(theta, -slope, step_size)
        moved.append(chart.fold(mean + chart.noise(theta, scale, z)))
    return Coordinates(tuple(moved))


def metropolis_transition(
    state: TestedCoordinates,
    gradient: Estimator,
    noise: Point,
    *,
    step_size: Array,
    coordinates: Sequence[SimplexCoordinates],
    **unused: Any,
) -> TestedCoordinates:
    """Make the same step with exact gradients and a Metropolis-Hastings test: no bias.

    The last entry of ``noise`` decides the test; ``state.n_accepted`` counts the accepted steps.
    The step's proposal density takes the reflection into account.
    """
    *normals, decision = noise
    energy, slopes = gradient.energy_and_gradient(_log_probabilities(coordinates, state.position))

    forward, proposals, inside = 0.0, [], np.array(True)
    for chart, theta, g, z in zip(coordinates, state.position, slopes, normals, strict=True):
        mean, scale = chart.move(theta, -g, step_size)
        raw = mean + chart.noise(theta, scale, z)
        inside &= chart.contains(raw)
        proposal = chart.fold(raw)
        forward += chart.log_proposal(proposal, mean, scale) + chart.log_density(theta, 0.0)
        proposals.append(proposal)

    new_energy, new_slopes = gradient.energy_and_gradient(
        _log_probabilities(coordinates, proposals)
    )
    backward = 0.0
    pairs = zip(coordinates, state.position, proposals, new_slopes, strict=True)
    for chart, theta, proposal, g in pairs:
        mean, scale = chart.move(proposal, -g, step_size)
        backward += chart.log_proposal(theta, mean, scale) + chart.log_density(proposal, 0.0)

    log_ratio = energy - new_energy + backward - forward
    # The normal's distribution function gives a uniform number without another input.
    log_uniform = arrays.log(0.5 * arrays.erfc(-decision / np.sqrt(2.0)))
    accepted = inside & (log_uniform < log_ratio)
    kept = tuple(
        arrays.where(accepted, new, old) for new, old in zip(proposals, state.position, strict=True)
    )
    count = state.n_accepted + accepted.astype(state.n_accepted.dtype)
    return TestedCoordinates(kept, count)


def _log_probabilities(
    coordinates: Sequence[SimplexCoordinates], position: Sequence[Array]
) -> Point:
    return tuple(chart.log_pi(theta) for chart, theta in zip(coordinates, position, strict=True))


def init(
    setup: Setup,
    rng: np.random.Generator,
    *,
    gamma_shapes: Sequence[np.ndarray],
    counts: bool,
) -> State:
    """Draw the totals from their distribution, which does not depend on the probabilities."""
    totals = []
    for x, gamma_shape in zip(setup.position, gamma_shapes, strict=True):
        gammas = rng.gamma(gamma_shape, size=(*x.shape[:-1], 1))
        totals.append(np.log(gammas).astype(setup.dtype))
    return State(setup.position, tuple(totals), np.zeros((), setup.dtype) if counts else None)


def statistics(state: State, *, n_steps: int, **measured: Any) -> dict[str, float]:
    """Return the share of steps that the test has accepted; one without a test."""
    accepted = state.n_accepted
    return {"acceptance_rate": 1.0 if accepted is None else float(accepted) / n_steps}


def sgrld(
    *,
    parameterization: Parameterization = "expanded_mean",
    metric: Metric = "fisher",
    metropolis: bool = False,
) -> Algorithm:
    """Return the algorithm in given coordinates, perhaps with a test."""
    algorithm = Algorithm(
        state=State,
        # Before it is bound to variables it has no coordinates.
        init=partial(init, gamma_shapes=(), counts=metropolis),
        dynamics=Dynamics(transition),
        statistics=statistics,
        statistic_names=("acceptance_rate",),
        order=1,
        step_size_power=2,
        coordinates={Simplex: LogSimplex()},
        require=simplex_only,
        full_data=metropolis,
        # The test evaluates the exact potential without the estimator.
        tells_positions=not metropolis,
    )
    if metropolis:
        algorithm = replace(algorithm, dynamics=Dynamics(metropolis_transition), scalar_noise=True)
    bind = partial(_bound, algorithm, COORDINATES[parameterization], metric)
    return replace(algorithm, bind=bind)


def _bound(
    algorithm: Algorithm,
    chart: type[SimplexCoordinates],
    metric: Metric,
    variables: Sequence[SampledVariable],
) -> Algorithm:
    """Give every variable its coordinates, whose totals follow from its prior."""
    dtype = variables[0].position.dtype
    gamma_shapes = [np.asarray(gamma_shape(variable), dtype) for variable in variables]
    coordinates = [chart(shape=shape, metric=metric) for shape in gamma_shapes]
    dynamics = Dynamics(
        partial(algorithm.dynamics.transition, coordinates=coordinates),
        enter=partial(enter, coordinates=coordinates),
        leave=partial(leave, coordinates=coordinates),
    )
    begin = partial(init, gamma_shapes=gamma_shapes, counts=algorithm.full_data)
    return replace(algorithm, dynamics=dynamics, init=begin)


def simplex_only(name: str, variables: Sequence[SampledVariable]) -> None:
    """Raise an error for variables that are not on a simplex."""
    for variable in variables:
        if not isinstance(variable.manifold, LogSimplex):
            better = "SGNHT" if variable.is_flat else "gSGNHT"
            raise ValueError(
                f"`{name}` expected variables on a simplex, such as `pm.Dirichlet`, got "
                f"`{variable.name}` on a {variable.manifold.name.lower()} manifold. Pass the "
                f"simplex variables as `vars` and sample this one with `pmg.{better}`."
            )


def gamma_shape(variable: SampledVariable) -> float | np.ndarray:
    """Shape of the Gamma distribution of the total: the prior's concentration, else K.

    The distribution of the probabilities does not depend on it. With the prior's concentration
    this is the paper's algorithm.
    """
    size = variable.shape[-1]
    alpha = known_concentration(variable.rv)
    if alpha is None:
        return float(size)
    # One concentration for all entries counts for each of them.
    return alpha.sum(axis=-1, keepdims=True) * (size / alpha.shape[-1])

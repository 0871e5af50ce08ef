#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""One compiled scan that samples the local variables of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pymc_geodesic.algorithms.row_adaptation import RowAdaptation
from pymc_geodesic.algorithms.trajectories import (
    leapfrog_schedule,
    run_trajectories,
    schedule_input,
)
from pymc_geodesic.kernel.compiled import CompiledMap, inputs_like
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.local import LocalPotential

__all__ = ["LocalInputs", "LocalKernel", "LocalOutputs", "spread_of"]


class LocalInputs(NamedTuple):
    """The inputs of a call.

    Attributes
    ----------
    conditioned : sequence
        PyMC's values of other steps' variables.
    position : sequence
        Points of the global variables.
    local_values : sequence
        PyMC's values of the local variables: the start, if batches do not start anew.
    rows : sequence
        Rows of each source of batches.
    log_step_sizes : array, shape (n_rows,)
        Logarithm of each row's step size at the start.
    gains : array, shape (n_trajectories,)
        Gain of its adaptation in each trajectory.
    factors, log_uniforms : array, shape (n_trajectories, n_rows)
        Factors of the step size, and the logarithms of the uniforms of the tests.
    noise : sequence
        Standard normals for the velocities of each trajectory, one array per variable.
    schedule : array or None
        The role of each leapfrog step; the kernel adds it.
    """

    conditioned: Sequence[Any]
    position: Sequence[Any]
    local_values: Sequence[Any]
    rows: Sequence[Any]
    log_step_sizes: Any
    gains: Any
    factors: Any
    log_uniforms: Any
    noise: Sequence[Any]
    schedule: Any = None


class LocalOutputs(NamedTuple):
    """The outputs of a call.

    Attributes
    ----------
    draws : sequence
        Points of the embedding, ``(draws, n_rows, ...)``, one array per local variable.
    values : sequence
        PyMC's values of the last draw.
    acceptance : array, shape (draws, n_rows)
        Acceptance probabilities.
    first_energy : array, shape (n_rows,)
        Energies at the start.
    moved : array, shape (n_rows,)
        Positive if a trajectory of the row was accepted, including those before the draws.
    log_step_sizes : array, shape (n_rows,)
        Logarithm of each row's step size as it has adapted.
    """

    draws: Sequence[Any]
    values: Sequence[Any]
    acceptance: Any
    first_energy: Any
    moved: Any
    log_step_sizes: Any


class LocalKernel:
    """Compile geodesic Monte Carlo on the local variables of a batch, each row separately.

    Parameters
    ----------
    potential : Potential
        The potential of the global variables.
    local : LocalPotential
        The potential of the local variables.
    example : LocalInputs
        Arrays of the dtypes and shapes with which the kernel will be called.
    tune : int
        Trajectories before those that are kept.
    n_leapfrog : int
        Leapfrog steps per trajectory.
    target_accept : float
        Acceptance probability to which rows adapt.
    restart : bool
        Whether to start at a good start of the data's distribution instead of the last draw.
    """

    def __init__(
        self,
        potential: Potential,
        local: LocalPotential,
        *,
        example: LocalInputs,
        tune: int,
        n_leapfrog: int,
        target_accept: float,
        restart: bool,
    ) -> None:
        n = len(example.gains)
        inputs = inputs_like("input", example._replace(schedule=None))
        inputs = inputs._replace(
            conditioned=potential.conditioned_values,
            rows=[index.clone() for index in potential.indices],
            schedule=schedule_input(n, n_leapfrog),
        )
        self._schedule = leapfrog_schedule(n, n_leapfrog)
        outputs = _write(potential, local, inputs, tune, n_leapfrog, target_accept, restart)
        self._compiled = CompiledMap(inputs, outputs, held=("schedule",))

    def __call__(self, inputs: LocalInputs) -> LocalOutputs:
        """Sample the local variables of one batch."""
        return self._compiled(inputs._replace(schedule=self._schedule))


def _write(
    potential: Potential,
    local: LocalPotential,
    inputs: LocalInputs,
    tune: int,
    n_leapfrog: int,
    target_accept: float,
    restart: bool,
) -> LocalOutputs:
    position = potential.manifold.project(tuple(inputs.position))
    start = tuple(
        variable.to_position(value)
        for variable, value in zip(local.variables, inputs.local_values, strict=True)
    )
    if restart:
        start = local.start(start, position, inputs.rows)
    runs = run_trajectories(
        local.manifold.project(start),
        manifold=local.manifold,
        energy_and_gradient=lambda x: local.energy_and_gradient(x, position, inputs.rows),
        n_rows=local.n_rows,
        n_leapfrog=n_leapfrog,
        schedule=inputs.schedule,
        step_sizes=inputs.factors,
        log_uniforms=inputs.log_uniforms,
        noises=inputs.noise,
        adaptation=RowAdaptation(inputs.log_step_sizes, inputs.gains, target_accept),
    )
    pairs = zip(local.variables, [x[tune:] for x in runs.positions], strict=True)
    draws = [variable.manifold.fold(x, x)[0] for variable, x in pairs]
    values = [v.to_value(x[-1]) for v, x in zip(local.variables, draws, strict=True)]
    return LocalOutputs(
        draws,
        values,
        runs.acceptance[tune:],
        runs.first_energy,
        runs.accepted.max(axis=0),
        runs.log_step_sizes,
    )


def spread_of(draws: Sequence[np.ndarray]) -> float:
    """Return the standard deviation of the draws of a row in the embedding, averaged over rows."""
    variances = [x.var(axis=0).sum(axis=tuple(range(1, x.ndim - 1))) for x in draws]
    return float(np.sqrt(sum(variances)).mean())

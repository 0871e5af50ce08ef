#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""One compiled function that samples the local variables of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pytensor.tensor import tensor

from pymc_geodesic.algorithms.row_adaptation import RowAdaptation
from pymc_geodesic.algorithms.trajectories import (
    leapfrog_schedule,
    run_trajectories,
    schedule_input,
)
from pymc_geodesic.kernel.backend import Backend
from pymc_geodesic.kernel.graph import placeholders, to_positions
from pymc_geodesic.potential import Potential

__all__ = ["LocalKernel", "LocalOutput"]


class LocalOutput(NamedTuple):
    """What a call of the kernel returns, as NumPy arrays.

    Attributes
    ----------
    draws : list of ndarray
        Points of the embedding, ``(draws, n_rows, ...)``, one array a local variable.
    values : list of ndarray
        PyMC's values of the last draw.
    acceptance_rate, spread : float
        Acceptance probability, averaged over rows and trajectories; and the standard deviation of
        the draws around their mean in a row, in the embedding, averaged over rows.
    finite : bool
        Whether the energies at the start were finite.
    moved : ndarray of bool, shape (n_rows,)
        Whether a trajectory of the row was accepted, of those before the draws too.
    log_step_sizes : ndarray, shape (n_rows,)
        Logarithm of each row's step size as it has adapted.
    """

    draws: list[np.ndarray]
    values: list[np.ndarray]
    acceptance_rate: float
    spread: float
    finite: bool
    moved: np.ndarray
    log_step_sizes: np.ndarray


class LocalKernel:
    """Compile geodesic Monte Carlo on the local variables of a batch, each row by itself.

    Parameters
    ----------
    potential : Potential
        The potential of the global variables, which knows the local ones.
    values, local_values : sequence of ndarray
        PyMC's values, for their shapes.
    draws, tune : int
        Trajectories that are kept, and those made before.
    n_leapfrog : int
        Leapfrog steps a trajectory.
    target_accept : float
        Acceptance probability to which rows adapt.
    restart : bool
        Whether to start where the data's distribution knows a good start, and not at the last draw.
    backend : Backend
        How to compile.
    """

    def __init__(
        self,
        potential: Potential,
        *,
        values: Sequence[np.ndarray],
        local_values: Sequence[np.ndarray],
        draws: int,
        tune: int,
        n_leapfrog: int,
        target_accept: float,
        restart: bool,
        backend: Backend,
    ) -> None:
        local = potential.local
        n_trajectories = draws + tune
        length = n_trajectories if backend.is_jax else None
        dtype = local.variables[0].position.dtype
        value_inputs = placeholders("value", values)
        local_inputs = placeholders("local_value", local_values)
        log_start = tensor("log_start", dtype=dtype, shape=(local.n_rows,))
        gains = tensor("gains", dtype=dtype, shape=(length,))
        factors = tensor("factors", dtype=dtype, shape=(length, local.n_rows))
        log_uniforms = tensor("log_uniforms", dtype=dtype, shape=(length, local.n_rows))
        noises = [
            tensor("noise", dtype=dtype, shape=(length, *shape)) for shape in local.manifold.shapes
        ]
        schedule = schedule_input(length, n_leapfrog)
        rows = [index.clone() for index in potential.indices]
        position = to_positions(potential, value_inputs)
        start = tuple(
            variable.to_position(value)
            for variable, value in zip(local.variables, local_inputs, strict=True)
        )
        if restart:
            start = local.start(start, position, rows)
        start = local.manifold.project(start)
        runs = run_trajectories(
            start,
            manifold=local.manifold,
            energy_and_gradient=lambda x: local.energy_and_gradient(x, position, rows),
            n_rows=local.n_rows,
            n_leapfrog=n_leapfrog,
            schedule=schedule,
            step_sizes=factors,
            log_uniforms=log_uniforms,
            noises=noises,
            adaptation=RowAdaptation(log_start, gains, target_accept),
        )
        kept = [x[tune:] for x in runs.positions]
        folded = [
            variable.manifold.fold(x, x)[0]
            for variable, x in zip(local.variables, kept, strict=True)
        ]
        last = [
            variable.to_value(x[-1]) for variable, x in zip(local.variables, folded, strict=True)
        ]
        outputs = [
            *folded,
            *last,
            runs.acceptance[tune:],
            runs.first_energy,
            runs.accepted.max(axis=0),
            runs.log_step_sizes,
        ]
        inputs = [
            *potential.conditioned_values,
            *value_inputs,
            *local_inputs,
            *rows,
            schedule,
            log_start,
            gains,
            factors,
            log_uniforms,
            *noises,
        ]
        self._n_local = len(local_inputs)
        self._schedule = leapfrog_schedule(n_trajectories, n_leapfrog)
        self._function = backend.compile(inputs, outputs)

    def __call__(
        self,
        values: Sequence[np.ndarray],
        local_values: Sequence[np.ndarray],
        *,
        conditioned: Sequence[np.ndarray],
        rows: Sequence[np.ndarray],
        log_step_sizes: np.ndarray,
        gains: np.ndarray,
        factors: np.ndarray,
        log_uniforms: np.ndarray,
        noise: Sequence[np.ndarray],
    ) -> LocalOutput:
        """Sample the local variables of one batch.

        Trajectory t of row i has the step size ``factors[t, i]`` times the row's own, which starts
        at ``log_step_sizes[i]`` and adapts by ``gains[t]``.
        """
        outputs = self._function(
            *conditioned,
            *values,
            *local_values,
            *rows,
            self._schedule,
            log_step_sizes,
            gains,
            factors,
            log_uniforms,
            *noise,
        )
        # JAX returns before it has finished, and its arrays cannot be written to.
        outputs = [np.array(output) for output in outputs]
        draws, last = outputs[: self._n_local], outputs[self._n_local : 2 * self._n_local]
        acceptance, first_energy, moved, log_ends = outputs[2 * self._n_local :]
        return LocalOutput(
            draws,
            last,
            acceptance_rate=float(acceptance.mean()),
            spread=_spread(draws),
            finite=bool(np.all(np.isfinite(first_energy))),
            moved=moved > 0,
            log_step_sizes=log_ends,
        )


def _spread(draws: Sequence[np.ndarray]) -> float:
    """Return the standard deviation of the draws of a row in the embedding, averaged over rows."""
    variances = [x.var(axis=0).sum(axis=tuple(range(1, x.ndim - 1))) for x in draws]
    return float(np.sqrt(sum(variances)).mean())

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""One compiled loop that samples the local variables of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pymc_geodesic.algorithms.trajectories import RowAdaptation, run_trajectories
from pymc_geodesic.kernel.compiled import CompiledMap
from pymc_geodesic.kernel.jax.graphs import Graphs
from pymc_geodesic.kernel.jax.kernel_function import KernelFunction
from pymc_geodesic.manifolds import Point
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.local import LocalPotential
from pymc_geodesic.potential.variables import as_points, as_values

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
        self._potential, self._local, self._tune = potential, local, tune
        self._n_leapfrog, self._target_accept = n_leapfrog, target_accept
        self._restart = restart
        self._graphs = _graphs(potential, local)
        # Of these only the number is needed.
        example = example._replace(
            conditioned=[0] * len(potential.conditioned_values), rows=[0] * len(potential.indices)
        )
        values = [0] * len(local.variables)
        self._compiled = CompiledMap(
            example,
            LocalOutputs(values, values, 0, 0, 0, 0),
            function=KernelFunction(
                self.one_chain,
                example=example,
                graphs=self._graphs,
                settings=(
                    *(potential.manifold, local.manifold, tune, n_leapfrog),
                    *(target_accept, restart),
                ),
            ),
        )

    def __call__(self, inputs: LocalInputs) -> LocalOutputs:
        """Sample the local variables of one batch."""
        return self._compiled([[inputs]])[0][0]

    def one_chain(self, inputs: LocalInputs, data: Sequence[Any]) -> LocalOutputs:
        """Sample the local variables of a batch: a pure function that JAX can trace.

        Parameters
        ----------
        inputs : LocalInputs
            Arrays.
        data : sequence of array
            The values of the shared variables of the model.
        """
        local, tune = self._local, self._tune
        at = _LocalOfArrays(local, self._graphs, [*inputs.conditioned, *data])
        position = self._potential.manifold.project(tuple(inputs.position))
        rows = list(inputs.rows)
        start = at.points(tuple(inputs.local_values))
        if self._restart:
            start = at.start(start, position, rows)
        runs = run_trajectories(
            local.manifold.project(start),
            manifold=local.manifold,
            energy_and_gradient=lambda x: at.energy_and_gradient(x, position, rows),
            n_leapfrog=self._n_leapfrog,
            step_sizes=inputs.factors,
            log_uniforms=inputs.log_uniforms,
            noises=inputs.noise,
            adaptation=RowAdaptation(inputs.log_step_sizes, inputs.gains, self._target_accept),
        )
        pairs = zip(local.variables, [x[tune:] for x in runs.positions], strict=True)
        draws = [variable.manifold.fold(x, x)[0] for variable, x in pairs]
        return LocalOutputs(
            draws,
            at.values(tuple(x[-1] for x in draws)),
            runs.acceptance[tune:],
            runs.first_energy,
            runs.accepted.max(axis=0),
            runs.log_step_sizes,
        )


def _graphs(potential: Potential, local: LocalPotential) -> Graphs:
    """Return the functions of the local variables' potential."""
    own = tuple(variable.position for variable in local.variables)
    rows = [index.clone() for index in potential.indices]
    values = tuple(variable.value for variable in local.variables)
    energy, gradient = local.energy_and_gradient(own, potential.positions, rows)
    outputs = [
        *(energy, *gradient, *local.start(own, potential.positions, rows)),
        *(*as_points(local.variables, values), *as_values(local.variables, own)),
    ]
    inputs = [*own, *values, *potential.positions, *rows, *potential.conditioned_values]
    return Graphs(inputs, outputs, conditioned=potential.conditioned_values)


class _LocalOfArrays:
    """The potential of local variables at points of arrays.

    Parameters
    ----------
    local : LocalPotential
        The potential.
    graphs : Graphs
        Its functions.
    given : sequence of array
        Conditioned values, then data.
    """

    def __init__(self, local: LocalPotential, graphs: Graphs, given: Sequence[Any]) -> None:
        self._local, self._graphs, self._given = local, graphs, given

    def energy_and_gradient(self, own: Point, position: Point, rows: list) -> tuple[Any, Point]:
        """Energy of each row, and its gradient."""
        write = self._local.energy_and_gradient
        energy, *gradient = self._call("energy_and_gradient", write, own, position, rows)
        return energy, tuple(gradient)

    def start(self, default: Point, position: Point, rows: list) -> Point:
        """Return the point to start from."""
        return tuple(self._call("start", self._local.start, default, position, rows))

    def points(self, values: Point) -> Point:
        """Map PyMC's values to points."""
        return tuple(self._call("points", lambda x: as_points(self._local.variables, x), values))

    def values(self, position: Point) -> Point:
        """Map points to PyMC's values."""
        return tuple(self._call("values", lambda x: as_values(self._local.variables, x), position))

    def _call(self, name: str, write: Any, *arguments: Any) -> list[Any]:
        return self._graphs.call(name, write, self._given, *arguments)


def spread_of(draws: Sequence[np.ndarray]) -> float:
    """Return the standard deviation of the draws of a row in the embedding, averaged over rows."""
    variances = [x.var(axis=0).sum(axis=tuple(range(1, x.ndim - 1))) for x in draws]
    return float(np.sqrt(sum(variances)).mean())

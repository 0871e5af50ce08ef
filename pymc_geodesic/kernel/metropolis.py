#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""One compiled function for many Hamiltonian trajectories with a Metropolis test each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytensor.tensor as pt

from pytensor.tensor import tensor

from pymc_geodesic.algorithms.trajectories import (
    leapfrog_schedule,
    run_trajectories,
    schedule_input,
)
from pymc_geodesic.kernel.backend import Backend
from pymc_geodesic.kernel.blocks import blocks_of, joined
from pymc_geodesic.kernel.graph import as_values, placeholders, to_positions, weighted
from pymc_geodesic.mass import Mass
from pymc_geodesic.potential import Potential

__all__ = ["MetropolisKernel", "MetropolisOutput"]


class MetropolisOutput(NamedTuple):
    """What a call of the kernel returns, as NumPy arrays.

    Attributes
    ----------
    values : list of ndarray
        PyMC's value of each sampled variable after the last trajectory.
    acceptance_rate, accepted : float
        Acceptance probability and accepted trajectories, averaged over the trajectories.
    diverging : bool
        Whether a trajectory's energy was not finite.
    energy : float
        Hamiltonian at the end of the last trajectory, after the test.
    potential : float
        Potential energy of the last state.
    velocity : list of ndarray
        Velocities of the last state; those at the start of a trajectory that was rejected.
    """

    values: list[np.ndarray]
    acceptance_rate: float
    accepted: float
    diverging: bool
    energy: float
    potential: float
    velocity: list[np.ndarray]


class MetropolisKernel:
    """Compile trajectories of all variables together, from values to values.

    Parameters
    ----------
    potential : Potential
        The exact potential.
    values : sequence of ndarray
        PyMC's values, for their shapes.
    n_steps, n_leapfrog : int
        Trajectories a call and leapfrog steps a trajectory.
    mass : Mass, optional
        Mass of the variables; only its form is compiled in, not its values.
    backend : Backend
        How to compile.
    """

    def __init__(
        self,
        potential: Potential,
        *,
        values: Sequence[np.ndarray],
        n_steps: int,
        n_leapfrog: int,
        mass: Mass | None = None,
        backend: Backend,
    ) -> None:
        self.n_leapfrog = n_leapfrog
        self._blocks = blocks = blocks_of(potential, mass)
        potential, mass = joined(potential, blocks), blocks.join_mass(mass)
        values = blocks.join_arrays(values)
        length = n_steps if backend.is_jax else None
        dtype = potential.variables[0].position.dtype
        value_inputs = placeholders("value", values)
        step_sizes = tensor("step_sizes", dtype=dtype, shape=(length,))
        log_uniforms = tensor("log_uniforms", dtype=dtype, shape=(length,))
        noises = [
            tensor("noise", dtype=dtype, shape=(length, *shape))
            for shape in potential.manifold.shapes
        ]
        schedule = schedule_input(length, n_leapfrog)
        manifold, mass_arrays = weighted(potential.manifold, mass)
        position = to_positions(potential, value_inputs)

        def energy_and_gradient(x):
            energy, gradient = potential.energy_and_gradient(x, [])
            return energy, manifold.to_frame(gradient)

        runs = run_trajectories(
            position,
            manifold=manifold,
            energy_and_gradient=energy_and_gradient,
            n_leapfrog=n_leapfrog,
            schedule=schedule,
            step_sizes=step_sizes,
            log_uniforms=log_uniforms,
            noises=noises,
        )
        position, velocity = manifold.fold(runs.last.position, runs.last.velocity)
        outputs = [
            *as_values(potential, position),
            *velocity,
            runs.acceptance.mean(),
            runs.accepted.mean(),
            pt.any(runs.diverging),
            runs.energy[-1],
            runs.last.energy,
        ]
        inputs = [
            *potential.conditioned,
            *value_inputs,
            schedule,
            step_sizes,
            log_uniforms,
            *noises,
            *mass_arrays,
        ]
        self._n_values = len(value_inputs)
        self._function = backend.compile(inputs, outputs)

    def __call__(
        self,
        values: Sequence[np.ndarray],
        *,
        conditioned: Sequence[np.ndarray],
        step_sizes: np.ndarray,
        log_uniforms: np.ndarray,
        noise: Sequence[np.ndarray],
        mass: Sequence[np.ndarray] = (),
    ) -> MetropolisOutput:
        """Run one trajectory for each step size."""
        blocks = self._blocks
        outputs = self._function(
            *conditioned,
            *blocks.join_arrays(values),
            leapfrog_schedule(len(step_sizes), self.n_leapfrog),
            step_sizes,
            log_uniforms,
            *blocks.join_arrays(noise),
            *blocks.join_mass_arrays(mass),
        )
        # JAX returns before it has finished, and its arrays cannot be written to.
        outputs = [np.array(output) for output in outputs]
        n = self._n_values
        acceptance, accepted, diverging, energy, potential = outputs[2 * n :]
        return MetropolisOutput(
            blocks.split_arrays(outputs[:n]),
            float(acceptance),
            float(accepted),
            bool(diverging),
            float(energy),
            float(potential),
            blocks.split_arrays(outputs[n : 2 * n]),
        )

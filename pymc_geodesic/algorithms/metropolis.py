#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Hamiltonian trajectories of all variables with a Metropolis test each, as one compiled loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pymc_geodesic.algorithms.trajectories import run_trajectories
from pymc_geodesic.kernel.blocks import blocks_of, joined
from pymc_geodesic.kernel.compiled import CompiledMap
from pymc_geodesic.kernel.jax.kernel_function import KernelFunction, PotentialOfArrays, graphs_of
from pymc_geodesic.mass import Mass
from pymc_geodesic.mass.frames import weighted
from pymc_geodesic.potential import Potential

__all__ = ["MetropolisInputs", "MetropolisKernel", "MetropolisOutputs"]


class MetropolisInputs(NamedTuple):
    """The inputs of a call.

    Attributes
    ----------
    conditioned : sequence
        PyMC's values of other steps' variables, and draws of local variables.
    position : sequence
        Points of the embedding.
    step_sizes, log_uniforms, noise
        One for each trajectory: step size of the leapfrog, logarithm of the uniform number of the
        test, standard normals for the velocities.
    mass : sequence
        Arrays of the mass.
    """

    conditioned: Sequence[Any]
    position: Sequence[Any]
    step_sizes: Any
    log_uniforms: Any
    noise: Sequence[Any]
    mass: Sequence[Any]


class MetropolisOutputs(NamedTuple):
    """The outputs of a call.

    Attributes
    ----------
    position, velocity, values : sequence
        Of the last state: points of the embedding, velocities (those at the start of a trajectory
        that was rejected) and PyMC's values.
    acceptance_rate, accepted : array
        Acceptance probability and accepted trajectories, averaged over the trajectories.
    diverging : array of bool
        Whether a trajectory's energy was not finite.
    energy, potential : array
        Hamiltonian and potential energy at the end, after the test.
    """

    position: Sequence[Any]
    velocity: Sequence[Any]
    values: Sequence[Any]
    acceptance_rate: Any
    accepted: Any
    diverging: Any
    energy: Any
    potential: Any


class MetropolisKernel:
    """Compile trajectories of all variables together.

    Parameters
    ----------
    potential : Potential
        The exact potential.
    example : MetropolisInputs
        Arrays of the dtypes and shapes with which the kernel will be called.
    n_leapfrog : int
        Leapfrog steps per trajectory.
    mass : Mass, optional
        Mass of the variables; only its form is compiled in, not its values.
    """

    def __init__(
        self,
        potential: Potential,
        *,
        example: MetropolisInputs,
        n_leapfrog: int,
        mass: Mass | None = None,
    ) -> None:
        self._potential, self._n_leapfrog = potential, n_leapfrog
        self._blocks = blocks = blocks_of(potential, mass)
        self._mass = mass = blocks.join_mass(mass)
        self._joint = joined(potential, blocks)
        # Of these only the number is needed.
        conditioned = [0] * len(potential.conditioned)
        example = self._joined(example)._replace(conditioned=conditioned)
        function = KernelFunction(
            self.one_chain,
            example=example,
            graphs=graphs_of(potential),
            settings=(n_leapfrog, blocks, self._joint.manifold, mass),
        )
        self._compiled = CompiledMap(
            example,
            MetropolisOutputs(*(example.position,) * 3, *(0,) * 5),
            function=function,
            shareable=("mass",),
            varying=("step_sizes", "log_uniforms", "noise"),
        )

    def one_chain(self, inputs: MetropolisInputs, data: Sequence[Any]) -> MetropolisOutputs:
        """Run the trajectories of one chain: a pure function that JAX can trace.

        Parameters
        ----------
        inputs : MetropolisInputs
            Arrays, as :meth:`__call__` passes them on.
        data : sequence of array
            The values of the shared variables of the model.
        """
        potential = PotentialOfArrays(
            self._joint,
            graphs_of(self._potential),
            conditioned=inputs.conditioned,
            data=data,
        )
        frame = None if self._mass is None else self._mass.frame(inputs.mass)
        manifold = weighted(potential.manifold, frame)

        def energy_and_gradient(x):
            energy, gradient = potential.energy_and_gradient(x, [])
            return energy, manifold.to_frame(gradient)

        runs = run_trajectories(
            potential.manifold.project(tuple(inputs.position)),
            manifold=manifold,
            energy_and_gradient=energy_and_gradient,
            n_leapfrog=self._n_leapfrog,
            step_sizes=inputs.step_sizes,
            log_uniforms=inputs.log_uniforms,
            noises=inputs.noise,
        )
        position, velocity = manifold.fold(runs.last.position, runs.last.velocity)
        return MetropolisOutputs(
            position,
            velocity,
            potential.values(position),
            runs.acceptance.mean(),
            runs.accepted.mean(),
            runs.diverging.any(),
            runs.energy[-1],
            runs.last.energy,
        )

    def __call__(self, inputs: Sequence[MetropolisInputs]) -> list[MetropolisOutputs]:
        """Run one trajectory of each chain for each step size; all random numbers are inputs."""
        return [self._apart(x) for [x] in self._compiled([[self._joined(x)] for x in inputs])]

    def _apart(self, outputs: MetropolisOutputs) -> MetropolisOutputs:
        parts = ("position", "velocity", "values")
        apart = {name: self._blocks.split_arrays(getattr(outputs, name)) for name in parts}
        return outputs._replace(**apart)

    def _joined(self, inputs: MetropolisInputs) -> MetropolisInputs:
        blocks = self._blocks
        return inputs._replace(
            position=blocks.join_arrays(inputs.position),
            noise=blocks.join_arrays(inputs.noise),
            mass=blocks.join_mass_arrays(inputs.mass),
        )

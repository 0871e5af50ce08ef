#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Many transitions as one compiled loop, from a state, noise and rows to the next state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pymc_geodesic.kernel.blocks import blocks_for, joined
from pymc_geodesic.kernel.compiled import CompiledMap
from pymc_geodesic.kernel.interface import (
    CenterArrays,
    Dynamics,
    Inputs,
    Outputs,
    Padding,
    chunk_length_for,
    leaves_of,
)
from pymc_geodesic.kernel.jax.function import JAXFunction
from pymc_geodesic.kernel.jax.kernel_function import KernelFunction, PotentialOfArrays, graphs_of
from pymc_geodesic.kernel.loop import (
    MakeEstimator,
    Virial,
    estimator_for,
    joined_moments,
    loop,
    numbers_of_moments,
)
from pymc_geodesic.manifolds import Product
from pymc_geodesic.mass import Mass
from pymc_geodesic.mass.frames import weighted
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.estimate import PotentialEnergy
from pymc_geodesic.potential.estimator import Halved
from pymc_geodesic.potential.noise_models import KnownNoise, NoiseModel

__all__ = ["TransitionKernel"]


class TransitionKernel:
    """Compile a number of transitions as one loop without random generators.

    Parameters
    ----------
    potential : Potential
        Gives gradients and the variables' geometry.
    dynamics : Dynamics
        The transition.
    noise_model : NoiseModel
        Model of the gradient's noise.
    example : Inputs
        Arrays of the dtypes and shapes with which the kernel will be called.
    mass : Mass, optional
        Mass of the variables; only its form is compiled in, not its values.
    is_counted : bool
        Whether calls may have fewer transitions than the example.
    has_one_step_size : bool
        Whether all transitions of a call have the first step size. Functions of it, such as the
        damping of every entry, are then computed once. Only for kernels that count.
    makes_chunks : bool
        Whether one call may stand for several in turn.
    halves : {"all", "curved"}, optional
        Variables whose noise is estimated, together with gradients, from the two halves of a batch;
        see :class:`~pymc_geodesic.potential.HalvedEstimator`.
    """

    def __init__(
        self,
        potential: Potential,
        dynamics: Dynamics,
        *,
        noise_model: NoiseModel,
        example: Inputs,
        mass: Mass | None = None,
        is_counted: bool = False,
        has_one_step_size: bool = False,
        makes_chunks: bool = False,
        halves: Halved | None = None,
    ) -> None:
        self._padding = Padding(len(example.step_sizes)) if is_counted else None
        self._has_one_step_size = has_one_step_size
        self._blocks = blocks = blocks_for(potential, noise_model, example.state, mass)
        self._n_moments = numbers_of_moments(potential.manifold)
        self._shares_rows = bool(potential.latents)
        self._potential = potential
        self._joint = joint = joined(potential, blocks)
        if not blocks.are_single:
            mass, noise_model = blocks.join_mass(mass), KnownNoise(joint)
        self._dynamics, self._mass = dynamics, mass
        self._noise_model, self._halves = noise_model, halves
        n_weights = len(potential.row_weights)
        # Of these only the number is needed.
        example = self._joined(example)._replace(
            conditioned=[0] * (len(potential.conditioned) - n_weights), weights=[0] * n_weights
        )
        self._compiled = CompiledMap(
            example,
            _form_of_outputs(joint.manifold, example),
            function=KernelFunction(
                self.one_chain,
                example=example,
                graphs=graphs_of(potential),
                settings=(dynamics, noise_model, halves, blocks, joint.manifold, mass),
            ),
            shareable=("mass", "center", "weights", "made"),
            varying=("step_sizes", "noise", "rows", "fresh"),
            most=chunk_length_for(example) if makes_chunks else 1,
        )

    def one_chain(self, inputs: Inputs, data: Sequence[Any]) -> Outputs:
        """Make the transitions of one chain: a pure function that JAX can trace.

        Parameters
        ----------
        inputs : Inputs
            Arrays, as ``__call__`` passes them on.
        data : sequence of array
            The values of the shared variables of the model.
        """
        conditioned = [*inputs.conditioned, *inputs.weights]
        potential = PotentialOfArrays(
            self._joint, graphs_of(self._potential), conditioned=conditioned, data=data
        )
        frame = None if self._mass is None else self._mass.frame(inputs.mass)
        manifold = weighted(potential.manifold, frame)
        estimator = estimator_for(
            potential,
            self._noise_model,
            manifold=manifold,
            center=inputs.center,
            halves=self._halves,
        )
        return _transitions(
            potential,
            self._dynamics,
            estimator,
            inputs,
            manifold,
            shares_rows=self._shares_rows,
        )

    @property
    def most_calls(self) -> int:
        """The largest number of calls in turn."""
        return self._compiled.chunk.most

    def __call__(self, inputs: Sequence[Sequence[Inputs]]) -> list[list[Outputs]]:
        """Make some calls in turn for some chains at once.

        State and memory are those of a chain's first call; the others continue where it ends.
        """
        found = self._compiled([[*map(self._joined, calls)] for calls in inputs])
        return [[*map(self._apart, calls)] for calls in found]

    @property
    def function(self) -> JAXFunction:
        """The compiled function, of leaves."""
        return self._compiled.function

    @property
    def places(self) -> tuple[Inputs, Outputs]:
        """Where the leaves of inputs and outputs stand among those of the function."""
        return self._compiled.places

    def leaves(self, inputs: Inputs) -> list[Any]:
        """Return the inputs of the function."""
        return leaves_of(self._joined(inputs))

    def split_values(self, values: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Separate the values of variables, in the last axes of the function's outputs."""
        return self._blocks.split_arrays(values)

    def _apart(self, outputs: Outputs) -> Outputs:
        """Undo :meth:`_joined`."""
        moments = joined_moments(self._joint.manifold, outputs.values, outputs.moments)
        if self._blocks.are_single:
            return outputs._replace(moments=moments)
        blocks = self._blocks
        return outputs._replace(
            state=blocks.split_state(outputs.state),
            values=blocks.split_arrays(outputs.values),
            moments=blocks.split_groups(moments, self._n_moments),
        )

    def _joined(self, inputs: Inputs) -> Inputs:
        """Put scalars side by side; drop the axis of the transitions if all share one batch."""
        if self._shares_rows:
            inputs = inputs._replace(rows=[row[0] for row in inputs.rows])
        if self._padding is not None:
            inputs = self._padding.filled(inputs)
        if self._has_one_step_size:
            inputs = inputs._replace(step_sizes=inputs.step_sizes[0, ...])
        blocks = self._blocks
        if blocks.are_single:
            return inputs
        center = CenterArrays(*(blocks.join_arrays(arrays) for arrays in inputs.center))
        parameters = dict(inputs.parameters)
        if noise := parameters.get("measured_noise"):
            parameters["measured_noise"] = tuple(blocks.join_arrays(noise))
        return inputs._replace(
            parameters=parameters,
            state=blocks.join_state(inputs.state),
            noise=blocks.join_arrays(inputs.noise),
            mass=blocks.join_mass_arrays(inputs.mass),
            center=center,
            reference=blocks.join_groups(inputs.reference, self._n_moments),
        )


def _form_of_outputs(manifold: Product, inputs: Inputs) -> Outputs:
    """Return a tree of the structure of the outputs."""
    values = [0] * len(manifold.factors)
    n_moments = [
        len(factor.field_shapes(shape))
        for factor, shape in zip(manifold.factors, manifold.shapes, strict=True)
        if not factor.is_flat
    ]
    return Outputs(inputs.state, inputs.memory, values, 0, 0, 0, 0, [0] * sum(n_moments))


def _transitions(
    potential: PotentialEnergy,
    dynamics: Dynamics,
    estimator: MakeEstimator,
    inputs: Inputs,
    weighted_manifold: Product,
    *,
    shares_rows: bool,
) -> Outputs:
    """Make all transitions of a chain."""
    manifold, virial = potential.manifold, Virial(potential.manifold, reference=inputs.reference)
    position = manifold.project(tuple(inputs.state.position))
    state = inputs.state._replace(position=position)
    if velocity := getattr(state, "velocity", ()):
        state = state._replace(velocity=manifold.to_tangent(position, tuple(velocity)))

    def one_transition(state, memory, noise, rows, step_size):
        gradient = estimator(
            indices=rows, width=weighted_manifold.lengths(step_size), memory=memory
        )
        new = dynamics.transition(
            state,
            gradient,
            noise,
            manifold=weighted_manifold,
            step_size=step_size,
            **inputs.parameters,
        )
        return new, gradient.memory, virial.temperatures(state.position, gradient.evaluation)

    state, memory, totals = loop(
        manifold, one_transition, dynamics.enter(state), inputs, shares_rows=shares_rows
    )
    state = dynamics.leave(state)
    last_rows = inputs.rows if shares_rows else [row[-1] for row in inputs.rows]
    recorded = dynamics.recorded(
        state,
        manifold=weighted_manifold,
        step_size=inputs.step_sizes[0] if inputs.step_sizes.ndim else inputs.step_sizes,
        **inputs.parameters,
    )
    energy, moments = potential.energy(recorded, last_rows), virial.moments(recorded)
    if velocity := getattr(state, "velocity", ()):
        recorded, _ = manifold.fold(recorded, velocity)
        position, velocity = manifold.fold(state.position, velocity)
        state = state._replace(position=position, velocity=velocity)
    return Outputs(
        state,
        memory,
        potential.values(recorded),
        totals.kinetic.astype(energy.dtype),
        (totals.configurational / totals.n_fresh).astype(energy.dtype),
        ~totals.finite,
        energy,
        moments,
    )

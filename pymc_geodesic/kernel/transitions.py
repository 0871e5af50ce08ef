#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Many transitions as one compiled scan, from a state, noise and rows to the next state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt

from pymc_geodesic.kernel.blocks import blocks_for, joined, n_variables
from pymc_geodesic.kernel.carry import Carry, as_values, weighted
from pymc_geodesic.kernel.compiled import CompiledMap, inputs_like
from pymc_geodesic.kernel.estimators import MakeEstimator, estimator_for
from pymc_geodesic.kernel.interface import CenterArrays, Dynamics, Inputs, Outputs
from pymc_geodesic.kernel.jax.counted_scan import COUNTED
from pymc_geodesic.kernel.room import Room, turns_for
from pymc_geodesic.kernel.trees import leaves_of, rebuilt
from pymc_geodesic.kernel.undo import undo_if_not_finite
from pymc_geodesic.kernel.virial import Virial, joined_moments, mean_where, numbers_of_moments
from pymc_geodesic.manifolds import Product
from pymc_geodesic.mass import Mass
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.estimate import PotentialEnergy
from pymc_geodesic.potential.halves import Halved
from pymc_geodesic.potential.noise_models import KnownNoise, NoiseModel

__all__ = ["TransitionKernel"]


class TransitionKernel:
    """Compile a number of transitions as one scan without random generators.

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
    makes_several : bool
        Whether one call for several chains may stand for several in turn.
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
        makes_several: bool = False,
        halves: Halved | None = None,
    ) -> None:
        self._room = Room(len(example.step_sizes)) if is_counted else None
        self._has_one_step_size = has_one_step_size
        self._blocks = blocks = blocks_for(potential, noise_model, example.state, mass)
        self._n_moments = numbers_of_moments(potential.manifold)
        self._shares_rows = bool(potential.latents)
        example = self._joined(example)
        joint = joined(potential, blocks)
        if not blocks.are_single:
            mass, noise_model = blocks.join_mass(mass), KnownNoise(joint)
        self._manifold = joint.manifold
        inputs = inputs_like("input", example)
        n_given = len(joint.conditioned) - len(joint.row_weights)
        inputs = inputs._replace(conditioned=joint.conditioned[:n_given], weights=joint.row_weights)
        manifold = weighted(joint.manifold, mass, inputs.mass)
        gradient = estimator_for(
            joint, noise_model, manifold=manifold, center=inputs.center, halves=halves
        )
        outputs = _write(joint, dynamics, gradient, inputs, mass, self._shares_rows)
        self._compiled = CompiledMap(
            inputs,
            outputs,
            held=("parameters", "mass", "center", "fresh", "reference", "weights", "made"),
            shareable=("mass", "center", "weights", "made"),
            varying=("step_sizes", "noise", "rows", "fresh"),
            most_turns=turns_for(example) if makes_several else 1,
        )

    def __call__(self, inputs: Inputs, rng: np.random.Generator) -> Outputs:
        """Make the transitions; all random numbers are inputs, and the generator is not used."""
        return self._apart(self._compiled(self._joined(inputs)))

    def of_many(self, inputs: Sequence[Inputs]) -> list[Outputs]:
        """Make the transitions of several chains at once."""
        return [self._apart(x) for x in self._compiled.of_many([*map(self._joined, inputs)])]

    @property
    def most_calls(self) -> int:
        """The largest number of calls that :meth:`in_turn` can make."""
        return self._compiled.most_turns

    def in_turn(self, inputs: Sequence[Sequence[Inputs]]) -> list[list[Outputs]]:
        """Make several calls in turn for several chains at once.

        State and memory are those of a chain's first call; the others continue where it ends.
        """
        found = self._compiled.in_turn([[*map(self._joined, calls)] for calls in inputs])
        return [[*map(self._apart, calls)] for calls in found]

    def _apart(self, outputs: Outputs) -> Outputs:
        """Undo :meth:`_joined`."""
        moments = joined_moments(self._manifold, outputs.values, outputs.moments)
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
        if self._room is not None:
            inputs = self._room.filled(inputs)
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


def _write(
    potential: PotentialEnergy,
    dynamics: Dynamics,
    estimator: MakeEstimator,
    inputs: Inputs,
    mass: Mass | None,
    shares_rows: bool,
) -> Outputs:
    """Write the outputs of all transitions."""
    manifold, virial = potential.manifold, Virial(potential.manifold, reference=inputs.reference)
    one_transition = _one_transition(potential, dynamics, estimator, inputs, mass, virial)
    position = manifold.project(inputs.state.position)
    state = inputs.state._replace(position=position)
    if velocity := getattr(state, "velocity", ()):
        state = state._replace(velocity=manifold.to_tangent(position, velocity))
    state, memory, temperatures, positional, finite = _scan(
        manifold, one_transition, dynamics.enter(state), inputs, shares_rows=shares_rows
    )
    state = dynamics.leave(state)
    last_rows = inputs.rows if shares_rows else [row[-1] for row in inputs.rows]
    recorded = dynamics.recorded(
        state,
        manifold=weighted(manifold, mass, inputs.mass),
        step_size=inputs.step_sizes[0] if inputs.step_sizes.ndim else inputs.step_sizes,
        **inputs.parameters,
    )
    energy, moments = potential.energy(recorded, last_rows), virial.moments(recorded)
    if velocity := getattr(state, "velocity", ()):
        recorded, _ = manifold.fold(recorded, velocity)
        position, velocity = manifold.fold(state.position, velocity)
        state = state._replace(position=position, velocity=velocity)
    is_counted = inputs.made is not None
    return Outputs(
        state,
        memory,
        as_values(potential, recorded),
        mean_where(temperatures, inputs.made) if is_counted else temperatures.mean(axis=0),
        mean_where(positional, inputs.fresh & finite),
        ~pt.all(finite | ~inputs.made if is_counted else finite),
        energy,
        moments,
    )


def _one_transition(
    potential: PotentialEnergy,
    dynamics: Dynamics,
    estimator: MakeEstimator,
    inputs: Inputs,
    mass: Mass | None,
    virial: Virial,
) -> Callable:
    """Write the transition as a function of the quantities that change from one to the next."""
    manifold = weighted(potential.manifold, mass, inputs.mass)

    def one_transition(state, memory, noise, rows, step_size):
        gradient = estimator(indices=rows, width=manifold.lengths(step_size), memory=memory)
        new = dynamics.transition(
            state, gradient, noise, manifold=manifold, step_size=step_size, **inputs.parameters
        )
        return new, gradient.memory, virial.temperatures(state.position, gradient.evaluation)

    return one_transition


def _scan(
    manifold: Product, one_transition: Callable, state: Any, inputs: Inputs, *, shares_rows: bool
):
    """Run the transitions; return the last state and traces of temperatures and finiteness."""
    carried = state, tuple(inputs.memory)
    # A position in other coordinates has the shape of the point.
    shapes = [*manifold.shapes, *(x.type.shape for x in leaves_of(carried)[len(manifold.shapes) :])]
    carry = Carry(leaves_of(carried), shapes=shapes)
    noises, rows = list(inputs.noise), [] if shares_rows else list(inputs.rows)

    counter = [] if inputs.made is None else [inputs.made]
    step_sizes = [inputs.step_sizes] if inputs.step_sizes.ndim else []

    def step(*arguments):
        counted, others = arguments[: len(counter)], arguments[len(counter) :]
        step_size = others[0] if step_sizes else inputs.step_sizes
        others = others[len(step_sizes) :]
        noise, arguments = tuple(others[: len(noises)]), tuple(others[len(noises) :])
        indices = tuple(inputs.rows) if shares_rows else tuple(arguments[: len(rows)])
        old, memory = rebuilt(carried, carry.unpack(arguments[len(rows) :]))
        new, new_memory, positional = one_transition(old, memory, noise, indices, step_size)
        (new, new_memory), temperatures, finite = undo_if_not_finite(
            manifold, (old, memory), (new, new_memory), noise, step_size
        )
        # One trace for all: each costs as much as a small operation on the variables.
        told = [temperature.ravel() for temperature in (*temperatures, *positional)]
        if counter:
            # PyTensor would remove a sequence that nothing uses.
            finite = finite & counted[0]
        return [*carry.pack(leaves_of((new, new_memory))), pt.concatenate(told), finite]

    initial = carry.pack(leaves_of(carried))
    traces = pytensor.scan(
        step,
        sequences=[*counter, *step_sizes, *noises, *rows],
        outputs_info=[*initial, None, None],
        return_list=True,
        return_updates=False,
        name=COUNTED if counter else "transitions",
    )
    last, memory = rebuilt(carried, carry.unpack([trace[-1] for trace in traces[: len(initial)]]))
    temperatures, finite = traces[len(initial) :]
    n_kinetic = n_variables(manifold) if getattr(state, "velocity", ()) else 0
    return last, memory, temperatures[:, :n_kinetic], temperatures[:, n_kinetic:], finite

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""One compiled function for many transitions, from state, noise and rows to the next state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

import numpy as np
import pytensor
import pytensor.tensor as pt

from pytensor.tensor import TensorVariable, tensor

from pymc_geodesic.algorithms.state import State
from pymc_geodesic.kernel.backend import Backend
from pymc_geodesic.kernel.blocks import Blocks, JoinedPotential, blocks_of, n_variables
from pymc_geodesic.kernel.graph import Carry, as_values, placeholders, to_positions, weighted
from pymc_geodesic.kernel.held import HeldInputs
from pymc_geodesic.kernel.leaves import leaves_of, shapes_of, split, unflatten
from pymc_geodesic.kernel.undo import undo_if_not_finite
from pymc_geodesic.kernel.virial import Virial, joined_moments, mean_where, numbers_of_moments
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.mass import Mass
from pymc_geodesic.potential import ControlVariateEstimator, MinibatchEstimator, Potential
from pymc_geodesic.potential.estimate import Estimator
from pymc_geodesic.potential.estimator import KnownNoise, NoiseModel

__all__ = ["Kernel", "KernelOutput", "Transition"]

Transition = Callable[
    [State, Product, Estimator, Point, TensorVariable, dict[str, TensorVariable]], State
]
"""``(state, manifold, estimator, noise, step_size, parameters) -> state``, symbolic and pure."""


def _unchanged(state: State) -> State:
    return state


class KernelOutput(NamedTuple):
    """What a call of the kernel returns, as NumPy arrays.

    Attributes
    ----------
    values : list of ndarray
        PyMC's value of each sampled variable after the last transition.
    velocity, thermostat, estimator, auxiliary : list of ndarray
        The rest of the state.
    temperature : list of float
        Kinetic temperature of each variable, averaged over the transitions; empty without
        velocities.
    configurational : list of float
        Configurational temperature of each variable, over the transitions with a fresh batch.
    diverging : bool
        Whether a transition gave a non-finite state and was undone.
    energy : float
        Potential energy of the last state, estimated from the last batch.
    moments : list of ndarray
        What the reference of configurational temperatures averages, at the last position.
    """

    values: list[np.ndarray]
    velocity: list[np.ndarray]
    thermostat: list[np.ndarray]
    estimator: list[np.ndarray]
    auxiliary: list[np.ndarray]
    temperature: list[float]
    configurational: list[float]
    diverging: bool
    energy: float
    moments: list[np.ndarray]


class Kernel:
    """Compile ``n_steps`` transitions as one scan without random generators.

    Parameters
    ----------
    potential : Potential
        Gives gradients and the variables' geometry.
    transition : Transition
        The dynamics.
    noise_model : NoiseModel
        What the estimator tells of the gradient's noise.
    initial : State
        NumPy arrays with the shapes of the state's parts; ``position`` holds PyMC's values.
    parameters : sequence of str
        Names of the scalar parameters of the dynamics.
    noise_shapes : sequence of tuple of int
        Shape of each array of standard normals that a transition is given.
    n_steps : int
        Transitions a call. Only JAX compiles it in; elsewhere one compilation serves any number.
    backend : Backend
        How to compile.
    mass : Mass, optional
        Mass of the variables; only its form is compiled in, not its values.
    control_variates : bool
        Whether gradients are taken relative to those at a center, which is an input of each call.
    enter, leave : callable
        Map a state to the coordinates in which the transitions are written, and back; once a call.
    """

    def __init__(
        self,
        potential: Potential,
        *,
        transition: Transition,
        noise_model: NoiseModel,
        initial: State,
        parameters: Sequence[str],
        noise_shapes: Sequence[tuple[int, ...]],
        n_steps: int,
        backend: Backend,
        mass: Mass | None = None,
        control_variates: bool = False,
        enter: Callable[[State], State] = _unchanged,
        leave: Callable[[State], State] = _unchanged,
    ) -> None:
        self._blocks = blocks = _blocks(potential, noise_model, initial, mass)
        self._n_moments = numbers_of_moments(potential.manifold)
        if not blocks.are_single:
            potential, mass = JoinedPotential(potential, blocks), blocks.join_mass(mass)
            noise_model, noise_shapes = KnownNoise(potential), blocks.join_shapes(noise_shapes)
            initial = blocks.join_state(initial)
        self._bounds = list(pairwise(accumulate((len(part) for part in initial), initial=0)))
        self._parameter_names = list(parameters)
        self._manifold, self._hold = potential.manifold, HeldInputs(backend)
        length = n_steps if backend.is_jax else None
        dtype = potential.variables[0].position.dtype

        carried = State(
            *(placeholders(name, part) for name, part in zip(State._fields, initial, strict=True))
        )
        symbols = {name: tensor(name, dtype=dtype, shape=()) for name in parameters}
        step_sizes = tensor("step_sizes", dtype=dtype, shape=(length,))
        noises = [tensor("noise", dtype=dtype, shape=(length, *shape)) for shape in noise_shapes]
        # Latent variables are drawn for one batch, which all transitions of a call then share.
        self._shares_rows = bool(potential.latents)
        calls = () if self._shares_rows else (length,)
        rows = [
            tensor("rows", dtype=index.type.dtype, shape=(*calls, *index.type.shape))
            for index in potential.indices
        ]

        manifold, mass_arrays = weighted(potential.manifold, mass)

        virial = Virial(potential.manifold, dtype=dtype)
        fresh = tensor("fresh", dtype="bool", shape=(length,))
        center = _center_inputs(potential) if control_variates else ()
        make_estimator = MinibatchEstimator
        if control_variates:
            make_estimator = partial(
                ControlVariateEstimator, center=center[0], center_gradient=center[1]
            )

        def one_transition(state, noise, indices, step_size):
            width = manifold.lengths(step_size)
            estimator = make_estimator(
                potential, noise_model, indices, width=width, manifold=manifold
            )
            new = transition(state, manifold, estimator, noise, step_size, symbols)
            return new, virial.temperatures(state.position, estimator.evaluation)

        def transitions(state):
            sequences = step_sizes, noises, rows
            last, temperatures, positional, finite = _scan(
                potential, one_transition, enter(state), *sequences, shares_rows=self._shares_rows
            )
            kinetic, positional = temperatures.mean(axis=0), mean_where(positional, fresh & finite)
            return leave(last), [kinetic, positional, ~pt.all(finite)]

        last_rows = rows if self._shares_rows else [row[-1] for row in rows]
        outputs = _trajectory(potential, transitions, carried, last_rows, virial)
        inputs = [
            *potential.conditioned,
            *leaves_of(carried),
            step_sizes,
            *noises,
            *rows,
            *symbols.values(),
            *mass_arrays,
            *chain.from_iterable(center),
            fresh,
            *virial.reference,
        ]
        self._function = backend.compile(inputs, outputs)

    def __call__(
        self,
        state: State,
        *,
        conditioned: Sequence[np.ndarray],
        step_sizes: np.ndarray,
        noise: Sequence[np.ndarray],
        rows: Sequence[np.ndarray],
        parameters: dict[str, np.ndarray],
        mass: Sequence[np.ndarray] = (),
        center: Sequence[np.ndarray] = (),
        fresh: np.ndarray,
        reference: Sequence[np.ndarray],
    ) -> KernelOutput:
        """Run the transitions on NumPy arrays; ``state.position`` holds PyMC's values.

        ``fresh`` marks the transitions that tell configurational temperatures, of fields chosen by
        ``reference``: those whose batch has not been used before.
        """
        if self._shares_rows:
            rows = [row[0] for row in rows]
        blocks, half = self._blocks, len(center) // 2
        outputs = self._function(
            *conditioned,
            *leaves_of(blocks.join_state(state)),
            step_sizes,
            *blocks.join_arrays(noise),
            *rows,
            *(parameters[name] for name in self._parameter_names),
            *blocks.join_mass_arrays(mass),
            *blocks.join_arrays(center[:half]),
            *blocks.join_arrays(center[half:]),
            *self._hold(fresh, *blocks.join_groups(reference, self._n_moments)),
        )
        # JAX returns before it has finished, and its arrays cannot be written to.
        outputs = [np.asarray(output) for output in outputs]
        values, velocity, *parts = [outputs[start:end] for start, end in self._bounds]
        kinetic, positional, diverging, energy, *moments = outputs[self._bounds[-1][1] :]
        return KernelOutput(
            blocks.split_arrays(values),
            blocks.split_arrays(velocity),
            *parts,
            temperature=kinetic.tolist(),
            configurational=positional.tolist(),
            diverging=bool(diverging),
            energy=float(energy),
            moments=blocks.split_groups(
                joined_moments(self._manifold, values, moments), self._n_moments
            ),
        )


def _blocks(
    potential: Potential, noise_model: NoiseModel, initial: State, mass: Mass | None
) -> Blocks:
    """Join scalars where nothing but position and velocity has a part for each variable."""
    is_exact = isinstance(noise_model, KnownNoise) and set(noise_model.variance) == {None}
    if is_exact and not initial.auxiliary and len(initial.thermostat) < 2:
        return blocks_of(potential, mass)
    return Blocks((1,) * len(potential.variables))


def _trajectory(
    potential: Potential, transitions: Callable, state: State, last_rows, virial: Virial
) -> list[TensorVariable]:
    """From PyMC's values through all transitions to the outputs of the compiled function."""
    manifold = potential.manifold
    state = state._replace(position=to_positions(potential, state.position))
    if state.velocity:
        state = state._replace(velocity=manifold.to_tangent(state.position, state.velocity))

    state, statistics = transitions(state)
    energy = potential.energy(state.position, last_rows)
    moments = virial.moments(state.position)
    if state.velocity:
        position, velocity = manifold.fold(state.position, state.velocity)
        state = state._replace(position=position, velocity=velocity)
    values = as_values(potential, state.position)
    return [*leaves_of(state._replace(position=values)), *statistics, energy, *moments]


def _scan(
    potential: Potential,
    one_transition: Callable,
    state: State,
    step_sizes,
    noises,
    rows,
    *,
    shares_rows: bool,
):
    """Run the transitions; return the last state and traces of temperatures and finiteness."""
    sizes = [len(part) for part in state]
    shapes = [
        shape for part in (potential.manifold.shapes, *shapes_of(state[1:])) for shape in part
    ]
    carry = Carry(leaves_of(state), shapes=shapes)

    sequences = noises if shares_rows else [*noises, *rows]

    def step(step_size, *arguments):
        noise, indices, leaves = split(arguments, len(noises), len(sequences) - len(noises))
        indices = tuple(rows) if shares_rows else indices
        old = unflatten(carry.unpack(leaves), sizes)
        new, positional = one_transition(old, noise, indices, step_size)
        new, temperatures, finite = undo_if_not_finite(
            potential.manifold, old, new, noise, step_size
        )
        # One trace for all: each costs as much as a small operation on the variables.
        told = [temperature.ravel() for temperature in (*temperatures, *positional)]
        return [*carry.pack(leaves_of(new)), pt.concatenate(told), finite]

    initial = carry.pack(leaves_of(state))
    traces = pytensor.scan(
        step,
        sequences=[step_sizes, *sequences],
        outputs_info=[*initial, None, None],
        return_list=True,
        return_updates=False,
        name="transitions",
    )
    last = unflatten(carry.unpack([trace[-1] for trace in traces[: len(initial)]]), sizes)
    temperatures, finite = traces[len(initial) :]
    n_kinetic = n_variables(potential.manifold) if state.velocity else 0
    return last, temperatures[:, :n_kinetic], temperatures[:, n_kinetic:], finite


def _center_inputs(potential: Potential) -> tuple[Point, Point]:
    """Make inputs for a center and for the gradient of the whole data there."""
    return tuple(
        tuple(position.type(f"{name}_{position.name}") for position in potential.positions)
        for name in ("center", "center_gradient")
    )

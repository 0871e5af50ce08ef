#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""One compiled function for many Hamiltonian trajectories with a Metropolis test each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytensor
import pytensor.tensor as pt

from pytensor.tensor import TensorVariable, tensor

from pymc_geodesic.adaptation import Mass
from pymc_geodesic.dynamics.gmc import Phase, hamiltonian, leapfrog
from pymc_geodesic.engine.backend import Backend
from pymc_geodesic.engine.graph import Carry, as_values, placeholders, to_positions, weighted
from pymc_geodesic.manifolds import Point
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
    """Compile trajectories as one flat scan over leapfrog steps.

    Refreshing the velocity and testing the trajectory are switched in by flags: one flat scan
    compiles faster than nested ones and gives the same numbers.

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
        length = n_steps if backend.is_jax else None
        dtype = potential.variables[0].position.dtype
        value_inputs = placeholders("value", values)
        step_sizes = tensor("step_sizes", dtype=dtype, shape=(length,))
        log_uniforms = tensor("log_uniforms", dtype=dtype, shape=(length,))
        noises = [
            tensor("noise", dtype=dtype, shape=(length, *shape))
            for shape in potential.manifold.shapes
        ]
        trajectory = tensor(
            "trajectory", dtype="int64", shape=(n_steps * n_leapfrog if length else None,)
        )
        manifold, mass_arrays = weighted(potential.manifold, mass)
        position = to_positions(potential, value_inputs)
        phase, statistics = _scan(
            potential, manifold, position, trajectory, n_leapfrog, step_sizes, log_uniforms, noises
        )
        acceptance, accepted, diverging, energy = statistics
        position, velocity = manifold.fold(phase.position, phase.velocity)
        outputs = [
            *as_values(potential, position),
            *velocity,
            acceptance.mean(),
            accepted.mean(),
            pt.any(diverging),
            energy[-1],
            phase.energy,
        ]
        inputs = [
            *potential.conditioned,
            *value_inputs,
            trajectory,
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
        trajectory = np.repeat(np.arange(len(step_sizes)), self.n_leapfrog)
        outputs = self._function(
            *conditioned, *values, trajectory, step_sizes, log_uniforms, *noise, *mass
        )
        # JAX returns before it has finished, and its arrays cannot be written to.
        outputs = [np.array(output) for output in outputs]
        n = self._n_values
        acceptance, accepted, diverging, energy, potential = outputs[2 * n :]
        return MetropolisOutput(
            outputs[:n],
            float(acceptance),
            float(accepted),
            bool(diverging),
            float(energy),
            float(potential),
            outputs[n : 2 * n],
        )


def _scan(potential, manifold, position, trajectory, n_leapfrog, step_sizes, log_uniforms, noises):
    """Run all leapfrog steps; return the last phase and each trajectory's statistics."""

    def energy_and_gradient(x):
        energy, gradient = potential.energy_and_gradient(x, [])
        return energy, manifold.to_frame(gradient)

    energy, gradient = energy_and_gradient(position)
    start = Phase(position, tuple(pt.zeros_like(x) for x in position), gradient, energy)
    phase_shapes = [*manifold.shapes * 3, ()]
    # The current phase, the phase at the start of the trajectory, and the Hamiltonian there.
    begin = [*_leaves(start), *_leaves(start), energy]
    carry = Carry(begin, shapes=[*phase_shapes * 2, ()])
    n_leaves = len(phase_shapes)

    def step(which, count, *carried):
        leaves = carry.unpack(carried)
        current = _phase(leaves[:n_leaves])
        kept, kept_energy = _phase(leaves[n_leaves : 2 * n_leaves]), leaves[-1]
        first = pt.eq(count % n_leapfrog, 0)
        last = pt.eq(count % n_leapfrog, n_leapfrog - 1)

        fresh = manifold.to_tangent(current.position, tuple(noise[which] for noise in noises))
        current = current._replace(velocity=_choose(first, fresh, current.velocity))
        kept = _phase(_choose(first, _leaves(current), _leaves(kept)))
        kept_energy = pt.switch(first, hamiltonian(manifold, current), kept_energy)
        moved = leapfrog(
            current,
            manifold=manifold,
            energy_and_gradient=energy_and_gradient,
            step_size=step_sizes[which],
        )
        moved_energy = hamiltonian(manifold, moved)
        acceptance, diverging = _metropolis(kept_energy, moved_energy)
        accepted = pt.lt(log_uniforms[which], pt.log(acceptance))
        moved = _phase(_choose(last & ~accepted, _leaves(kept), _leaves(moved)))
        energy = pt.switch(accepted, moved_energy, kept_energy)
        carried = carry.pack([*_leaves(moved), *_leaves(kept), kept_energy])
        return [*carried, acceptance, accepted.astype(energy.dtype), diverging, energy]

    traces = pytensor.scan(
        step,
        sequences=[trajectory, pt.arange(trajectory.shape[0])],
        outputs_info=[*carry.pack(begin), *[None] * 4],
        return_list=True,
        return_updates=False,
        name="trajectories",
    )
    last = _phase(carry.unpack([trace[-1] for trace in traces[:-4]])[:n_leaves])
    return last, [trace[n_leapfrog - 1 :: n_leapfrog] for trace in traces[-4:]]


def _metropolis(before: TensorVariable, after: TensorVariable):
    """Return the acceptance probability, zero where not finite, and whether it diverged."""
    error = after - before
    bad = pt.isnan(error) | pt.isinf(error)
    acceptance = pt.switch(bad, 0.0, pt.exp(pt.minimum(0.0, -error)))
    return acceptance, bad


def _leaves(phase: Phase) -> list[TensorVariable]:
    return [*phase.position, *phase.velocity, *phase.gradient, phase.energy]


def _phase(leaves: Sequence[TensorVariable]) -> Phase:
    n = (len(leaves) - 1) // 3
    return Phase(
        tuple(leaves[:n]), tuple(leaves[n : 2 * n]), tuple(leaves[2 * n : 3 * n]), leaves[-1]
    )


def _choose(condition: TensorVariable, yes: Sequence, no: Sequence) -> Point:
    return tuple(pt.switch(condition, a, b) for a, b in zip(yes, no, strict=True))

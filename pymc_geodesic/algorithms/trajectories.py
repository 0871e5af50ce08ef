#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Hamiltonian trajectories with a Metropolis test each, as one flat scan over leapfrog steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pytensor
import pytensor.tensor as pt

from pytensor.tensor import TensorVariable, tensor

from pymc_geodesic.algorithms.gmc import Phase, hamiltonian, leapfrog
from pymc_geodesic.algorithms.row_adaptation import RowAdaptation
from pymc_geodesic.kernel.carry import Carry
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.manifolds.product import along_rows

__all__ = ["Trajectories", "leapfrog_schedule", "run_trajectories", "schedule_input"]


class Trajectories(NamedTuple):
    """What all trajectories give, symbolically.

    Attributes
    ----------
    last : Phase
        After the last trajectory and its test.
    first_energy : TensorVariable
        Potential energy where the first trajectory starts.
    positions : tuple of TensorVariable
        Position after each trajectory, ``(n_trajectories, ...)``, one tensor per variable.
    acceptance, accepted, diverging, energy : TensorVariable
        Of each trajectory, and of each row where rows are tested by themselves: probability of
        acceptance, whether it was accepted, whether the energy was not finite, and the Hamiltonian
        after the test.
    log_step_sizes : TensorVariable or None
        Of each row as it has adapted, where rows adapt.
    """

    last: Phase
    first_energy: TensorVariable
    positions: Point
    acceptance: TensorVariable
    accepted: TensorVariable
    diverging: TensorVariable
    energy: TensorVariable
    log_step_sizes: TensorVariable | None


def run_trajectories(
    position: Point,
    *,
    manifold: Product,
    energy_and_gradient: Callable[[Point], tuple[TensorVariable, Point]],
    n_rows: int | None = None,
    n_leapfrog: int,
    schedule: TensorVariable,
    step_sizes: TensorVariable,
    log_uniforms: TensorVariable,
    noises: Sequence[TensorVariable],
    adaptation: RowAdaptation | None = None,
) -> Trajectories:
    """Run trajectories from a position.

    Refreshing the velocity and testing the trajectory are switched in by flags: one flat scan
    compiles faster than nested ones and gives the same numbers. So does a step of no length before
    all others, which finds the energy and gradient at the start where every other step finds its.

    Parameters
    ----------
    position : tuple of TensorVariable
        Where the first trajectory starts.
    manifold : Product
        Where it moves.
    energy_and_gradient : callable
        Potential energy and gradient at a position; one energy for each row if ``n_rows`` is given.
    n_rows : int, optional
        Length of the first axis of all variables, if their rows are independent of each other and
        are accepted by themselves.
    n_leapfrog : int
        Leapfrog steps per trajectory.
    schedule : TensorVariable, shape (n_trajectories * n_leapfrog + 1, 4)
        What each leapfrog step does, from :func:`leapfrog_schedule`.
    step_sizes : TensorVariable, shape (n_trajectories,) or (n_trajectories, n_rows)
        Step size of the leapfrog in each trajectory; where rows adapt, by which theirs is
        multiplied.
    log_uniforms : TensorVariable, shape (n_trajectories,) or (n_trajectories, n_rows)
        Logarithms of the uniforms of the Metropolis tests.
    noises : sequence of TensorVariable
        Standard normals for the velocities of each trajectory, one array per variable.
    adaptation : RowAdaptation, optional
        How the rows' own step sizes adapt.

    Returns
    -------
    Trajectories
        With a first axis for the trajectories, but in ``last`` and ``log_step_sizes``.
    """
    energy_shape = () if n_rows is None else (n_rows,)
    energy = pt.zeros(energy_shape, dtype=position[0].dtype)
    at_rest = tuple(pt.zeros_like(x) for x in position)
    start = Phase(position, at_rest, at_rest, energy)
    phase_shapes = [*manifold.shapes * 3, energy_shape]
    # The current phase, the phase at the start of the trajectory, the Hamiltonian there, and the
    # logarithms of the step sizes if rows adapt.
    own = [] if adaptation is None else [adaptation.log_start]
    begin = [*_leaves(start), *_leaves(start), energy, *own]
    carry = Carry(begin, shapes=[*phase_shapes * 2, energy_shape, *[(n_rows,)] * len(own)])
    n_leaves = len(phase_shapes)

    def step(row, *carried):
        which, (at_start, first, last) = row[0], (pt.eq(row[i], 1) for i in (1, 2, 3))
        leaves = carry.unpack(carried)
        current = _phase(leaves[:n_leaves])
        kept, kept_energy = _phase(leaves[n_leaves : 2 * n_leaves]), leaves[2 * n_leaves]
        log_own = leaves[2 * n_leaves + 1 :]
        step_size = step_sizes[which]
        if adaptation is not None:
            step_size = step_size * adaptation.step_size(*log_own, which)

        fresh = manifold.to_tangent(current.position, tuple(noise[which] for noise in noises))
        current = current._replace(velocity=_choose(first, fresh, current.velocity))
        kept = _phase(_choose(first, _leaves(current), _leaves(kept)))
        kept_energy = pt.switch(first, hamiltonian(current), kept_energy)
        moved = leapfrog(
            current,
            manifold=manifold,
            energy_and_gradient=energy_and_gradient,
            step_size=pt.switch(at_start, 0, step_size),
        )
        moved_energy = hamiltonian(moved)
        acceptance, diverging = _metropolis(kept_energy, moved_energy)
        accepted = pt.lt(log_uniforms[which], pt.log(acceptance))
        moved = _phase(_choose(last & ~accepted, _leaves(kept), _leaves(moved)))
        energy = pt.switch(accepted, moved_energy, kept_energy)
        if adaptation is not None:
            adapted = adaptation.adapted(*log_own, which, acceptance)
            log_own = [pt.switch(last, adapted, *log_own)]
        carried = carry.pack([*_leaves(moved), *_leaves(kept), kept_energy, *log_own])
        return [*carried, acceptance, accepted.astype(energy.dtype), diverging, energy]

    traces = pytensor.scan(
        step,
        sequences=[schedule],
        outputs_info=[*carry.pack(begin), *[None] * 4],
        return_list=True,
        return_updates=False,
        name="trajectories",
    )
    ends = slice(n_leapfrog, None, n_leapfrog)
    finally_carried = carry.unpack([trace[-1] for trace in traces[:-4]])
    last = _phase(finally_carried[:n_leaves])
    log_ends = None if adaptation is None else finally_carried[-1]
    first_energy = _phase(carry.unpack([trace[0] for trace in traces[:-4]])[:n_leaves]).energy
    positions = tuple(trace[ends] for trace in traces[: len(position)])
    at_ends = [trace[ends] for trace in traces[-4:]]
    return Trajectories(last, first_energy, positions, *at_ends, log_ends)


def schedule_input(n_trajectories: int | None, n_leapfrog: int) -> TensorVariable:
    """Make the input for a schedule, of a length that is known for JAX alone."""
    length = None if n_trajectories is None else n_trajectories * n_leapfrog + 1
    return tensor("schedule", dtype="int64", shape=(length, 4))


@lru_cache(maxsize=8)
def leapfrog_schedule(n_trajectories: int, n_leapfrog: int) -> np.ndarray:
    """Say of each step which trajectory it belongs to, and where it is.

    Returns
    -------
    ndarray of int, shape (n_trajectories * n_leapfrog + 1, 4)
        The number of the trajectory, and one or zero for: the step of no length before all others,
        the first of a trajectory, the last of one.
    """
    schedule = np.zeros((n_trajectories * n_leapfrog + 1, 4), dtype="int64")
    schedule[1:, 0] = np.repeat(np.arange(n_trajectories), n_leapfrog)
    schedule[0, 1] = schedule[1::n_leapfrog, 2] = schedule[n_leapfrog::n_leapfrog, 3] = 1
    return schedule


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
    return tuple(pt.switch(along_rows(condition, a), a, b) for a, b in zip(yes, no, strict=True))

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
from pymc_geodesic.kernel.trees import Tree, leaves_of, rebuilt
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.manifolds.product import along_rows

__all__ = ["Trajectories", "leapfrog_schedule", "run_trajectories", "schedule_input"]


class Trajectories(NamedTuple):
    """Symbolic results of all trajectories.

    Attributes
    ----------
    last : Phase
        After the last trajectory and its test.
    first_energy : TensorVariable
        Potential energy where the first trajectory starts.
    positions : tuple of TensorVariable
        Position after each trajectory, ``(n_trajectories, ...)``, one tensor per variable.
    acceptance, accepted, diverging, energy : TensorVariable
        For each trajectory, and for each row if rows are tested separately: probability of
        acceptance, whether it was accepted, whether the energy was not finite, and the Hamiltonian
        after the test.
    log_step_sizes : TensorVariable or None
        The adapted step size of each row, if rows adapt.
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

    Flags switch on the refreshment of the velocity and the test of the trajectory: one flat scan
    compiles faster than nested ones and gives the same numbers. A step of length zero comes before
    all others, because every step evaluates the energy and gradient at its end.

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
        are accepted separately.
    n_leapfrog : int
        Leapfrog steps per trajectory.
    schedule : TensorVariable, shape (n_trajectories * n_leapfrog + 1, 4)
        The role of each leapfrog step, from :func:`leapfrog_schedule`.
    step_sizes : TensorVariable, shape (n_trajectories,) or (n_trajectories, n_rows)
        Step size of the leapfrog in each trajectory. If rows adapt, it multiplies the rows' own
        step sizes.
    log_uniforms : TensorVariable, shape (n_trajectories,) or (n_trajectories, n_rows)
        Logarithms of the uniforms of the Metropolis tests.
    noises : sequence of TensorVariable
        Standard normals for the velocities of each trajectory, one array per variable.
    adaptation : RowAdaptation, optional
        How the rows' own step sizes adapt.

    Returns
    -------
    Trajectories
        The first axis is the trajectory, except in ``last`` and ``log_step_sizes``.
    """
    begin, carry = _begin(position, manifold, n_rows, adaptation)

    def step(row, *carried):
        old = rebuilt(begin, carry.unpack(carried))
        which, flags = row[0], Flags(*(pt.eq(row[i], 1) for i in (1, 2, 3)))
        new, told = _leapfrog_step(
            old,
            flags,
            manifold=manifold,
            energy_and_gradient=energy_and_gradient,
            step_size=_step_size(step_sizes[which], old, which, adaptation),
            log_uniform=log_uniforms[which],
            noise=tuple(noise[which] for noise in noises),
        )
        if adaptation is not None:
            adapted = adaptation.adapted(old.log_own, which, told[0])
            new = new._replace(log_own=pt.switch(flags.last, adapted, old.log_own))
        return [*carry.pack(leaves_of(new)), *told]

    traces = pytensor.scan(
        step,
        sequences=[schedule],
        outputs_info=[*carry.pack(leaves_of(begin)), *[None] * 4],
        return_list=True,
        return_updates=False,
        name="trajectories",
    )
    return _read(traces, begin, carry, slice(n_leapfrog, None, n_leapfrog))


class Carried(NamedTuple):
    """The values that the scan carries.

    Attributes
    ----------
    current, kept : Phase
        Now, and at the start of the trajectory.
    kept_energy : TensorVariable
        The Hamiltonian there.
    log_own : TensorVariable or None
        Logarithms of the rows' step sizes, if they adapt.
    """

    current: Phase
    kept: Phase
    kept_energy: TensorVariable
    log_own: TensorVariable | None


class Flags(NamedTuple):
    """Whether a step has length zero, is the first of its trajectory, or the last."""

    at_start: TensorVariable
    first: TensorVariable
    last: TensorVariable


def _begin(
    position: Point, manifold: Product, n_rows: int | None, adaptation: RowAdaptation | None
) -> tuple[Carried, Carry]:
    """Return the initial values of the scan at a position, and their structure."""
    energy_shape = () if n_rows is None else (n_rows,)
    energy = pt.zeros(energy_shape, dtype=position[0].dtype)
    at_rest = tuple(pt.zeros_like(x) for x in position)
    start = Phase(position, at_rest, at_rest, energy)
    begin = Carried(start, start, energy, None if adaptation is None else adaptation.log_start)
    phase_shapes = [*manifold.shapes * 3, energy_shape]
    own_shapes = [] if adaptation is None else [energy_shape]
    shapes = [*phase_shapes * 2, energy_shape, *own_shapes]
    return begin, Carry(leaves_of(begin), shapes=shapes)


def _read(
    traces: Sequence[TensorVariable], begin: Carried, carry: Carry, ends: slice
) -> Trajectories:
    """Take the results of the trajectories from the traces of all leapfrog steps."""
    carried, told = traces[:-4], traces[-4:]
    first, last = (rebuilt(begin, carry.unpack([trace[i] for trace in carried])) for i in (0, -1))
    acceptance, accepted, diverging, energy = (trace[ends] for trace in told)
    return Trajectories(
        last=last.current,
        first_energy=first.current.energy,
        positions=tuple(trace[ends] for trace in carried[: len(begin.current.position)]),
        acceptance=acceptance,
        accepted=accepted,
        diverging=diverging,
        energy=energy,
        log_step_sizes=last.log_own,
    )


def _step_size(
    given: TensorVariable, old: Carried, which: TensorVariable, adaptation: RowAdaptation | None
) -> TensorVariable:
    if adaptation is None:
        return given
    return given * adaptation.step_size(old.log_own, which)


def _leapfrog_step(
    old: Carried,
    flags: Flags,
    *,
    manifold: Product,
    energy_and_gradient: Callable[[Point], tuple[TensorVariable, Point]],
    step_size: TensorVariable,
    log_uniform: TensorVariable,
    noise: Point,
) -> tuple[Carried, list[TensorVariable]]:
    """Make a leapfrog step, with a new velocity before it and a test after it where flags say so.

    Also return the recorded values: acceptance, accepted, diverging and energy.
    """
    fresh = manifold.to_tangent(old.current.position, noise)
    velocity = _choose(flags.first, fresh, old.current.velocity)
    current = old.current._replace(velocity=velocity)
    kept = _choose(flags.first, current, old.kept)
    kept_energy = pt.switch(flags.first, hamiltonian(current), old.kept_energy)
    moved = leapfrog(
        current,
        manifold=manifold,
        energy_and_gradient=energy_and_gradient,
        step_size=pt.switch(flags.at_start, 0, step_size),
    )
    moved_energy = hamiltonian(moved)
    acceptance, diverging = _metropolis(kept_energy, moved_energy)
    accepted = pt.lt(log_uniform, pt.log(acceptance))
    moved = _choose(flags.last & ~accepted, kept, moved)
    energy = pt.switch(accepted, moved_energy, kept_energy)
    new = Carried(moved, kept, kept_energy, old.log_own)
    return new, [acceptance, accepted.astype(energy.dtype), diverging, energy]


def schedule_input(n_trajectories: int, n_leapfrog: int) -> TensorVariable:
    """Make the input for a schedule."""
    return tensor("schedule", dtype="int64", shape=(n_trajectories * n_leapfrog + 1, 4))


@lru_cache(maxsize=8)
def leapfrog_schedule(n_trajectories: int, n_leapfrog: int) -> np.ndarray:
    """Return the trajectory and the role of each step.

    Returns
    -------
    ndarray of int, shape (n_trajectories * n_leapfrog + 1, 4)
        The number of the trajectory, and one or zero for: the step of length zero before all
        others, the first step of a trajectory, the last step of a trajectory.
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


def _choose(condition: TensorVariable, yes: Tree, no: Tree) -> Tree:
    pairs = zip(leaves_of(yes), leaves_of(no), strict=True)
    return rebuilt(yes, [pt.switch(along_rows(condition, a), a, b) for a, b in pairs])

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Hamiltonian trajectories with a Metropolis test each, as one flat scan over leapfrog steps."""

from __future__ import annotations

import math

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.kernel.interface import Tree, leaves_of, rebuilt
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.manifolds.product import along_rows

__all__ = ["Phase", "RowAdaptation", "Trajectories", "hamiltonian", "leapfrog", "run_trajectories"]


class Phase(NamedTuple):
    """A point of phase space with the potential energy and gradient there.

    Attributes
    ----------
    position, velocity, gradient : tuple of array
        One tensor per variable.
    energy : array
        Potential energy at the position: a scalar, or one for each row of independent rows.
    """

    position: Point
    velocity: Point
    gradient: Point
    energy: Array


def leapfrog(
    phase: Phase,
    *,
    manifold: Product,
    energy_and_gradient: Callable[[Point], tuple[Array, Point]],
    step_size: Array,
) -> Phase:
    r"""One step of Algorithm 1 of Byrne and Girolami (2013).

    .. math::

        v &\leftarrow \Lambda(x) [v - \tfrac{\epsilon}{2} \nabla U(x)] \\
        (x, v) &\leftarrow \text{geodesic}(x, v, \epsilon) \\
        v &\leftarrow \Lambda(x) [v - \tfrac{\epsilon}{2} \nabla U(x)]

    The step size is one number for all variables, or one for each row of independent rows.
    """
    velocity = _half_kick(manifold, phase, step_size)
    position, velocity = manifold.geodesic(phase.position, velocity, step_size)
    energy, gradient = energy_and_gradient(position)
    moved = Phase(position, velocity, gradient, energy)
    return moved._replace(velocity=_half_kick(manifold, moved, step_size))


def hamiltonian(phase: Phase) -> Array:
    """Total energy ``U(x) + v.v / 2``, one number or one per row, like the potential energy."""
    n_row_axes = phase.energy.ndim
    squares = [(v * v).sum(axis=tuple(range(n_row_axes, v.ndim))) for v in phase.velocity]
    return phase.energy + 0.5 * sum(squares)


def _half_kick(manifold: Product, phase: Phase, step_size: Array) -> Point:
    kicked = tuple(
        v - along_rows(0.5 * step_size, v) * g
        for v, g in zip(phase.velocity, phase.gradient, strict=True)
    )
    return manifold.to_tangent(phase.position, kicked)


# A row that adapts for some ten trajectories finds its step size up to a factor of about two.
NEAR, FAR = math.log(2.0), math.log(4.0)


class RowAdaptation(NamedTuple):
    """How the step sizes of independent rows follow their acceptance probabilities.

    Attributes
    ----------
    log_start : array, shape (n_rows,)
        Logarithms of the step sizes at the start.
    gains : array, shape (n_trajectories,)
        Change of the logarithm for an excess of one over the target; zero after the
        trajectories that adapt.
    target_accept : float
        Target of the acceptance probability.
    """

    log_start: Array
    gains: Array
    target_accept: float

    def step_size(self, log_own: Array, which: Array) -> Array:
        r"""Return the rows' step sizes in a trajectory: their own step sizes while they adapt.

        A row's own step size depends on the states that it has visited, and so on its present
        state. Keeping it would bias the draws until the chain has forgotten that state. After
        adaptation a row therefore returns to the initial step size, unless its own differs by more
        than a factor of two; beyond a factor of four the row keeps its own. This is firm
        thresholding of the difference d of the logarithms,

        .. math::

            d \mapsto \min\bigl(|d|, \max(0, 2 |d| - 2 \log 2)\bigr) \, \operatorname{sign} d.
        """
        found = log_own - self.log_start
        size = abs(found)
        # The line from zero at NEAR meets the diagonal at FAR.
        line = FAR / (FAR - NEAR) * arrays.maximum(size - NEAR, 0)
        kept = self.log_start + arrays.sign(found) * arrays.minimum(size, line)
        return arrays.exp(arrays.where(self.gains[which] > 0, log_own, kept))

    def adapted(self, log_own: Array, which: Array, acceptance: Array) -> Array:
        """Return the logarithms of the rows' own step sizes after a trajectory."""
        return log_own + self.gains[which] * (acceptance - self.target_accept)


class Trajectories(NamedTuple):
    """Results of all trajectories.

    Attributes
    ----------
    last : Phase
        After the last trajectory and its test.
    first_energy : array
        Potential energy where the first trajectory starts.
    positions : tuple of array
        Position after each trajectory, ``(n_trajectories, ...)``, one array per variable.
    acceptance, accepted, diverging, energy : array
        For each trajectory, and for each row if rows are tested separately: probability of
        acceptance, whether it was accepted, whether the energy was not finite, and the Hamiltonian
        after the test.
    log_step_sizes : array or None
        The adapted step size of each row, if rows adapt.
    """

    last: Phase
    first_energy: Array
    positions: Point
    acceptance: Array
    accepted: Array
    diverging: Array
    energy: Array
    log_step_sizes: Array | None


def run_trajectories(
    position: Point,
    *,
    manifold: Product,
    energy_and_gradient: Callable[[Point], tuple[Array, Point]],
    n_leapfrog: int,
    step_sizes: Array,
    log_uniforms: Array,
    noises: Sequence[Array],
    adaptation: RowAdaptation | None = None,
) -> Trajectories:
    """Run trajectories from a position, as a loop that JAX traces.

    Parameters
    ----------
    position : tuple of array
        Where the first trajectory starts.
    manifold : Product
        Where it moves.
    energy_and_gradient : callable
        Potential energy and gradient at a position. If the rows of all variables are independent
        of each other and are accepted separately, one energy for each row.
    n_leapfrog : int
        Leapfrog steps per trajectory.
    step_sizes : array, shape (n_trajectories,) or (n_trajectories, n_rows)
        Step size of the leapfrog in each trajectory. If rows adapt, it multiplies the rows' own
        step sizes.
    log_uniforms : array, shape (n_trajectories,) or (n_trajectories, n_rows)
        Logarithms of the uniforms of the Metropolis tests.
    noises : sequence of array
        Standard normals for the velocities of each trajectory, one array per variable.
    adaptation : RowAdaptation, optional
        How the rows' own step sizes adapt.

    Returns
    -------
    Trajectories
        The first axis is the trajectory, except in ``last`` and ``log_step_sizes``.
    """
    import jax
    import jax.numpy as jnp

    energy, gradient = energy_and_gradient(position)
    at_rest = tuple(jnp.zeros_like(x) for x in position)
    begin = Phase(position, at_rest, gradient, energy.astype(position[0].dtype))
    log_start = None if adaptation is None else adaptation.log_start

    def one(carried, given):
        phase, log_own = carried
        which, step_size, log_uniform, noise = given
        if adaptation is not None:
            step_size = step_size * adaptation.step_size(log_own, which)
        phase, outcome = _trajectory(
            phase,
            manifold=manifold,
            energy_and_gradient=energy_and_gradient,
            n_leapfrog=n_leapfrog,
            step_size=step_size,
            log_uniform=log_uniform,
            noise=noise,
        )
        if adaptation is not None:
            log_own = adaptation.adapted(log_own, which, outcome.acceptance).astype(log_own.dtype)
        return (phase, log_own), (phase.position, outcome)

    given = jnp.arange(len(step_sizes)), step_sizes, log_uniforms, tuple(noises)
    (last, log_own), (positions, outcome) = jax.lax.scan(one, (begin, log_start), given)
    return Trajectories(
        last=last,
        first_energy=begin.energy,
        positions=positions,
        log_step_sizes=log_own,
        **outcome._asdict(),
    )


class Outcome(NamedTuple):
    """What is recorded of a trajectory; see :class:`Trajectories`."""

    acceptance: Array
    accepted: Array
    diverging: Array
    energy: Array


def _trajectory(
    phase: Phase,
    *,
    manifold: Product,
    energy_and_gradient: Callable[[Point], tuple[Array, Point]],
    n_leapfrog: int,
    step_size: Array,
    log_uniform: Array,
    noise: Point,
) -> tuple[Phase, Outcome]:
    """Make the leapfrog steps with a new velocity, and test the end."""
    import jax

    start = phase._replace(velocity=manifold.to_tangent(phase.position, noise))

    def step(_, phase):
        moved = leapfrog(
            phase,
            manifold=manifold,
            energy_and_gradient=energy_and_gradient,
            step_size=step_size,
        )
        return _typed(moved, phase)

    moved = jax.lax.fori_loop(0, n_leapfrog, step, start)
    before, after = hamiltonian(start), hamiltonian(moved)
    acceptance, diverging = _metropolis(before, after)
    accepted = log_uniform < arrays.log(acceptance)
    energy = arrays.where(accepted, after, before)
    kept = _typed(_choose(accepted, moved, start), phase)
    return kept, Outcome(acceptance, accepted.astype(energy.dtype), diverging, energy)


def _metropolis(before: Array, after: Array) -> tuple[Array, Array]:
    """Return the acceptance probability, zero where not finite, and whether it diverged."""
    error = after - before
    bad = ~arrays.isfinite(error)
    return arrays.where(bad, 0.0, arrays.exp(arrays.minimum(0.0, -error))), bad


def _choose(condition: Array, yes: Tree, no: Tree) -> Tree:
    pairs = zip(leaves_of(yes), leaves_of(no), strict=True)
    return rebuilt(yes, [arrays.where(along_rows(condition, a), a, b) for a, b in pairs])


def _typed(new: Tree, old: Tree) -> Tree:
    """Give arrays the types of others: a loop must not change them."""
    pairs = zip(leaves_of(new), leaves_of(old), strict=True)
    return rebuilt(new, [a.astype(b.dtype) for a, b in pairs])

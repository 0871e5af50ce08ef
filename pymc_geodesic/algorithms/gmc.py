#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Geodesic Monte Carlo: the leapfrog on a product of manifolds."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.manifolds.product import along_rows

__all__ = ["Phase", "hamiltonian", "leapfrog"]


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

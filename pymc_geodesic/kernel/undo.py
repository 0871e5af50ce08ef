#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Undoing transitions to states that are not finite."""

from __future__ import annotations

from typing import Any

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.kernel.blocks import Scalars
from pymc_geodesic.kernel.trees import leaves_of, rebuilt
from pymc_geodesic.manifolds import Point, Product

__all__ = ["undo_if_not_finite"]

# exp(-20) damps a velocity completely. Gradient noise that needs such damping would change the
# velocity by six times its thermal value at every transition.
LARGEST_DAMPING = 20.0


def undo_if_not_finite(
    manifold: Product,
    old: tuple[Any, Any],
    new: tuple[Any, Any],
    noise: Point,
    step_size: Array,
) -> tuple[tuple[Any, Any], list[Array], Array]:
    """Keep the old state and memory if the new ones are not finite, with a velocity drawn anew.

    The kinetic energy is finite exactly if every velocity is, and a position can only become
    infinite one transition after its velocity has overflowed. A thermostat does not overflow: it
    would stop a diverging chain forever wherever it is, so such a transition is undone too.
    """
    (old_state, old_memory), state = old, new[0]
    if velocity := getattr(state, "velocity", ()):
        points = manifold.squared_norm(velocity)
        squares = [square.sum() for square in points]
        temperatures = [
            # Scalar variables have one each.
            of_points if isinstance(factor, Scalars) else square / float(dim)
            for factor, of_points, square, dim in zip(
                manifold.factors, points, squares, manifold.dims, strict=True
            )
        ]
        finite = ~arrays.isinf(sum(squares)) & ~arrays.isnan(sum(squares))
        for xi in getattr(state, "thermostat", ()):
            finite = finite & arrays.all(arrays.abs(xi) * step_size < LARGEST_DAMPING)
        fresh = tuple(noise[: len(velocity)])
        old_state = old_state._replace(velocity=manifold.to_tangent(old_state.position, fresh))
    else:
        temperatures = []
        total = sum(position.sum() for position in state.position)
        finite = ~arrays.isinf(total) & ~arrays.isnan(total)
    pairs = zip(leaves_of(new), leaves_of((old_state, old_memory)), strict=True)
    kept = [arrays.where(finite, moved, x) for moved, x in pairs]
    return rebuilt(new, kept), temperatures, finite

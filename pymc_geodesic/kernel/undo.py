#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Undoing transitions to states that are not finite."""

from __future__ import annotations

import pytensor.tensor as pt

from pytensor.conditional.op import ifelse
from pytensor.tensor import TensorVariable

from pymc_geodesic.algorithms.state import State
from pymc_geodesic.kernel.blocks import Scalars
from pymc_geodesic.kernel.leaves import leaves_of, unflatten
from pymc_geodesic.manifolds import Point, Product

__all__ = ["undo_if_not_finite"]

# exp(-20) leaves nothing of a velocity; gradient noise that needs it would throw the chain by six
# times its thermal velocity at every transition.
LARGEST_DAMPING = 20.0


def undo_if_not_finite(
    manifold: Product, old: State, new: State, noise: Point, step_size: TensorVariable
) -> tuple[State, list[TensorVariable], TensorVariable]:
    """Keep the old state where the new one is not finite, with a velocity drawn anew.

    The kinetic energy is finite exactly if every velocity is, and a position can only become
    infinite one transition after its velocity has overflowed. A thermostat does not overflow: it
    stops a chain that is thrown out, wherever it is and for ever, so that is undone too.
    """
    if new.velocity:
        points = manifold.squared_norm(new.velocity)
        squares = [square.sum() for square in points]
        temperatures = [
            # Scalar variables have one each.
            of_points if isinstance(factor, Scalars) else square / float(dim)
            for factor, of_points, square, dim in zip(
                manifold.factors, points, squares, manifold.dims, strict=True
            )
        ]
        finite = ~pt.isinf(sum(squares)) & ~pt.isnan(sum(squares))
        for xi in new.thermostat:
            finite = finite & pt.all(pt.abs(xi) * step_size < LARGEST_DAMPING)
        fresh = tuple(noise[: len(old.position)])
        old = old._replace(velocity=manifold.to_tangent(old.position, fresh))
    else:
        temperatures = []
        total = sum(position.sum() for position in new.position)
        finite = ~pt.isinf(total) & ~pt.isnan(total)
    # With `switch` PyTensor would not fuse the operations that the new state comes from.
    proposed = leaves_of(new)
    pairs = zip(proposed, leaves_of(old), strict=True)
    kept = ifelse(finite, proposed, [b.type.filter_variable(a) for b, a in pairs])
    return unflatten(kept, [len(part) for part in new]), temperatures, finite

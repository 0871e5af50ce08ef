#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""The configurational temperature of a transition, from the gradient that it evaluates.

For a vector field F that does not depend on the chain,
:math:`E[F \cdot \nabla U] = T E[\operatorname{div} F]` under the density :math:`\exp(-U / T)`. The
fields are those of the manifolds, chosen by a *reference*: means over past draws.

The splittings evaluate the gradient half a step away from the positions that they return. F is
evaluated at the start of the transition instead. For a Gaussian target the average is then exactly
the temperature of the draws. Positions half a step away are too wide by
:math:`1 / (1 - \epsilon^2 \omega^2 / 4)`, like the velocities of a thermostat.

Only the first transition of each batch counts. Later transitions start where the batch's own noise
has moved the chain. By the virial theorem a thermostat fixes the average over *these* at one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.kernel.blocks import Scalars
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.manifolds.fields import Visit

__all__ = [
    "Virial",
    "joined_moments",
    "numbers_of_moments",
    "reference_shapes",
]


def reference_shapes(manifold: Product) -> list[tuple[int, ...]]:
    """Shape of each array of the reference, for all variables in order."""
    pairs = zip(manifold.factors, manifold.shapes, strict=True)
    return [shape for factor, own in pairs for shape in factor.field_shapes(own)]


def numbers_of_moments(manifold: Product) -> list[int]:
    """Count the arrays of the reference that belong to each variable."""
    pairs = zip(manifold.factors, manifold.shapes, strict=True)
    return [len(factor.field_shapes(own)) for factor, own in pairs]


def joined_moments(
    manifold: Product, values: Sequence[np.ndarray], moments: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Join the outputs of the kernel to the moments of all variables."""
    rest, triples = iter(moments), zip(manifold.factors, manifold.shapes, values, strict=True)
    return [
        value if factor.is_flat else next(rest)
        for factor, shape, value in triples
        for _ in factor.field_shapes(shape)
    ]


class Virial:
    """Configurational temperatures of the variables of a kernel.

    Parameters
    ----------
    manifold : Product
        The manifold of the variables.
    reference : sequence of array
        The means that choose the fields.
    """

    def __init__(self, manifold: Product, *, reference: Sequence[Array]) -> None:
        self.manifold, self.reference = manifold, reference

    def moments(self, position: Point) -> list[Array]:
        """Write the quantities whose means are the reference, at the last position of a call.

        Flat variables are left out: :func:`joined_moments` uses their values.
        """
        pairs = zip(self.manifold.factors, position, strict=True)
        return [m for factor, x in pairs if not factor.is_flat for m in factor.field_moments(x)]

    def temperatures(self, start: Point, evaluation: tuple[Point, Point] | None) -> list[Array]:
        """Temperature of each variable from one transition; NaN if it evaluated no gradient."""
        if evaluation is None:
            pairs = zip(self.manifold.factors, start, strict=True)
            nan = [np.asarray(np.nan, dtype=x.dtype) for x in start]
            return [
                arrays.full_like(x, np.nan) if isinstance(factor, Scalars) else none
                for (factor, x), none in zip(pairs, nan, strict=True)
            ]
        found, references = [], iter(self.reference)
        dims = map(float, self.manifold.dims)
        for factor, shape, dim, *visit in zip(
            self.manifold.factors, self.manifold.shapes, dims, start, *evaluation, strict=True
        ):
            own = [next(references) for _ in factor.field_shapes(shape)]
            terms = factor.field_work(Visit(*visit), own, dim=dim)
            found.append(1 + (terms.work - terms.divergence) / terms.expected)
        return found

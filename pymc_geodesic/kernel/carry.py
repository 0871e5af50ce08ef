#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Parts of the graphs of kernels: types for the scan, the frame of a mass, PyMC's values."""

from __future__ import annotations

from collections.abc import Sequence

import pytensor.tensor as pt

from pytensor.tensor import TensorVariable

from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.mass import Mass
from pymc_geodesic.mass.frames import WeightedProduct
from pymc_geodesic.potential.estimate import PotentialEnergy

__all__ = ["Carry", "as_points", "as_values", "weighted"]


def as_points(potential: PotentialEnergy, values: Sequence[TensorVariable]) -> Point:
    """Map PyMC's values to points exactly on the manifolds."""
    position = tuple(
        variable.to_position(value)
        for variable, value in zip(potential.variables, values, strict=True)
    )
    return potential.manifold.project(position)


def as_values(potential: PotentialEnergy, position: Point) -> Point:
    """Map points to PyMC's values."""
    return tuple(
        variable.to_value(x) for variable, x in zip(potential.variables, position, strict=True)
    )


def weighted(manifold: Product, mass: Mass | None, arrays: Sequence[TensorVariable]) -> Product:
    """Give a product the frame of a mass whose arrays are inputs."""
    if mass is None:
        return manifold
    return WeightedProduct(manifold, frame=mass.frame(tuple(arrays)))


class Carry:
    """The form in which a scan carries a state: fixed dtypes and shapes, at least one axis.

    One axis of length one costs nothing.

    Parameters
    ----------
    leaves : sequence of TensorVariable
        The state's initial value, for its dtypes.
    shapes : sequence of tuple of int
        Static shape of each leaf.
    """

    def __init__(
        self, leaves: Sequence[TensorVariable], *, shapes: Sequence[tuple[int, ...]]
    ) -> None:
        self.dtypes = [leaf.dtype for leaf in leaves]
        self.shapes = list(shapes)

    def pack(self, leaves: Sequence[TensorVariable]) -> list[TensorVariable]:
        """Bring leaves into the carried form."""
        typed = [
            pt.specify_shape(leaf.astype(dtype), shape)
            for leaf, dtype, shape in zip(leaves, self.dtypes, self.shapes, strict=True)
        ]
        return [leaf if leaf.ndim else leaf[None] for leaf in typed]

    def unpack(self, carried: Sequence[TensorVariable]) -> list[TensorVariable]:
        """Bring carried arrays back to the shapes of the leaves."""
        pairs = zip(carried, self.shapes, strict=True)
        return [leaf if shape else leaf.dimshuffle() for leaf, shape in pairs]

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Maps between PyMC's values and points, and the frame of a mass."""

from __future__ import annotations

from collections.abc import Sequence

from pytensor.tensor import TensorVariable

from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.mass import Mass
from pymc_geodesic.mass.frames import WeightedProduct
from pymc_geodesic.potential.estimate import PotentialEnergy

__all__ = ["as_points", "as_values", "weighted"]


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

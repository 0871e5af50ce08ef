#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Pieces of graph that both kernels need: types for the scan, values to points and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytensor.tensor as pt

from pytensor.tensor import TensorVariable, tensor

from pymc_geodesic.manifolds import Point
from pymc_geodesic.potential import Potential

__all__ = ["as_values", "placeholders", "to_positions", "with_types"]


def placeholders(name: str, arrays: Sequence[np.ndarray]) -> tuple[TensorVariable, ...]:
    """Inputs with the dtypes and static shapes of ``arrays``."""
    return tuple(tensor(name, dtype=array.dtype, shape=array.shape) for array in arrays)


def to_positions(potential: Potential, values: Sequence[TensorVariable]) -> Point:
    """Map PyMC's values to points exactly on the manifolds."""
    position = tuple(
        variable.to_position(value)
        for variable, value in zip(potential.variables, values, strict=True)
    )
    return potential.manifold.project(position)


def as_values(potential: Potential, position: Point) -> Point:
    """Map points to PyMC's values."""
    return tuple(
        variable.to_value(x) for variable, x in zip(potential.variables, position, strict=True)
    )


def with_types(leaves, types, shapes) -> list[TensorVariable]:
    """Give every leaf the dtype and static shape that a scan carries."""
    return [
        pt.specify_shape(leaf.astype(like.dtype), shape)
        for leaf, like, shape in zip(leaves, types, shapes, strict=True)
    ]

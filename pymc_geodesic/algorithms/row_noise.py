#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Gradient noise that the few entries of a row have in common, as those of a group's effects.

An intercept and a slope of one group see the same rows of the data, so that their noise is
correlated. Friction that balances the variance of each leaves :math:`\langle v_i v_j \rangle` above
zero, which widens their joint distribution. For one group the effect is negligible. Over thousands
of groups it biases their common correlation by more than a standard deviation. The covariance of
the noise is therefore averaged over all rows of a variable, as a matrix K with zeros on its
diagonal, and damped by :math:`\epsilon K / 2`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds import Manifold, Point, Product

__all__ = ["as_rows", "covariance_of_rows", "damp_rows", "no_covariances", "row_axis"]

# Most entries of a row of effects, as opposed to features, and fewest rows for a useful average.
LONGEST_ROW, FEWEST_ROWS = 10, 20


def row_axis(factor: Manifold, shape: Sequence[int]) -> int | None:
    """Return the axis along which the entries of a row lie; None for a variable without rows.

    Rows are those of a matrix on Euclidean space that is much longer than it is wide; either axis
    may be the short one.
    """
    if factor.mass != "matrix" or len(shape) != 2:
        return None
    short = int(np.argmin(shape))
    is_long = shape[1 - short] >= FEWEST_ROWS
    return short if is_long and 2 <= shape[short] <= LONGEST_ROW else None


def as_rows(array, axis: int):
    """Return a matrix whose rows are along the first axis; the same call turns it back."""
    return array.T if axis == 0 else array


def no_covariances(manifold: Product, dtype: str) -> list[np.ndarray]:
    """Return a covariance of zero for each variable with rows."""
    return [np.zeros((shape[axis],) * 2, dtype) for shape, axis in _with_rows(manifold)]


def covariance_of_rows(manifold: Product, velocity: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the mean products of entries of a row, for each variable with rows."""
    found = []
    for v, factor in zip(velocity, manifold.factors, strict=True):
        if (axis := row_axis(factor, v.shape)) is not None:
            rows = as_rows(v, axis)
            found.append(rows.T @ rows / len(rows))
    return found


def damp_rows(
    manifold: Product,
    velocity: Point,
    covariances: Sequence[Array],
    *,
    time: Array,
) -> Point:
    r"""Damp rows by :math:`\exp(-t K)`, one K for each variable with rows.

    To second order in tK, which is of the order of a hundredth.
    """
    left = list(covariances)
    damped = []
    for v, factor, shape in zip(velocity, manifold.factors, manifold.shapes, strict=True):
        axis = row_axis(factor, shape) if left else None
        if axis is None:
            damped.append(v)
            continue
        exponent = time * left.pop(0)
        rows = as_rows(v, axis)
        once = arrays.dot(rows, exponent)
        damped.append(as_rows(rows - once + arrays.dot(once, exponent) / 2, axis))
    return tuple(damped)


def _with_rows(manifold: Product) -> list[tuple[tuple[int, ...], int]]:
    pairs = zip(manifold.factors, manifold.shapes, strict=True)
    axes = [(shape, row_axis(factor, shape)) for factor, shape in pairs]
    return [(shape, axis) for shape, axis in axes if axis is not None]

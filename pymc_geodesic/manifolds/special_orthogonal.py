#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The rotations of n-dimensional space."""

from __future__ import annotations

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds.base import Shape
from pymc_geodesic.manifolds.orthonormal import turned_right
from pymc_geodesic.manifolds.stiefel import Stiefel

__all__ = ["SpecialOrthogonal"]


class SpecialOrthogonal(Stiefel):
    r"""Rotation matrices X of shape (n, n): :math:`X^\top X = I` and determinant 1.

    With :math:`\Omega = X^\top V`, a rotation at constant angular velocity,

    .. math::

        X(t) = X e^{t \Omega}, \qquad V(t) = X(t) \Omega,

    in three dimensions by Rodrigues's formula. Intrinsic dimension ``n (n - 1) / 2``.

    The metric is that of the space of all matrices, as on :class:`Stiefel`: a rotation by the small
    angle h in one plane moves X by :math:`\sqrt 2\, h`.

    Examples
    --------
    >>> import pymc_geodesic as pmg
    >>> pmg.manifold_of(pmg.UniformRotation.dist())
    SpecialOrthogonal()
    >>> pmg.SpecialOrthogonal().dim((3, 3))
    3
    """

    name = "Rotations"
    # All columns together span the same space, whatever L is.
    is_stretched_linearly = False

    def geodesic(self, x, v, t):  # noqa: D102
        inner = x.mT @ v
        turn = 0.5 * (inner - inner.mT)
        moved = x @ (
            _rodrigues(t, turn) if arrays.static_shape(x)[-1] == 3 else arrays.expm(t * turn)
        )
        return moved, moved @ turn

    def random_point(self, noise: Array) -> Array:  # noqa: D102
        return turned_right(super().random_point(noise))

    def field_shapes(self, shape: Shape) -> list[Shape]:
        """Shapes of the moments: only the mean, because XX' is the same for all rotations."""
        return [shape]

    def check(self, value) -> str | None:  # noqa: D102
        if found := super().check(value):
            return found
        if np.all(np.linalg.det(np.asarray(value, dtype=float)) > 0):
            return None
        return "expected rotation matrices in the last two axes, got reflections of determinant -1"


def _rodrigues(t: Array, turn: Array) -> Array:
    """Exponential of ``t`` times an antisymmetric matrix of three rows."""
    squares = 0.5 * (turn * turn).sum(axis=(-1, -2), keepdims=True)
    # As on the sphere, points at rest must not divide by zero.
    speed = arrays.sqrt(
        arrays.maximum(squares, np.asarray(np.finfo(turn.dtype).tiny, dtype=turn.dtype))
    )
    sine, half = arrays.sin(speed * t) / speed, arrays.sin(0.5 * speed * t) / speed
    return arrays.eye(3, dtype=turn.dtype) + (sine * turn + 2 * half * half * (turn @ turn))

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Flat space, the manifold of every variable without another manifold."""

from __future__ import annotations

import math

from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds.base import Manifold, Shape
from pymc_geodesic.manifolds.fields import Work

__all__ = ["Euclidean"]


class Euclidean(Manifold):
    """Flat space with straight lines as geodesics: every entry is a point of the line.

    ``geodesic(x, v, t) = (x + t v, v)``. Euclidean random variables keep PyMC's transform and its
    Jacobian, so the point is the *transformed* value.

    Examples
    --------
    >>> import pymc as pm, pymc_geodesic as pmg
    >>> pmg.manifold_of(pm.Gamma.dist(1.0, 1.0))
    Euclidean()
    """

    name = "Euclidean"
    ndim_core = 0
    mass = "matrix"
    is_flat = True

    def dim(self, core_shape: Shape) -> int:  # noqa: D102
        return math.prod(core_shape)

    def to_tangent(self, x: Array, u: Array) -> Array:  # noqa: D102
        return u

    def geodesic(self, x, v, t):  # noqa: D102
        return x + t * v, v

    def project(self, x: Array) -> Array:  # noqa: D102
        return x

    def field_shapes(self, shape: Shape) -> list[Shape]:  # noqa: D102
        return [shape]

    def field_work(self, visit, moments, *, dim) -> Work:
        """``F = x - mean``, of divergence d."""
        [mean] = moments
        return Work(((visit.start - mean) * visit.gradient).sum(), dim, dim)

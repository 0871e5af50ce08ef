#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A new manifold in one file: positive numbers, on which a particle is reflected at zero."""

from __future__ import annotations

import numpy as np

import pymc_geodesic as pmg

from pymc_geodesic import arrays
from pymc_geodesic.manifolds.fields import Work

__all__ = ["HalfLine"]


class HalfLine(pmg.Manifold):
    """Numbers of zero or more; every entry of a variable is a point.

    ``geodesic(x, v, t) = (|x + t v|, v)``, with the velocity turned where zero is passed.
    """

    name = "Half-line"
    ndim_core = 0
    mass = "diagonal"

    def dim(self, core_shape):  # noqa: D102
        return 1

    def to_tangent(self, x, u):  # noqa: D102
        return u

    def geodesic(self, x, v, t):  # noqa: D102
        y = x + t * v
        return arrays.abs(y), arrays.where(y < 0, -v, v)

    def project(self, x):  # noqa: D102
        return arrays.abs(x)

    def check(self, value) -> str | None:  # noqa: D102
        if np.all(np.asarray(value) >= 0):
            return None
        return f"expected numbers of zero or more, got a smallest entry of {np.min(value):.6g}"

    def field_work(self, visit, moments, *, dim):
        """``F = x``, which vanishes at zero, of divergence one for each entry."""
        return Work((visit.start * visit.gradient).sum(), dim, dim)

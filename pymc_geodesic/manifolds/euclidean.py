#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Flat space, the manifold of every variable that declares no other."""

from __future__ import annotations

from pytensor.tensor import TensorVariable

from pymc_geodesic.manifolds.base import Manifold

__all__ = ["Euclidean"]


class Euclidean(Manifold):
    """R^n with straight lines as geodesics; scalars are points of R^1.

    ``geodesic(x, v, t) = (x + t v, v)``, intrinsic dimension n. Euclidean random variables keep
    PyMC's transform and its Jacobian, so the point is the *transformed* value.
    """

    name = "Euclidean"

    def dim(self, n: int) -> int:  # noqa: D102
        return n

    def to_tangent(self, x: TensorVariable, u: TensorVariable) -> TensorVariable:  # noqa: D102
        return u

    def geodesic(self, x, v, t):  # noqa: D102
        return x + t * v, v

    def project(self, x: TensorVariable) -> TensorVariable:  # noqa: D102
        return x

    def squared_norm(self, v: TensorVariable) -> TensorVariable:  # noqa: D102
        return (v * v).sum(axis=-1) if v.ndim else v * v

    def envelope(self, variance: TensorVariable) -> TensorVariable:  # noqa: D102
        return variance

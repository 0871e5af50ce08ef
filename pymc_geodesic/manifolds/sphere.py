#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The unit sphere S^{n-1} in R^n."""

from __future__ import annotations

import numpy as np
import pytensor.tensor as pt

from pytensor.tensor import TensorVariable

from pymc_geodesic.manifolds.base import Manifold
from pymc_geodesic.validation import UNIT_NORM_TOLERANCE

__all__ = ["Sphere"]


class Sphere(Manifold):
    r"""The unit sphere, with great circles as geodesics.

    With ``a = |v|``,

    .. math::

        x(t) = x \cos(a t) + v \sin(a t) / a, \qquad v(t) = v \cos(a t) - a x \sin(a t).

    Intrinsic dimension ``n - 1``. The surface measure is the one that densities on the sphere are
    usually written against, so there is no volume term.
    """

    name = "Sphere"

    def dim(self, n: int) -> int:  # noqa: D102
        return n - 1

    def to_tangent(self, x: TensorVariable, u: TensorVariable) -> TensorVariable:  # noqa: D102
        return u - x * (x * u).sum(axis=-1, keepdims=True)

    def geodesic(self, x, v, t):  # noqa: D102
        squares = (v * v).sum(axis=-1, keepdims=True)
        # A floor where the cosine is 1 and sin(a t) / a is t to the last digit: at rest neither the
        # result nor its gradient then divides by zero.
        speed = pt.sqrt(pt.maximum(squares, np.asarray(np.finfo(v.dtype).tiny, dtype=v.dtype)))
        cosine, sine = pt.cos(speed * t), pt.sin(speed * t)
        return x * cosine + v * (sine / speed), v * cosine - x * (speed * sine)

    def project(self, x: TensorVariable) -> TensorVariable:  # noqa: D102
        return x / pt.sqrt((x * x).sum(axis=-1, keepdims=True))

    def check(self, value) -> str | None:  # noqa: D102
        norms = np.linalg.norm(np.asarray(value), axis=-1)
        if np.all(np.abs(norms - 1) <= UNIT_NORM_TOLERANCE):
            return None
        return (
            "expected unit vectors in the last axis, "
            f"got norms in [{np.min(norms):.6g}, {np.max(norms):.6g}]"
        )

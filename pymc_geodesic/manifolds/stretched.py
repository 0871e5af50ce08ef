#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Spheres and Stiefel manifolds in coordinates in which a narrow density is round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from pytensor.tensor import TensorVariable

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.graph_inputs import shared_number
from pymc_geodesic.manifolds.base import Manifold, Shape
from pymc_geodesic.manifolds.fields import Visit, Work
from pymc_geodesic.manifolds.orthonormal import triangle

__all__ = ["Stretched"]


class Stretched(Manifold):
    r"""A sphere or Stiefel manifold whose points z mean the values :math:`x = Q(L z)`.

    Q makes columns orthonormal, :math:`L z = x R` with R upper triangular: on the sphere
    :math:`x = L z / |L z|`. This maps the manifold onto itself, with the volume

    .. math::

        dx = |L|^p \prod_{i=1}^p R_{ii}^{-(n + p + 1 - 2 i)} \, dz ,

    on the sphere that of the angular central Gaussian distribution. (It follows from the volumes of
    :math:`Y \mapsto L Y`, of the QR decomposition of Y and of LY, and of :math:`T \mapsto R T`.)

    The metric is that of the embedding of z, and geodesics are those of the base. Around a point
    the map is linear in the coordinates of the central projection, so L turns a density of
    unequal widths into one of equal widths. It acts like a mass in the tangent space, but is exact,
    because it is a change of variables.

    Parameters
    ----------
    base : Manifold
        A sphere or a Stiefel manifold.
    factor : ndarray, shape (n, n)
        The matrix L, invertible.

    References
    ----------
    Tyler, D. E. (1987). Statistical analysis for the angular central Gaussian distribution on the
    sphere. Biometrika 74. DOI 10.1093/biomet/74.3.579

    Muirhead, R. J. (1982). Aspects of Multivariate Statistical Theory, section 2.1.
    """

    is_compact = True

    def __init__(self, base: Manifold, factor: np.ndarray) -> None:
        self.base, self.name, self.ndim_core = base, base.name, base.ndim_core
        self.factor, self.inverse = np.asarray(factor), np.linalg.inv(factor)
        # L is measured. As an input it leaves compiled functions unchanged for another L.
        self._shared: dict[tuple[str, str], TensorVariable] = {}

    @property
    def form(self) -> dict[str, Any]:
        """What a kernel is compiled for: L only where it chooses an end of an axis."""
        form = {"base": self.base}
        return form if self.base.covering is self.base else form | {"factor": self.factor}

    def dim(self, core_shape: Shape) -> int:  # noqa: D102
        return self.base.dim(core_shape)

    def to_tangent(self, x: Array, u: Array) -> Array:  # noqa: D102
        return self.base.to_tangent(x, u)

    def geodesic(self, x, v, t):  # noqa: D102
        return self.base.geodesic(x, v, t)

    def project(self, x: Array) -> Array:  # noqa: D102
        return self.base.project(x)

    def random_point(self, noise: Array) -> Array:  # noqa: D102
        return self.base.random_point(noise)

    def embed(self, value: Array) -> Array:  # noqa: D102
        return self.base.project(self._times("inverse", value))

    def unembed(self, x: Array) -> Array:  # noqa: D102
        return self.base.unembed(self.base.project(self._times("factor", x)))

    def fold(self, x, v):
        """Choose the end of an axis that maps to the end that the base would choose."""
        if self.base.covering is self.base:
            return x, v
        value = self._times("factor", x)
        kept, _ = self.base.fold(value, v)
        side = arrays.sign((kept * value).sum(axis=-1, keepdims=True))
        return side * x, side * v

    def align(self, u, at, x):  # noqa: D102
        return self.base.align(u, at, x)

    def nearest(self, x, reference):  # noqa: D102
        return self.base.nearest(x, reference)

    def log_volume(self, x: Array) -> Array:  # noqa: D102
        moved, n = self._times("factor", x), len(self.factor)
        if self.ndim_core == 1:
            return -0.5 * float(n) * arrays.log((moved * moved).sum(axis=-1))
        diagonal = arrays.diagonal(triangle(moved), axis1=-2, axis2=-1)
        p = arrays.static_shape(x)[-1]
        powers = n - 1 + p - 2 * np.arange(p, dtype=x.dtype)
        return -(powers * arrays.log(diagonal)).sum(axis=-1)

    def laplacian(self, x: Array) -> Array | None:  # noqa: D102
        return self.base.laplacian(x)

    def stein_functions(self, x, gradient):  # noqa: D102
        return self.base.stein_functions(x, gradient)

    def moved_along(self, x, weights):  # noqa: D102
        return self.base.moved_along(x, weights)

    def field_shapes(self, shape: Shape) -> list[Shape]:  # noqa: D102
        return self.base.field_shapes(shape)

    def field_moments(self, x: Array) -> list[Array]:  # noqa: D102
        return self.base.field_moments(x)

    def field_work(self, visit: Visit, moments: Sequence[Array], *, dim: float) -> Work:
        """Take the field of the base: z is distributed there with the volume's density."""
        return self.base.field_work(visit, moments, dim=dim)

    def check(self, value) -> str | None:  # noqa: D102
        return self.base.check(value)

    def _times(self, name: Literal["factor", "inverse"], x: Array) -> Array:
        if not isinstance(x, TensorVariable):
            return self._product(getattr(self, name).astype(x.dtype), x)
        if (name, x.dtype) not in self._shared:
            numbers = getattr(self, name).astype(x.dtype)
            self._shared[name, x.dtype] = shared_number(numbers, name=name)
        return self._product(self._shared[name, x.dtype], x)

    def _product(self, matrix: Any, x: Any) -> Any:
        if self.ndim_core == 1:
            return (matrix * x[..., None, :]).sum(axis=-1)
        return matrix @ x

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Axes: unit vectors for which x and -x are the same point."""

from __future__ import annotations

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds.base import Manifold, Shape
from pymc_geodesic.manifolds.fields import Visit, Work
from pymc_geodesic.manifolds.sphere import LARGEST_QUADRATIC, LEAST_DIVERGENCE, Sphere

__all__ = ["ProjectiveSphere"]


class ProjectiveSphere(Sphere):
    r"""Axes in :math:`\mathbb{R}^n`: the unit sphere, on which x and -x are one point.

    The geometry is that of the sphere. Values have a last entry that is not negative, so that
    chains at the two ends of an axis agree. Densities are even, and refer to the surface measure of
    the whole sphere. If the density of a model distinguishes x from -x, its variables are on
    the :class:`Sphere`, see :attr:`covering`. Intrinsic dimension ``n - 1``.

    References
    ----------
    Mardia, K. V. and Jupp, P. E. (2000). Directional Statistics, section 9.4 and chapter 10.

    Examples
    --------
    >>> import pymc_geodesic as pmg
    >>> pmg.manifold_of(pmg.Watson.dist([0.0, 0.0, 1.0], 2.0))
    ProjectiveSphere()
    """

    name = "ProjectiveSphere"

    @property
    def covering(self) -> Manifold:
        """The sphere."""
        return Sphere()

    def unembed(self, x: Array) -> Array:  # noqa: D102
        return x * _sign(x)

    def fold(self, x, v):  # noqa: D102
        return x * _sign(x), v * _sign(x)

    def align(self, u, at, x):  # noqa: D102
        return arrays.where((at * x).sum(axis=-1, keepdims=True) < 0, -u, u)

    def nearest(self, x, reference):  # noqa: D102
        return self.align(x, x, reference)

    def stein_functions(self, x, gradient):
        """Return None: a coordinate is not a function of an axis."""
        return None

    def field_shapes(self, shape: Shape) -> list[Shape]:  # noqa: D102
        n = shape[-1]
        return [(*shape, n)] if n <= LARGEST_QUADRATIC else []

    def field_moments(self, x: Array) -> list[Array]:  # noqa: D102
        return (
            [x[..., :, None] * x[..., None, :]] if self.field_shapes(arrays.static_shape(x)) else []
        )

    def field_work(self, visit: Visit, moments, *, dim) -> Work:
        r"""``F = -grad x'Bx / 2``, B the second moment less I / n: a field of axes is even."""
        if not moments:
            return Manifold.field_work(self, visit, moments, dim=dim)
        [second], n = moments, arrays.static_shape(visit.start)[-1]
        matrix = second - arrays.eye(n, dtype=second.dtype) / float(n)
        linear = (matrix * visit.start[..., None, :]).sum(axis=-1)
        slope = self.to_tangent(visit.position, visit.gradient)
        # In a transition the point may be at either end of its axis.
        work = -(self.to_tangent(visit.start, linear) * slope).sum()
        divergence = float(n) * (linear * visit.start).sum()
        expected = float(n) * (matrix**2).sum()
        return Work(work, divergence, arrays.maximum(expected, LEAST_DIVERGENCE * dim))


def _sign(x: Array) -> Array:
    return arrays.where(x[..., -1:] < 0, -1.0, 1.0).astype(x.dtype)

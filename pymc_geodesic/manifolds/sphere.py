#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The unit sphere S^{n-1} in R^n, and the axes, whose unit vectors have no sign."""

from __future__ import annotations

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds.base import Manifold, Shape
from pymc_geodesic.manifolds.fields import Visit, Work
from pymc_geodesic.validation import UNIT_NORM_TOLERANCE

__all__ = ["LARGEST_QUADRATIC", "LEAST_DIVERGENCE", "ProjectiveSphere", "Sphere"]

# Above it fields omit the second moments of a unit vector or frame, which are n^2 numbers.
LARGEST_QUADRATIC = 50
# Least expected divergence of a field, as a share of the dimension. The field of a nearly uniform
# vector or frame is noise at any temperature; its estimate then stays near one.
LEAST_DIVERGENCE = 0.1


class Sphere(Manifold):
    r"""The unit sphere, with great circles as geodesics.

    With ``a = |v|``,

    .. math::

        x(t) = x \cos(a t) + v \sin(a t) / a, \qquad v(t) = v \cos(a t) - a x \sin(a t).

    Intrinsic dimension ``n - 1``. The surface measure is the one that densities on the sphere are
    usually written against, so there is no volume term.

    Examples
    --------
    >>> import numpy as np, pymc_geodesic as pmg
    >>> x, v = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    >>> quarter, _ = pmg.Sphere().geodesic(x, v, np.pi / 2)
    >>> quarter.round(6)
    array([0., 1.])
    """

    name = "Sphere"
    is_compact = True
    is_stretched_linearly = True

    def dim(self, core_shape: Shape) -> int:  # noqa: D102
        return core_shape[0] - 1

    def to_tangent(self, x: Array, u: Array) -> Array:  # noqa: D102
        return u - x * (x * u).sum(axis=-1, keepdims=True)

    def geodesic(self, x, v, t):  # noqa: D102
        squares = (v * v).sum(axis=-1, keepdims=True)
        # A floor at which the cosine is 1 and sin(a t) / a is t to the last digit: at rest neither
        # the result nor its gradient then divides by zero.
        speed = arrays.sqrt(
            arrays.maximum(squares, np.asarray(np.finfo(v.dtype).tiny, dtype=v.dtype))
        )
        cosine, sine = arrays.cos(speed * t), arrays.sin(speed * t)
        return x * cosine + v * (sine / speed), v * cosine - x * (speed * sine)

    def project(self, x: Array) -> Array:  # noqa: D102
        return x / arrays.sqrt((x * x).sum(axis=-1, keepdims=True))

    def laplacian(self, x: Array) -> Array | None:  # noqa: D102
        return -(arrays.size_along(x, -1) - 1) * x

    def field_shapes(self, shape: Shape) -> list[Shape]:  # noqa: D102
        n = shape[-1]
        return [shape, (*shape, n)] if n <= LARGEST_QUADRATIC else [shape]

    def field_moments(self, x: Array) -> list[Array]:  # noqa: D102
        n_moments = len(self.field_shapes(arrays.static_shape(x)))
        return [x, x[..., :, None] * x[..., None, :]][:n_moments]

    def field_work(self, visit: Visit, moments, *, dim) -> Work:
        r"""``F = -grad (a.x + x'Bx / 2)``, a the mean and B the second moment less I / n.

        Its divergence ``(n - 1) a.x + n x'Bx`` has the mean :math:`(n - 1) |a|^2 + n |B|^2`. It is
        zero only for moments like those of a uniform distribution, for which U = 0 at any
        temperature.
        """
        (mean, *second), n = moments, float(arrays.static_shape(visit.start)[-1])
        slope = self.to_tangent(visit.position, visit.gradient)
        field, divergence = mean, (n - 1) * (mean * visit.start).sum()
        expected = (n - 1) * (mean**2).sum()
        if second:
            matrix = second[0] - arrays.eye(int(n), dtype=mean.dtype) / n
            linear = (matrix * visit.start[..., None, :]).sum(axis=-1)
            field = mean + linear
            divergence = divergence + n * (linear * visit.start).sum()
            expected = expected + n * (matrix**2).sum()
        work = -(self.to_tangent(visit.start, field) * slope).sum()
        return Work(work, divergence, arrays.maximum(expected, LEAST_DIVERGENCE * dim))

    def check(self, value) -> str | None:  # noqa: D102
        norms = np.linalg.norm(np.asarray(value), axis=-1)
        if np.all(np.abs(norms - 1) <= UNIT_NORM_TOLERANCE):
            return None
        return (
            "expected unit vectors in the last axis, "
            f"got norms in [{np.min(norms):.6g}, {np.max(norms):.6g}]"
        )


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

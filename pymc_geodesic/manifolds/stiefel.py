#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The Stiefel manifold of matrices with orthonormal columns, and the rotations."""

from __future__ import annotations

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds.base import Manifold, Shape
from pymc_geodesic.manifolds.fields import Visit, Work
from pymc_geodesic.manifolds.orthonormal import largest_overlap, orthonormal_columns, turned_right
from pymc_geodesic.manifolds.sphere import LARGEST_QUADRATIC, LEAST_DIVERGENCE
from pymc_geodesic.validation import UNIT_NORM_TOLERANCE

__all__ = ["SpecialOrthogonal", "Stiefel"]


class Stiefel(Manifold):
    r"""Frames: matrices X of shape (n, p) with :math:`X^\top X = I`, in the space of all matrices.

    With :math:`A = X^\top V` and :math:`S = V^\top V` the geodesic of the Euclidean metric is

    .. math::

        [X(t), V(t)] = [X, V] \exp\left(t \begin{pmatrix} A & -S \\ I & A \end{pmatrix}\right)
        \begin{pmatrix} e^{-t A} & 0 \\ 0 & e^{-t A} \end{pmatrix}.

    The exponentials are those of matrices of 2p and p rows, so that a step costs
    :math:`O(n p^2)`. Intrinsic dimension :math:`n p - p (p + 1) / 2`. The surface measure is the
    only one that is invariant under rotations from both sides. With p = 1 this is the sphere.

    Notes
    -----
    With p = n there are two components, of determinant 1 and -1, which no geodesic connects.
    :class:`SpecialOrthogonal` is the first.

    References
    ----------
    Edelman, A., Arias, T. A. and Smith, S. T. (1998). The geometry of algorithms with
    orthogonality constraints. SIAM Journal on Matrix Analysis and Applications 20.

    Byrne, S. and Girolami, M. (2013). Geodesic Monte Carlo on embedded manifolds. Scandinavian
    Journal of Statistics 40.

    Examples
    --------
    >>> import numpy as np, pymc_geodesic as pmg
    >>> pmg.Stiefel().dim((5, 2))
    7
    """

    name = "Stiefel manifold"
    ndim_core = 2
    is_compact = True
    is_stretched_linearly = True

    def dim(self, core_shape: Shape) -> int:  # noqa: D102
        n, p = core_shape
        return n * p - p * (p + 1) // 2

    def to_tangent(self, x: Array, u: Array) -> Array:  # noqa: D102
        inner = x.mT @ u
        return u - x @ (0.5 * (inner + inner.mT))

    def geodesic(self, x, v, t):  # noqa: D102
        p, inner = x.shape[-1], x.mT @ v
        turn = 0.5 * (inner - inner.mT)
        speed, ahead = self._ahead(v, t, turn)
        back = arrays.expm(-t * turn)
        both = arrays.concatenate([ahead[..., :p] @ back, ahead[..., p:] @ back], axis=-1)
        moved = arrays.concatenate([x, v / speed], axis=-1) @ both
        return moved[..., :p], speed * moved[..., p:]

    def horizontal_geodesic(self, x: Array, v: Array, t: Array) -> tuple[Array, Array]:
        """Follow a geodesic without rotation of the columns among each other: ``x'v = 0``."""
        p = x.shape[-1]
        speed, ahead = self._ahead(v, t, arrays.zeros_like(v.mT @ v))
        moved = arrays.concatenate([x, v / speed], axis=-1) @ ahead
        return moved[..., :p], speed * moved[..., p:]

    def _ahead(self, v, t, turn) -> tuple[Array, Array]:
        """Return a speed and the exponential for the point and the velocity over the speed."""
        squares = v.mT @ v
        # The off-diagonal blocks are balanced by the speed, without which the exponential takes
        # more squarings and loses digits. The floor keeps points at rest from dividing by zero.
        mean_square = self.over_core(v * v, keepdims=True) / arrays.size_along(v, -1)
        tiny = np.asarray(np.finfo(v.dtype).tiny, dtype=v.dtype)
        speed = arrays.sqrt(arrays.maximum(mean_square, tiny))
        one = speed * np.eye(arrays.static_shape(v)[-1], dtype=v.dtype)
        rows = [
            arrays.concatenate([turn, -squares / speed], axis=-1),
            arrays.concatenate([one, turn], axis=-1),
        ]
        return speed, arrays.expm(t * arrays.concatenate(rows, axis=-2))

    def project(self, x: Array) -> Array:
        """Return the Q of a QR decomposition, which is the nearest frame up to rounding.

        Far from the manifold the nearest frame is the polar factor. Its gradient fails if
        singular values coincide, as they do on the manifold.
        """
        return arrays.with_shape(orthonormal_columns(x), arrays.static_shape(x))

    def random_point(self, noise: Array) -> Array:
        """Turn standard normals into uniform frames; twice, as noise can be nearly singular."""
        return self.project(self.project(noise))

    def laplacian(self, x: Array) -> Array | None:  # noqa: D102
        return -(arrays.size_along(x, -2) - 0.5 * (arrays.size_along(x, -1) + 1)) * x

    def field_shapes(self, shape: Shape) -> list[Shape]:  # noqa: D102
        n = shape[-2]
        return [shape, (*shape[:-2], n, n)] if n <= LARGEST_QUADRATIC else [shape]

    def field_moments(self, x: Array) -> list[Array]:  # noqa: D102
        n_moments = len(self.field_shapes(arrays.static_shape(x)))
        return [x, x @ x.mT][:n_moments]

    def field_work(self, visit: Visit, moments, *, dim) -> Work:
        r"""``F = -grad (tr(A'X) + tr(X'BX) / 2)``, A the mean, B that of XX' less p I / n.

        Its divergence :math:`(n - (p + 1) / 2) \operatorname{tr} A^\top X + n \operatorname{tr}
        X^\top B X` has the mean :math:`(n - (p + 1) / 2) |A|^2 + n |B|^2`. It is zero only for
        moments like those of a uniform distribution, for which U = 0 at any temperature.
        """
        (mean, *second), (n, p) = moments, self.core_shape(arrays.static_shape(visit.start))
        slope = self.to_tangent(visit.position, visit.gradient)
        linear = n - 0.5 * (p + 1)
        field, divergence = mean, linear * (mean * visit.start).sum()
        expected = linear * (mean**2).sum()
        if second:
            matrix = second[0] - arrays.eye(n, dtype=mean.dtype) * (p / n)
            pull = matrix @ visit.start
            field = mean + pull
            divergence = divergence + float(n) * (pull * visit.start).sum()
            expected = expected + float(n) * (matrix**2).sum()
        work = -(self.to_tangent(visit.start, field) * slope).sum()
        return Work(work, divergence, arrays.maximum(expected, LEAST_DIVERGENCE * dim))

    def check(self, value) -> str | None:  # noqa: D102
        off = largest_overlap(value)
        if np.all(off <= 2 * UNIT_NORM_TOLERANCE):
            return None
        return (
            "expected orthonormal columns in the last two axes, got inner products that differ "
            f"from those by up to {np.max(off):.6g}"
        )


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

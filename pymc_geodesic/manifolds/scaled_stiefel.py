#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The Stiefel manifold in coordinates with a scale for each column and each rotation of columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds.base import Manifold, Shape
from pymc_geodesic.manifolds.fields import Visit, Work
from pymc_geodesic.manifolds.orthonormal import (
    orthonormal_columns,
    rotation_logarithm,
    rotation_near,
)
from pymc_geodesic.manifolds.stiefel import Stiefel

__all__ = ["ScaledStiefel"]

STIEFEL = Stiefel()


class ScaledStiefel(Manifold):
    r"""Frames whose tangent space has a scale for each column and for each pair of columns.

    A frame X moves by rotations of its columns among each other and out of the space that they
    span:

    .. math::

        \dot X = X A(\omega) + V D, \qquad X^\top V = 0, \qquad
        A(\omega) = \sum_{i < j} r_{ij} \omega_{ij} (e_i e_j^\top - e_j e_i^\top),

    with :math:`D = \operatorname{diag}(d)`. A velocity is the pair of :math:`\omega` and V, of
    length :math:`|\omega|^2 + |V|^2`. It drifts for time t by half of the rotation, the geodesic
    without rotation and the other half,

    .. math::

        X \leftarrow X e^{t A / 2}, \qquad
        [X, V D] \leftarrow [X, V D] \exp\left(t \begin{pmatrix} 0 & -S \\ I & 0 \end{pmatrix}
        \right), \qquad X \leftarrow X e^{t A / 2}, \qquad S = D V^\top V D .

    Each part is reversible and preserves the length of the velocity, as :math:`D V^\top V D` is
    constant, and the volume :math:`dX\, dV\, d\omega`, where dX is the uniform measure. With the
    gradient in the same coordinates, the Hamiltonian dynamics leave the density with
    respect to the uniform measure invariant, whatever the scales are. The parts are not those of
    one metric: of a left-invariant metric with several scales geodesics have no closed form.

    Points are stored as :math:`X D^{-1}`, above rows for :math:`\omega`, which are zero in a
    point. Displaced points have the value :math:`X (I + A)`. So gradients in the coordinates of
    velocities follow from the chain rule.

    Parameters
    ----------
    columns : ndarray, shape (p,)
        The scales d of movements of each column out of the space.
    rotations : ndarray, shape (p, p)
        The scales r, symmetric; the diagonal is not used.

    References
    ----------
    Edelman, A., Arias, T. A. and Smith, S. T. (1998). The geometry of algorithms with
    orthogonality constraints. SIAM Journal on Matrix Analysis and Applications 20.
    """

    name = STIEFEL.name
    ndim_core = 2
    is_compact = True

    def __init__(self, columns: np.ndarray, rotations: np.ndarray) -> None:
        self.columns, self.rotations = np.asarray(columns), np.asarray(rotations)
        p = len(self.columns)
        # Rows of p entries that hold an angular velocity for each pair.
        self.n_extra = p // 2
        self._generators = np.zeros((self.n_extra * p, p, p))
        for k, (i, j) in enumerate(zip(*np.triu_indices(p, 1), strict=True)):
            self._generators[k, i, j] = self.rotations[i, j]
            self._generators[k, j, i] = -self.rotations[i, j]
        squares = (self._generators**2).sum(axis=(1, 2))
        self._is_used = (squares > 0).reshape(self.n_extra, p)
        share = np.divide(1.0, squares, out=np.zeros_like(squares), where=squares > 0)
        # Of the inverse map, from antisymmetric matrices to their coordinates.
        self._coordinates = (self._generators * share[:, None, None]).reshape(-1, p * p).T

    def dim(self, core_shape: Shape) -> int:  # noqa: D102
        return STIEFEL.dim(self._base_shape(core_shape))

    def embedded_shape(self, shape: Shape) -> Shape:  # noqa: D102
        if shape[-1] != len(self.columns):
            raise ValueError(
                f"A `FrameMass` with {len(self.columns)} columns expected a frame with as many, "
                f"got one of shape {shape}."
            )
        return (*shape[:-2], shape[-2] + self.n_extra, shape[-1])

    def to_tangent(self, x: Array, u: Array) -> Array:  # noqa: D102
        (top, extra), frame = self._halves(u), self._frame(x)
        return _joined(top - frame @ (frame.mT @ top), extra * self._is_used.astype(u.dtype))

    def geodesic(self, x, v, t):  # noqa: D102
        (top, extra), d = self._halves(v), self._d(v)
        half = arrays.expm(0.5 * t * self._turn(extra))
        moved, out = STIEFEL.horizontal_geodesic(self._frame(x) @ half, top * d, t)
        return _joined(moved @ half / d, arrays.zeros_like(extra)), _joined(out / d, extra)

    def project(self, x: Array) -> Array:
        """Return the frame that a displaced point means, without angles."""
        extra = self._halves(x)[1]
        turned = orthonormal_columns(self._frame(x) @ rotation_near(self._turn(extra)))
        projected = _joined(turned / self._d(x), arrays.zeros_like(extra))
        return arrays.with_shape(projected, arrays.static_shape(x))

    def random_point(self, noise: Array) -> Array:  # noqa: D102
        return self.embed(STIEFEL.random_point(self._halves(noise)[0]))

    def embed(self, value: Array) -> Array:  # noqa: D102
        return _joined(value / self._d(value), arrays.zeros_like(value[..., : self.n_extra, :]))

    def unembed(self, x: Array) -> Array:  # noqa: D102
        frame = self._frame(x)
        return frame + frame @ self._turn(self._halves(x)[1])

    def nearest(self, x, reference):
        """Split a frame into a rotation of the columns of the reference and the rest."""
        frame = self._frame(x)
        turn = rotation_logarithm(self._frame(reference).mT @ frame)
        back = frame @ arrays.inv(rotation_near(turn))
        batch, p = tuple(turn.shape[:-2]), arrays.static_shape(x)[-1]
        coordinates = self._coordinates.astype(x.dtype)
        extra = arrays.dot(turn.reshape((*batch, p * p)), coordinates)
        found = _joined(back / self._d(x), extra.reshape((*batch, self.n_extra, p)))
        return arrays.with_shape(found, arrays.static_shape(x))

    def gradient_variance(self, variance: np.ndarray, shape: Shape) -> np.ndarray:
        """Variance of the entries of V and of angular velocities."""
        if any(size != 1 for size in variance.shape[-2:]):
            raise ValueError(
                "`gradient_noise` expected one number for each frame with a `FrameMass`, got shape "
                f"{variance.shape}."
            )
        squares = (self._generators**2).sum(axis=(1, 2)).reshape(self.n_extra, -1)
        top = np.broadcast_to(self.columns**2, self._base_shape(shape)[-2:])
        return variance * np.concatenate([top, squares]).astype(variance.dtype)

    def field_shapes(self, shape: Shape) -> list[Shape]:  # noqa: D102
        return STIEFEL.field_shapes(self._base_shape(shape))

    def field_moments(self, x: Array) -> list[Array]:  # noqa: D102
        return STIEFEL.field_moments(self._shaped_frame(x))

    def field_work(self, visit: Visit, moments: Sequence[Array], *, dim: float) -> Work:
        """Take the field of the Stiefel manifold."""
        top, _ = self._halves(visit.gradient)
        points = self._shaped_frame(visit.start), self._shaped_frame(visit.position)
        return STIEFEL.field_work(Visit(*points, top / self._d(top)), moments, dim=dim)

    def check(self, value) -> str | None:  # noqa: D102
        return STIEFEL.check(value)

    def _base_shape(self, shape: Shape) -> Shape:
        return (*shape[:-2], shape[-2] - self.n_extra, shape[-1])

    def _halves(self, u: Array) -> tuple[Array, Array]:
        return u[..., : -self.n_extra, :], u[..., -self.n_extra :, :]

    def _frame(self, x: Array) -> Array:
        return self._halves(x)[0] * self._d(x)

    def _shaped_frame(self, x: Array) -> Array:
        return arrays.with_shape(self._frame(x), self._base_shape(arrays.static_shape(x)))

    def _d(self, u: Array) -> np.ndarray:
        return self.columns.astype(u.dtype)

    def _turn(self, extra: Array) -> Array:
        """Write the antisymmetric matrix of angular velocities or angles."""
        *batch, k, p = arrays.static_shape(extra)
        generators = self._generators.reshape(k * p, p * p).astype(extra.dtype)
        return arrays.dot(extra.reshape((*batch, k * p)), generators).reshape((*batch, p, p))

    def __repr__(self) -> str:
        """Name the manifold, without the scales."""
        return f"ScaledStiefel(<{len(self.columns)} columns>)"


def _joined(top: Array, extra: Array) -> Array:
    return arrays.concatenate([top, extra], axis=-2)

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A new manifold with points of two axes, in one file: matrices with orthonormal columns."""

from __future__ import annotations

import numpy as np

import pymc_geodesic as pmg

from pymc_geodesic import arrays

__all__ = ["Stiefel"]


class Stiefel(pmg.Manifold):
    r"""Matrices X of shape (n, p) with :math:`X^\top X = I`, embedded in the space of all matrices.

    With :math:`A = X^\top V` and :math:`S = V^\top V`,

    .. math::

        [X(t), V(t)] = [X, V] \exp\left(t \begin{pmatrix} A & -S \\ I & A \end{pmatrix}\right)
        \begin{pmatrix} e^{-t A} & 0 \\ 0 & e^{-t A} \end{pmatrix}.

    References
    ----------
    Edelman, A., Arias, T. A. and Smith, S. T. (1998). The geometry of algorithms with
    orthogonality constraints. SIAM Journal on Matrix Analysis and Applications 20.
    """

    name = "Stiefel"
    ndim_core = 2
    is_compact = True

    def dim(self, core_shape):  # noqa: D102
        n, p = core_shape
        return n * p - p * (p + 1) // 2

    def to_tangent(self, x, u):  # noqa: D102
        inner = x.mT @ u
        return u - x @ (0.5 * (inner + inner.mT))

    def geodesic(self, x, v, t):  # noqa: D102
        p = x.shape[-1]
        inner = x.mT @ v
        turn = 0.5 * (inner - inner.mT)
        one = arrays.broadcast_to(arrays.eye(p, dtype=x.dtype), turn.shape)
        rows = [
            arrays.concatenate([turn, -(v.mT @ v)], axis=-1),
            arrays.concatenate([one, turn], axis=-1),
        ]
        both = arrays.concatenate([x, v], axis=-1) @ arrays.expm(
            t * arrays.concatenate(rows, axis=-2)
        )
        back = arrays.expm(-t * turn)
        return both[..., :p] @ back, both[..., p:] @ back

    def project(self, x):  # noqa: D102
        left, _, right = arrays.svd(x, full_matrices=False)
        return arrays.with_shape(left @ right, arrays.static_shape(x))

    def check(self, value) -> str | None:  # noqa: D102
        value = np.asarray(value)
        off = np.abs(value.swapaxes(-1, -2) @ value - np.eye(value.shape[-1])).max()
        if off < 1e-4:
            return None
        return f"expected orthonormal columns, got inner products off by {off:.6g}"

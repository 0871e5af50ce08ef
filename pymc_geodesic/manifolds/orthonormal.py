#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Orthonormal columns: how to compute and to test them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.validation import UNIT_NORM_TOLERANCE

__all__ = [
    "has_orthonormal_columns",
    "is_rotation",
    "largest_overlap",
    "orthonormal_columns",
    "rotation_logarithm",
    "rotation_near",
    "triangle",
    "turned_right",
]


# An angle is divided by two this many times, after which powers up to the second describe it.
N_HALVINGS = 4


def triangle(x: Array) -> Array:
    r"""Return the lower triangular factor L of :math:`x^\top x = L L^\top`, shape ``(..., p, p)``.

    Its transpose is the R of a QR decomposition with positive diagonal.
    """
    return arrays.cholesky(x.mT @ x)


def orthonormal_columns(x: Array) -> Array:
    r"""Return the Q of the QR decomposition of ``x`` with positive diagonal of R.

    Computed as :math:`x L^{-\top}` at a cost of :math:`n p^2`, without a decomposition of ``x``
    itself. The inverse of the small factor is formed, because JAX solves triangular systems with
    many right-hand sides far more slowly than it multiplies matrices. The error of the inner
    products is of the order of rounding times the square of the condition number of ``x``. Applied
    twice, the error is of the order of rounding up to a condition number of 1e8.

    Parameters
    ----------
    x : array, shape (..., n, p)
        Matrices with linearly independent columns.

    References
    ----------
    Yamamoto, Y., Nakatsukasa, Y., Yanagisawa, Y. and Fukaya, T. (2015). Roundoff error analysis of
    the CholeskyQR2 algorithm. Electronic Transactions on Numerical Analysis 44.
    """
    factor = triangle(x)
    eye = arrays.broadcast_to(arrays.eye(x.shape[-1], dtype=x.dtype), factor.shape)
    return x @ arrays.solve_triangular(factor, eye, lower=True).mT


def rotation_near(turn: Array) -> Array:
    """Approximate the exponential of antisymmetric matrices, shape ``(..., p, p)``.

    For an angle of half a turn the error is two hundredths of a radian, and a hundredth of the
    length; it falls as the third power of the angle.
    """
    small = turn / 2**N_HALVINGS
    found = arrays.eye(turn.shape[-1], dtype=turn.dtype) + small + 0.5 * small @ small
    for _ in range(N_HALVINGS):
        found = found @ found
    return found


def rotation_logarithm(x: Array) -> Array:
    """Return the antisymmetric logarithm of the orthogonal matrix nearest to ``x``.

    Angles up to half a turn, which it halves by square roots until they are small.
    """
    root = _polar(x)
    for _ in range(N_HALVINGS):
        # For orthogonal Q, I + Q is the square root of Q times a positive definite matrix.
        root = _polar(root + arrays.eye(x.shape[-1], dtype=x.dtype))
    sine = 0.5 * (root - root.mT)
    return 2**N_HALVINGS * (sine + sine @ sine.mT @ sine / 6)


def _polar(x: Array) -> Array:
    left, _, right = arrays.svd(x, full_matrices=False)
    return left @ right


def turned_right(x: Array) -> Array:
    """Change the last column's sign where the determinant is -1, which gives rotations."""
    n = arrays.static_shape(x)[-1]
    side = arrays.sign(arrays.det(x))[..., None, None]
    return arrays.where(np.arange(n) == n - 1, side * x, x)


def largest_overlap(x: np.ndarray) -> np.ndarray:
    """Largest entry of ``|x'x - I|`` for each matrix of an array, shape ``(...)``."""
    x = np.asarray(x, dtype=float)
    inner = x.swapaxes(-1, -2) @ x - np.eye(x.shape[-1])
    return np.abs(inner).max(axis=(-1, -2), initial=0.0)


def has_orthonormal_columns(x: Any) -> Any:
    """Return whether ``x'x`` is the identity, norms within 1e-6, for arrays and tensors."""
    x = x.astype("float64")
    # |x|^2 - 1 is 2 (|x| - 1) to first order.
    return abs(x.mT @ x - arrays.eye(x.shape[-1])).max(axis=(-1, -2)) <= 2 * UNIT_NORM_TOLERANCE


def is_rotation(x: Any) -> Any:
    """Return whether ``x`` is orthogonal with determinant 1, for arrays and tensors."""
    return has_orthonormal_columns(x) & (arrays.det(x) > 0)

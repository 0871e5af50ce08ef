#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Axial statistics: unit vectors up to their sign, and draws at both ends of an axis."""

from __future__ import annotations

import numpy as np

from numpy.typing import ArrayLike

__all__ = ["along_axis", "angles_to_axis", "largest_spread", "principal_axes"]

# Iterations of the power method; its result is a threshold, for which a few per cent are enough.
N_ROUNDS = 30


def principal_axes(x: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the axes of the second moments of unit vectors.

    .. math::

        \frac1S \sum_t x_t x_t^\top = \sum_j \tau_j a_j a_j^\top,
        \qquad \tau_1 \ge \tau_2 \ge \dots, \quad \sum_j \tau_j = 1

    They do not depend on the signs of the draws. For draws at both ends of an axis
    :math:`\tau_1` is near one. For draws along a girdle, a great circle, the smallest
    :math:`\tau` is near zero, and the last axis is the girdle's normal.

    Parameters
    ----------
    x : array_like
        Unit vectors of shape (S, ..., n).

    Returns
    -------
    shares : numpy.ndarray
        :math:`\tau`, of shape (..., m), with m the smaller of S and n.
    axes : numpy.ndarray
        Unit vectors :math:`a_j` of shape (..., m, n), signed so that the entry of largest
        magnitude is positive.

    References
    ----------
    Mardia, K. V. and Jupp, P. E. (2000). Directional Statistics, section 10.3.

    Examples
    --------
    >>> shares, axes = principal_axes([[0.6, 0.8], [-0.6, -0.8]])
    >>> shares.round(6) + 0.0, axes[0].round(6)
    (array([1., 0.]), array([0.6, 0.8]))
    """
    x = np.moveaxis(np.asarray(x, dtype=float), 0, -2)
    _, lengths, axes = np.linalg.svd(x, full_matrices=False)
    largest = np.abs(axes).argmax(axis=-1, keepdims=True)
    signs = np.sign(np.take_along_axis(axes, largest, axis=-1))
    return lengths**2 / x.shape[-2], axes * signs


def along_axis(x: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """Return the ends of axes, of shape (..., n), on the side of one that broadcasts to them."""
    return np.where((x * axis).sum(axis=-1, keepdims=True) < 0, -x, x)


def angles_to_axis(x: ArrayLike, axis: ArrayLike) -> np.ndarray:
    """Return the angles between unit vectors and an axis, in radians, from 0 to a right angle.

    Parameters
    ----------
    x : array_like
        Unit vectors of shape (..., n).
    axis : array_like
        Unit vectors, broadcastable to `x`.

    Returns
    -------
    ndarray, shape (...)
        The angles.

    Examples
    --------
    >>> angles_to_axis([[1.0, 0.0], [-1.0, 0.0]], [1.0, 0.0])
    array([0., 0.])
    """
    x, axis = np.asarray(x, dtype=float), np.asarray(axis, dtype=float)
    along = (x * axis).sum(axis=-1, keepdims=True)
    # At small angles the orthogonal part keeps digits that the arc cosine loses.
    across = np.linalg.norm(x - along * axis, axis=-1)
    return np.arctan2(across, np.abs(along[..., 0]))


def largest_spread(x: np.ndarray) -> float:
    """Return the largest variance of unit vectors, of shape (S, n), along any axis.

    The power method needs no n by n matrix.
    """
    centered = x - x.mean(axis=0)
    axis = centered[np.argmax((centered**2).sum(axis=1))]
    for _ in range(N_ROUNDS):
        axis = centered.T @ (centered @ axis)
        axis /= max(np.linalg.norm(axis), np.finfo(float).tiny)
    return float(np.mean((centered @ axis) ** 2))

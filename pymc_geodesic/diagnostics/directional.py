#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Directional statistics: mean directions, axes, and how far unit vectors scatter about them."""

from __future__ import annotations

import numpy as np

from numpy.typing import ArrayLike

__all__ = [
    "along_axis",
    "angles_to",
    "angles_to_axis",
    "angular_sd",
    "cap_radius",
    "largest_spread",
    "mean_direction",
    "mean_resultant_length",
    "principal_axes",
    "rotate_to_pole",
]


def mean_direction(x: ArrayLike) -> np.ndarray:
    r"""Return the mean direction of unit vectors, :math:`\bar x / |\bar x|`.

    Parameters
    ----------
    x : array_like
        Unit vectors of shape (S, ..., n): S draws of each of the points (...).

    Returns
    -------
    numpy.ndarray
        Unit vectors of shape (..., n). NaN if the draws cancel, so that no direction is the mean.

    References
    ----------
    Mardia, K. V. and Jupp, P. E. (2000). Directional Statistics, section 9.2.1.

    Examples
    --------
    >>> mean_direction([[1.0, 0.0], [0.0, 1.0]])
    array([0.70710678, 0.70710678])
    """
    mean = np.asarray(x, dtype=float).mean(axis=0)
    length = np.linalg.norm(mean, axis=-1, keepdims=True)
    return np.divide(mean, length, out=np.full_like(mean, np.nan), where=length > 0)


def mean_resultant_length(x: ArrayLike) -> np.ndarray:
    r"""Return the mean resultant length :math:`\bar R = |\bar x|` of unit vectors.

    Parameters
    ----------
    x : array_like
        Unit vectors of shape (S, ..., n).

    Returns
    -------
    numpy.ndarray
        Of shape (...): one if all draws agree, near zero if they are spread over the sphere.

    Examples
    --------
    >>> float(mean_resultant_length([[1.0, 0.0], [-1.0, 0.0]]))
    0.0
    """
    return np.linalg.norm(np.asarray(x, dtype=float).mean(axis=0), axis=-1)


def angles_to(x: ArrayLike, center: ArrayLike) -> np.ndarray:
    """Return the angles between unit vectors and a center, in radians.

    Parameters
    ----------
    x : array_like
        Unit vectors of shape (..., n).
    center : array_like
        Unit vectors, broadcastable to `x`.

    Returns
    -------
    numpy.ndarray
        Of shape (...), from 0 to pi.

    Examples
    --------
    >>> round(float(np.rad2deg(angles_to([1.0, 0.0], [0.0, 1.0]))), 6)
    90.0
    """
    chord = np.linalg.norm(np.asarray(x, dtype=float) - np.asarray(center, dtype=float), axis=-1)
    # At small angles the half chord keeps digits that the arc cosine loses.
    return 2 * np.arcsin(np.minimum(chord / 2, 1))


def angular_sd(x: ArrayLike) -> np.ndarray:
    r"""Return the root mean square angle to the mean direction, in radians.

    .. math::

        s = \left( \frac1S \sum_t \theta_t^2 \right)^{1/2}, \qquad \cos \theta_t = x_t^\top \bar\mu

    For a concentrated distribution on the sphere in n dimensions it is :math:`\sqrt{n - 1}` times
    the standard deviation in each direction.

    Parameters
    ----------
    x : array_like
        Unit vectors of shape (S, ..., n).

    Returns
    -------
    numpy.ndarray
        Of shape (...).

    Examples
    --------
    >>> x = [[np.cos(0.1), np.sin(0.1)], [np.cos(0.1), -np.sin(0.1)]]
    >>> round(float(angular_sd(x)), 6)
    0.1
    """
    return np.sqrt(np.mean(angles_to(x, mean_direction(x)) ** 2, axis=0))


def cap_radius(x: ArrayLike, probability: float) -> np.ndarray:
    """Return the angular radius of the cap about the mean direction with a given probability.

    Parameters
    ----------
    x : array_like
        Unit vectors of shape (S, ..., n).
    probability : float
        Share of the draws in the cap, from 0 to 1.

    Returns
    -------
    numpy.ndarray
        Radii in radians, of shape (...).

    Raises
    ------
    ValueError
        If `probability` is not between 0 and 1.

    Examples
    --------
    >>> x = [[np.cos(t), np.sin(t)] for t in (-0.2, -0.1, 0.1, 0.2)]
    >>> round(float(cap_radius(x, 0.5)), 6)
    0.1
    """
    if not 0 <= probability <= 1:
        raise ValueError(f"`probability` expected a number from 0 to 1, got {probability}.")
    angles = angles_to(x, mean_direction(x))
    return np.quantile(angles, probability, axis=0, method="inverted_cdf")


def rotate_to_pole(x: ArrayLike, center: ArrayLike) -> np.ndarray:
    """Reflect unit vectors so that a center lies on the last axis, up to sign.

    The last coordinate is then the cosine of the angle to `center`, up to sign, and the others are
    coordinates in an orthonormal frame of the tangent space at `center`. This is the
    Householder reflection, whose memory and time are linear in the size of `x`.

    Parameters
    ----------
    x : array_like
        Unit vectors of shape (S, ..., n).
    center : array_like
        Unit vectors of shape (..., n).

    Returns
    -------
    numpy.ndarray
        Of the shape of `x`.

    Examples
    --------
    >>> rotate_to_pole([[1.0, 0.0, 0.0]], [1.0, 0.0, 0.0]).round(6) + 0.0
    array([[ 0.,  0., -1.]])
    """
    x, normal = np.asarray(x, dtype=float), np.array(center, dtype=float)
    # Reflects away from the axis, to avoid cancellation.
    normal[..., -1] += np.where(normal[..., -1] < 0, -1.0, 1.0)
    share = 2 * (x * normal).sum(axis=-1) / (normal * normal).sum(axis=-1)
    return x - share[..., None] * normal


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

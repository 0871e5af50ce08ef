#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Directional statistics: the mean direction of unit vectors and how far they scatter about it."""

from __future__ import annotations

import numpy as np

from numpy.typing import ArrayLike

__all__ = [
    "angles_to",
    "angular_sd",
    "cap_radius",
    "mean_direction",
    "mean_resultant_length",
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

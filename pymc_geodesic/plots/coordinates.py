#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Longitude and latitude of points on the sphere in three dimensions."""

import numpy as np

from numpy.typing import ArrayLike

__all__ = ["from_longitude_latitude", "to_longitude_latitude"]


def to_longitude_latitude(x: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return longitude and latitude, in degrees, of the directions `x`.

    Parameters
    ----------
    x : array_like
        Directions, of shape (..., 3). Their length does not matter.

    Returns
    -------
    longitude : numpy.ndarray
        Of shape (...), from -180 to 180; 0 at the poles.
    latitude : numpy.ndarray
        Of shape (...), from -90 to 90.

    Raises
    ------
    ValueError
        If the last axis of `x` does not have three entries.

    Examples
    --------
    >>> longitude, latitude = to_longitude_latitude([0.0, 1.0, 1.0])
    >>> float(longitude), round(float(latitude), 6)
    (90.0, 45.0)
    """
    x = np.asarray(x, dtype=float)
    if x.ndim == 0 or x.shape[-1] != 3:
        raise ValueError(
            f"`x` expected directions in three dimensions, shape (..., 3), got shape {x.shape}."
        )
    longitude = np.arctan2(x[..., 1], x[..., 0])
    latitude = np.arctan2(x[..., 2], np.hypot(x[..., 0], x[..., 1]))
    return np.rad2deg(longitude), np.rad2deg(latitude)


def from_longitude_latitude(longitude: ArrayLike, latitude: ArrayLike) -> np.ndarray:
    """Return the unit vectors at longitudes and latitudes.

    Parameters
    ----------
    longitude, latitude : array_like
        In degrees; broadcast against each other.

    Returns
    -------
    numpy.ndarray
        Unit vectors, of shape (..., 3).

    Examples
    --------
    >>> from_longitude_latitude(0.0, 0.0)
    array([1., 0., 0.])
    """
    longitude, latitude = np.broadcast_arrays(np.deg2rad(longitude), np.deg2rad(latitude))
    return np.stack(
        [
            np.cos(latitude) * np.cos(longitude),
            np.cos(latitude) * np.sin(longitude),
            np.sin(latitude),
        ],
        axis=-1,
    )

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Longitude and latitude of points on the sphere in three dimensions."""

from typing import get_args

import numpy as np

from numpy.typing import ArrayLike

from pymc_geodesic.validation import Unit, one_of, radians

__all__ = ["from_longitude_latitude", "to_longitude_latitude"]

# A right angle, and the rounding of latitudes in single precision.
LARGEST_LATITUDE = np.pi / 2 + 1e-6


def to_longitude_latitude(x: ArrayLike, *, unit: Unit = "degrees") -> tuple[np.ndarray, np.ndarray]:
    """Return longitude and latitude of the directions `x`.

    Parameters
    ----------
    x : array_like
        Directions, of shape (..., 3). Their length does not matter.
    unit : {"degrees", "radians"}
        Unit of the angles that are returned.

    Returns
    -------
    longitude : numpy.ndarray
        Of shape (...), from -180 to 180 degrees; 0 at the poles.
    latitude : numpy.ndarray
        Of shape (...), from -90 to 90 degrees.

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
    if one_of("unit", unit, get_args(Unit)) == "radians":
        return longitude, latitude
    return np.rad2deg(longitude), np.rad2deg(latitude)


def from_longitude_latitude(
    longitude: ArrayLike, latitude: ArrayLike, *, unit: Unit = "degrees"
) -> np.ndarray:
    """Return the unit vectors at longitudes and latitudes.

    Parameters
    ----------
    longitude, latitude : array_like
        Broadcast against each other.
    unit : {"degrees", "radians"}
        Unit of both.

    Returns
    -------
    numpy.ndarray
        Unit vectors, of shape (..., 3).

    Raises
    ------
    ValueError
        If a longitude is larger than a whole turn, or a latitude beyond a pole.

    Examples
    --------
    >>> from_longitude_latitude(0.0, 0.0)
    array([1., 0., 0.])
    """
    angles = {"longitude": longitude, "latitude": latitude}
    longitude, latitude = (radians(name, x, unit=unit) for name, x in angles.items())
    if np.any(np.abs(latitude) > LARGEST_LATITUDE):
        limit = "90" if unit == "degrees" else "pi / 2"
        raise ValueError(
            f"`latitude` expected {unit} from -{limit} to {limit}, got values up to "
            f"{np.nanmax(np.abs(np.asarray(angles['latitude'], dtype=float))):.6g} in size. The "
            "longitude comes first, the latitude second."
        )
    longitude, latitude = np.broadcast_arrays(longitude, latitude)
    return np.stack(
        [
            np.cos(latitude) * np.cos(longitude),
            np.cos(latitude) * np.sin(longitude),
            np.sin(latitude),
        ],
        axis=-1,
    )

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Coordinates of unit vectors: angles in the plane, longitude and latitude on the sphere."""

from __future__ import annotations

import numpy as np

from numpy.typing import ArrayLike

__all__ = ["angles_to_vectors", "lonlat_to_vectors", "vectors_to_angles", "vectors_to_lonlat"]


def angles_to_vectors(angles: ArrayLike, *, degrees: bool = False) -> np.ndarray:
    """Return the unit vectors ``(cos, sin)`` of angles.

    Parameters
    ----------
    angles : array_like, shape (...)
        Counter-clockwise from the first axis.
    degrees : bool
        Whether the angles are in degrees rather than radians.

    Returns
    -------
    ndarray, shape (..., 2)

    Examples
    --------
    >>> angles_to_vectors([0.0, 90.0], degrees=True).round(6)
    array([[1., 0.],
           [0., 1.]])
    """
    angles = np.asarray(angles, dtype=float)
    angles = np.deg2rad(angles) if degrees else angles
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def vectors_to_angles(vectors: ArrayLike, *, degrees: bool = False) -> np.ndarray:
    """Return the angles of vectors in the plane, above -pi and up to pi.

    Parameters
    ----------
    vectors : array_like, shape (..., 2)
        Vectors of any length but zero.
    degrees : bool
        Whether to return degrees rather than radians.

    Returns
    -------
    ndarray, shape (...)

    Raises
    ------
    ValueError
        If the last axis does not have two entries, or a vector has no direction.

    Examples
    --------
    >>> vectors_to_angles([[0.0, 2.0], [-1.0, 0.0]], degrees=True)
    array([ 90., 180.])
    """
    x = _checked(vectors, 2)
    # Minus zero would give -pi.
    angles = np.arctan2(x[..., 1] + 0.0, x[..., 0])
    return np.rad2deg(angles) if degrees else angles


def lonlat_to_vectors(
    longitude: ArrayLike, latitude: ArrayLike, *, degrees: bool = False
) -> np.ndarray:
    """Return the unit vectors of longitudes and latitudes.

    The first axis is at longitude and latitude zero, the second at longitude 90 degrees, the third
    at the north pole. For declinations and inclinations of palaeomagnetism the third axis points
    down.

    Parameters
    ----------
    longitude, latitude : array_like
        Eastward, and northward from -90 to 90 degrees; of shapes that broadcast.
    degrees : bool
        Whether they are in degrees rather than radians.

    Returns
    -------
    ndarray, shape (..., 3)

    Raises
    ------
    ValueError
        If a latitude is beyond a pole.

    Examples
    --------
    >>> lonlat_to_vectors(90.0, [0.0, 90.0], degrees=True).round(6)
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    lon, lat = np.broadcast_arrays(np.asarray(longitude, float), np.asarray(latitude, float))
    low, high = lat.min(initial=np.inf), lat.max(initial=-np.inf)
    lon, lat = (np.deg2rad(lon), np.deg2rad(lat)) if degrees else (lon, lat)
    if np.any(np.abs(lat) > np.pi / 2 + 1e-9):
        unit = "degrees" if degrees else "radians"
        raise ValueError(
            f"`latitude` expected {unit} from pole to pole, got values in "
            f"[{low:.6g}, {high:.6g}]. Pass `degrees={not degrees}` if "
            "they are in the other unit; a colatitude is 90 degrees less the latitude."
        )
    radius = np.cos(lat)
    return np.stack([radius * np.cos(lon), radius * np.sin(lon), np.sin(lat)], axis=-1)


def vectors_to_lonlat(
    vectors: ArrayLike, *, degrees: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return the longitudes, above -180 and up to 180 degrees, and the latitudes of vectors.

    Parameters
    ----------
    vectors : array_like, shape (..., 3)
        Vectors of any length but zero, in the frame of :func:`lonlat_to_vectors`.
    degrees : bool
        Whether to return degrees rather than radians.

    Returns
    -------
    longitude, latitude : ndarray, shape (...)

    Raises
    ------
    ValueError
        If the last axis does not have three entries, or a vector has no direction.

    Examples
    --------
    >>> vectors_to_lonlat([0.0, 2.0, 0.0], degrees=True)
    (np.float64(90.0), np.float64(0.0))
    """
    x = _checked(vectors, 3)
    longitude = vectors_to_angles(np.where(_at_pole(x), [1.0, 0.0], x[..., :2]))
    latitude = np.arctan2(x[..., 2], np.hypot(x[..., 0], x[..., 1]))
    return (np.rad2deg(longitude), np.rad2deg(latitude)) if degrees else (longitude, latitude)


def _at_pole(x: np.ndarray) -> np.ndarray:
    return (x[..., 0:1] == 0) & (x[..., 1:2] == 0)


def _checked(vectors: ArrayLike, length: int) -> np.ndarray:
    x = np.asarray(vectors, dtype=float)
    if x.ndim == 0 or x.shape[-1] != length:
        raise ValueError(
            f"`vectors` expected {length} entries in the last axis, got a shape of {x.shape}."
        )
    if not np.all(np.isfinite(x)) or np.any((x == 0).all(axis=-1)):
        raise ValueError(
            "`vectors` expected finite vectors other than zero, which has no direction. Leave out "
            "these rows."
        )
    return x

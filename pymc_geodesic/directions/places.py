#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Places on a globe, as directions from its centre."""

from __future__ import annotations

import numpy as np

from numpy.typing import ArrayLike

from pymc_geodesic.directions.conventions import (
    Convention,
    from_angles,
    register_convention,
    to_angles,
)

__all__ = ["from_latitude", "to_latitude"]


register_convention(
    Convention(
        name="latitude",
        angles=("latitude", "longitude"),
        # Longitudes go from -180 to 180 degrees on output, so they are not taken modulo 360.
        ranges=((-90.0, 90.0), (-360.0, 360.0)),
        vector=lambda lat, lon: (np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)),
        inverse=lambda x, y, z: (np.arctan2(z, np.hypot(x, y)), np.arctan2(y, x)),
    )
)


def from_latitude(latitude: ArrayLike, longitude: ArrayLike) -> np.ndarray:
    """Return directions from the centre of a globe from latitude and longitude.

    They are geocentric, positive to the north and to the east. The first axis goes through latitude
    and longitude zero, the third one through the north pole. The same as
    :func:`pymc_geodesic.from_longitude_latitude`, in the order of these conventions.

    Parameters
    ----------
    latitude, longitude : array_like
        In degrees, broadcast against each other; see :func:`from_angles`.

    Returns
    -------
    numpy.ndarray
        Unit vectors of shape (..., 3).

    Examples
    --------
    >>> import pymc_geodesic as pmg
    >>> pmg.directions.from_latitude([0, 90], [90, 0]).round(6) + 0.0
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    return from_angles("latitude", (latitude, longitude))


def to_latitude(x: ArrayLike) -> tuple[np.ndarray, ...]:
    """Return latitude and longitude of directions from the centre of a globe; see `from_latitude`.

    Parameters
    ----------
    x : array_like
        Vectors of shape (..., 3).

    Returns
    -------
    latitude, longitude : numpy.ndarray
        In degrees, of shape (...); longitudes from -180 to 180.

    Examples
    --------
    >>> import pymc_geodesic as pmg
    >>> latitude, longitude = pmg.directions.to_latitude([0.0, -1.0, 0.0])
    >>> float(latitude), float(longitude)
    (0.0, -90.0)
    """
    return to_angles("latitude", x)

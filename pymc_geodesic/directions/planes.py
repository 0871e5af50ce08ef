#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Planes by the dip and dip direction, or strike and dip, of their poles; places on Earth.

Vectors point (east, north, up).
"""

from __future__ import annotations

import numpy as np

from numpy.typing import ArrayLike

from pymc_geodesic.directions.conventions import (
    Convention,
    from_angles,
    register_convention,
    to_angles,
)

__all__ = ["from_dip", "from_latitude", "from_strike", "to_dip", "to_latitude", "to_strike"]


def _pole(dip, direction):
    return -np.sin(direction) * np.sin(dip), -np.cos(direction) * np.sin(dip), -np.cos(dip)


def _dip(east, north, up):
    return np.arctan2(np.hypot(east, north), -up), np.arctan2(-east, -north)


def _strike(east, north, up):
    dip, direction = _dip(east, north, up)
    return direction - np.pi / 2, dip


register_convention(
    Convention(
        name="dip",
        angles=("dip", "dip_direction"),
        ranges=((0.0, 90.0), None),
        vector=_pole,
        inverse=_dip,
        axial=True,
    )
)
register_convention(
    Convention(
        name="strike",
        angles=("strike", "dip"),
        ranges=(None, (0.0, 90.0)),
        vector=lambda strike, dip: _pole(dip, strike + np.pi / 2),
        inverse=_strike,
        axial=True,
    )
)


def from_dip(dip: ArrayLike, dip_direction: ArrayLike) -> np.ndarray:
    """Return the poles of planes from dip and dip direction.

    The dip is the angle of steepest descent of a plane below the horizontal, from 0 to 90 degrees.
    The dip direction is where it descends, clockwise from north. The pole is the normal that points
    down, in the lower hemisphere.

    Parameters
    ----------
    dip, dip_direction : array_like
        In degrees, broadcast against each other; see :func:`from_angles`.

    Returns
    -------
    numpy.ndarray
        Unit vectors (east, north, up) of shape (..., 3): axes, whose sign has no meaning.

    Examples
    --------
    >>> import pymc_geodesic as pmg
    >>> pmg.directions.from_dip([0, 90], [45, 90]).round(6) + 0.0
    array([[ 0.,  0., -1.],
           [-1.,  0.,  0.]])
    """
    return from_angles("dip", (dip, dip_direction))


def to_dip(x: ArrayLike) -> tuple[np.ndarray, ...]:
    """Return dip and dip direction of planes from their poles, either of them; see `from_dip`.

    Parameters
    ----------
    x : array_like
        Poles (east, north, up) of shape (..., 3).

    Returns
    -------
    dip, dip_direction : numpy.ndarray
        In degrees, of shape (...).

    Examples
    --------
    >>> import pymc_geodesic as pmg
    >>> dip, direction = pmg.directions.to_dip(-pmg.directions.from_dip(30, 120))
    >>> round(float(dip), 6), round(float(direction), 6)
    (30.0, 120.0)
    """
    return to_angles("dip", x)


def from_strike(strike: ArrayLike, dip: ArrayLike) -> np.ndarray:
    """Return the poles of planes from strike and dip, by the right-hand rule.

    The strike is the direction of a horizontal line in the plane, clockwise from north. By the
    right-hand rule, the plane dips to the right of it: the dip direction is the strike and 90
    degrees.

    Parameters
    ----------
    strike, dip : array_like
        In degrees, broadcast against each other; see :func:`from_angles`.

    Returns
    -------
    numpy.ndarray
        Unit vectors (east, north, up) of shape (..., 3); see :func:`from_dip`.

    Examples
    --------
    >>> import numpy as np, pymc_geodesic as pmg
    >>> one, other = pmg.directions.from_strike(30, 60), pmg.directions.from_dip(60, 120)
    >>> bool(np.allclose(one, other))
    True
    """
    return from_angles("strike", (strike, dip))


def to_strike(x: ArrayLike) -> tuple[np.ndarray, ...]:
    """Return strike, by the right-hand rule, and dip of planes from their poles.

    Parameters
    ----------
    x : array_like
        Poles (east, north, up) of shape (..., 3).

    Returns
    -------
    strike, dip : numpy.ndarray
        In degrees, of shape (...); see :func:`from_strike`.

    Examples
    --------
    >>> import pymc_geodesic as pmg
    >>> strike, dip = pmg.directions.to_strike(pmg.directions.from_dip(60, 120))
    >>> round(float(strike), 6), round(float(dip), 6)
    (30.0, 60.0)
    """
    return to_angles("strike", x)


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

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Planes, lines, magnetic directions, bearings and places, as their fields write them.

Vectors point (east, north, up), but those of places on the globe: these point from its centre.
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

__all__ = [
    "angle_to_azimuth",
    "azimuth_to_angle",
    "from_azimuth",
    "from_declination",
    "from_dip",
    "from_latitude",
    "from_strike",
    "from_trend",
    "to_azimuth",
    "to_declination",
    "to_dip",
    "to_latitude",
    "to_strike",
    "to_trend",
]

UPRIGHT = (-90.0, 90.0)


def _line(trend, plunge):
    return np.sin(trend) * np.cos(plunge), np.cos(trend) * np.cos(plunge), -np.sin(plunge)


def _trend(east, north, up):
    return np.arctan2(east, north), np.arctan2(-up, np.hypot(east, north))


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
register_convention(
    Convention(
        name="trend",
        angles=("trend", "plunge"),
        ranges=(None, UPRIGHT),
        vector=_line,
        inverse=_trend,
        axial=True,
    )
)
register_convention(
    Convention(
        name="declination",
        angles=("declination", "inclination"),
        ranges=(None, UPRIGHT),
        vector=_line,
        inverse=_trend,
    )
)
register_convention(
    Convention(
        name="azimuth",
        angles=("azimuth",),
        ranges=(None,),
        vector=lambda azimuth: (np.sin(azimuth), np.cos(azimuth)),
        inverse=lambda east, north: (np.arctan2(east, north),),
    )
)
register_convention(
    Convention(
        name="latitude",
        angles=("latitude", "longitude"),
        # Longitudes go from -180 to 180 degrees on output, so they are not taken modulo 360.
        ranges=(UPRIGHT, (-360.0, 360.0)),
        vector=lambda lat, lon: (np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)),
        inverse=lambda x, y, z: (np.arctan2(z, np.hypot(x, y)), np.arctan2(y, x)),
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
        In degrees.

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


def to_dip(x: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
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
    dip, direction = to_angles("dip", x)
    return dip, direction


def from_strike(strike: ArrayLike, dip: ArrayLike) -> np.ndarray:
    """Return the poles of planes from strike and dip, by the right-hand rule.

    The strike is the direction of a horizontal line in the plane, clockwise from north. By the
    right-hand rule, the plane dips to the right of it: the dip direction is the strike and 90
    degrees.

    Parameters
    ----------
    strike, dip : array_like
        In degrees.

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


def to_strike(x: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
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
    strike, dip = to_angles("strike", x)
    return strike, dip


def from_trend(trend: ArrayLike, plunge: ArrayLike) -> np.ndarray:
    """Return lines from trend and plunge.

    The trend is the direction of a line seen from above, clockwise from north; the plunge is its
    angle below the horizontal, negative for the end that points up.

    Parameters
    ----------
    trend, plunge : array_like
        In degrees.

    Returns
    -------
    numpy.ndarray
        Unit vectors (east, north, up) of shape (..., 3).

    Examples
    --------
    >>> import pymc_geodesic as pmg
    >>> pmg.directions.from_trend(90, 30).round(3) + 0.0
    array([ 0.866,  0.   , -0.5  ])
    """
    return from_angles("trend", (trend, plunge))


def to_trend(x: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return trend and plunge of the lower ends of lines; see `from_trend`.

    Parameters
    ----------
    x : array_like
        Lines (east, north, up) of shape (..., 3), at either end.

    Returns
    -------
    trend, plunge : numpy.ndarray
        In degrees, of shape (...).

    Examples
    --------
    >>> import pymc_geodesic as pmg
    >>> trend, plunge = pmg.directions.to_trend([0.0, 1.0, 1.0])
    >>> round(float(trend), 6), round(float(plunge), 6)
    (180.0, 45.0)
    """
    trend, plunge = to_angles("trend", x)
    return trend, plunge


def from_declination(declination: ArrayLike, inclination: ArrayLike) -> np.ndarray:
    """Return directions of magnetisation from declination and inclination.

    The declination is clockwise from north, the inclination is positive down. Such a direction has
    a sign: normal and reversed polarity are opposite.

    Parameters
    ----------
    declination, inclination : array_like
        In degrees.

    Returns
    -------
    numpy.ndarray
        Unit vectors (east, north, up) of shape (..., 3).

    Examples
    --------
    >>> import pymc_geodesic as pmg
    >>> pmg.directions.from_declination(0, -60).round(3) + 0.0
    array([0.   , 0.5  , 0.866])
    """
    return from_angles("declination", (declination, inclination))


def to_declination(x: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return declination and inclination of directions; see `from_declination`.

    Parameters
    ----------
    x : array_like
        Directions (east, north, up) of shape (..., 3).

    Returns
    -------
    declination, inclination : numpy.ndarray
        In degrees, of shape (...).

    Examples
    --------
    >>> import pymc_geodesic as pmg
    >>> declination, inclination = pmg.directions.to_declination([0.0, 1.0, 1.0])
    >>> round(float(declination), 6), round(float(inclination), 6)
    (0.0, -45.0)
    """
    declination, inclination = to_angles("declination", x)
    return declination, inclination


def from_latitude(latitude: ArrayLike, longitude: ArrayLike) -> np.ndarray:
    """Return directions from the centre of a globe from latitude and longitude.

    They are geocentric, positive to the north and to the east. The first axis goes through latitude
    and longitude zero, the third one through the north pole.

    Parameters
    ----------
    latitude, longitude : array_like
        In degrees.

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


def to_latitude(x: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
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
    latitude, longitude = to_angles("latitude", x)
    return latitude, longitude


def from_azimuth(azimuth: ArrayLike) -> np.ndarray:
    """Return horizontal directions from azimuths: compass bearings, clockwise from north.

    Winds are named by where they come from, and headings by where they go.

    Parameters
    ----------
    azimuth : array_like
        In degrees.

    Returns
    -------
    numpy.ndarray
        Unit vectors (east, north) of shape (..., 2).

    Examples
    --------
    >>> import pymc_geodesic as pmg
    >>> pmg.directions.from_azimuth([0, 90]).round(6) + 0.0
    array([[0., 1.],
           [1., 0.]])
    """
    return from_angles("azimuth", (azimuth,))


def to_azimuth(x: ArrayLike) -> np.ndarray:
    """Return azimuths of horizontal directions (east, north); see `from_azimuth`.

    Parameters
    ----------
    x : array_like
        Vectors (east, north) of shape (..., 2).

    Returns
    -------
    numpy.ndarray
        In degrees, from 0 to 360, of shape (...).

    Examples
    --------
    >>> import pymc_geodesic as pmg
    >>> float(pmg.directions.to_azimuth([-1.0, 0.0]))
    270.0
    """
    return to_angles("azimuth", x)[0]


def azimuth_to_angle(azimuth: ArrayLike) -> np.ndarray:
    """Return azimuths in degrees as angles in radians, as ``pm.VonMises`` has them.

    Parameters
    ----------
    azimuth : array_like
        In degrees, clockwise from north.

    Returns
    -------
    numpy.ndarray
        From -pi to pi; zero is north, and half of pi is east.

    Examples
    --------
    >>> import pymc_geodesic as pmg
    >>> pmg.directions.azimuth_to_angle([0, 90, 270]).round(3)
    array([ 0.   ,  1.571, -1.571])
    """
    east, north = np.moveaxis(from_azimuth(azimuth), -1, 0)
    return np.arctan2(east, north)


def angle_to_azimuth(angle: ArrayLike) -> np.ndarray:
    """Return angles in radians, with zero in the north and clockwise, as azimuths in degrees.

    Parameters
    ----------
    angle : array_like
        In radians.

    Returns
    -------
    numpy.ndarray
        From 0 to 360.

    Examples
    --------
    >>> import numpy as np, pymc_geodesic as pmg
    >>> pmg.directions.angle_to_azimuth([0.0, -np.pi / 2]).round(6)
    array([  0., 270.])
    """
    return np.mod(np.rad2deg(np.asarray(angle, dtype=float)), 360)

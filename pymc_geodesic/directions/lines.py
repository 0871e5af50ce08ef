#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Azimuths, lines and magnetic directions: clockwise from north, and below the horizontal.

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

__all__ = [
    "angle_to_azimuth",
    "azimuth_to_angle",
    "from_azimuth",
    "from_declination",
    "from_trend",
    "to_azimuth",
    "to_declination",
    "to_trend",
]


def _line(trend, plunge):
    return np.sin(trend) * np.cos(plunge), np.cos(trend) * np.cos(plunge), -np.sin(plunge)


def _trend(east, north, up):
    return np.arctan2(east, north), np.arctan2(-up, np.hypot(east, north))


register_convention(
    Convention(
        name="trend",
        angles=("trend", "plunge"),
        ranges=(None, (-90.0, 90.0)),
        vector=_line,
        inverse=_trend,
        axial=True,
    )
)
register_convention(
    Convention(
        name="declination",
        angles=("declination", "inclination"),
        ranges=(None, (-90.0, 90.0)),
        vector=_line,
        inverse=_trend,
    )
)


def from_trend(trend: ArrayLike, plunge: ArrayLike) -> np.ndarray:
    """Return lines from trend and plunge.

    The trend is the direction of a line seen from above, clockwise from north; the plunge is its
    angle below the horizontal, negative for the end that points up.

    Parameters
    ----------
    trend, plunge : array_like
        In degrees, broadcast against each other; see :func:`from_angles`.

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


def to_trend(x: ArrayLike) -> tuple[np.ndarray, ...]:
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
    return to_angles("trend", x)


def from_declination(declination: ArrayLike, inclination: ArrayLike) -> np.ndarray:
    """Return directions of magnetisation from declination and inclination.

    The declination is clockwise from north, the inclination is positive down. Such a direction has
    a sign: normal and reversed polarity are opposite.

    Parameters
    ----------
    declination, inclination : array_like
        In degrees, broadcast against each other; see :func:`from_angles`.

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


def to_declination(x: ArrayLike) -> tuple[np.ndarray, ...]:
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
    return to_angles("declination", x)


register_convention(
    Convention(
        name="azimuth",
        angles=("azimuth",),
        ranges=(None,),
        vector=lambda azimuth: (np.sin(azimuth), np.cos(azimuth)),
        inverse=lambda east, north: (np.arctan2(east, north),),
    )
)


def from_azimuth(azimuth: ArrayLike) -> np.ndarray:
    """Return horizontal directions from azimuths: compass bearings, clockwise from north.

    Winds are named by where they come from, and headings by where they go.

    Parameters
    ----------
    azimuth : array_like
        In degrees; see :func:`from_angles`.

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

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Compass bearings, as horizontal directions (east, north) and as angles in radians."""

from __future__ import annotations

import numpy as np

from numpy.typing import ArrayLike

from pymc_geodesic.directions.conventions import (
    Convention,
    from_angles,
    register_convention,
    to_angles,
)

__all__ = ["angle_to_azimuth", "azimuth_to_angle", "from_azimuth", "to_azimuth"]


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

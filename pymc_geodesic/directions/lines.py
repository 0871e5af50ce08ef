#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Lines and magnetic directions by an angle clockwise from north and one below the horizontal.

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

__all__ = ["from_declination", "from_trend", "to_declination", "to_trend"]


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

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Planes by the dip and the dip direction, or the strike and the dip, of their poles.

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

__all__ = ["from_dip", "from_strike", "to_dip", "to_strike"]


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

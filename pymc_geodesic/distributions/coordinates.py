#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Angles in the plane and their unit vectors."""

from __future__ import annotations

from typing import get_args

import numpy as np

from numpy.typing import ArrayLike

from pymc_geodesic.validation import Unit, one_of, radians

__all__ = ["angles_to_vectors", "vectors_to_angles"]


def angles_to_vectors(
    angles: ArrayLike, *, unit: Unit = "radians", degrees: bool = False
) -> np.ndarray:
    """Return the unit vectors ``(cos, sin)`` of angles.

    Parameters
    ----------
    angles : array_like, shape (...)
        Counter-clockwise from the first axis.
    unit : {"radians", "degrees"}
        Unit of the angles.
    degrees : bool
        True is another way to write ``unit="degrees"``.

    Returns
    -------
    ndarray, shape (..., 2)
        Unit vectors.

    Raises
    ------
    ValueError
        If an angle is larger than a whole turn.

    Examples
    --------
    >>> angles_to_vectors([0.0, 90.0], unit="degrees").round(6)
    array([[1., 0.],
           [0., 1.]])
    """
    angles = radians("angles", angles, unit="degrees" if degrees else unit)
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def vectors_to_angles(
    vectors: ArrayLike, *, unit: Unit = "radians", degrees: bool = False
) -> np.ndarray:
    """Return the angles of vectors in the plane, above -pi and up to pi.

    Parameters
    ----------
    vectors : array_like, shape (..., 2)
        Vectors of any nonzero length.
    unit : {"radians", "degrees"}
        Unit of the angles that are returned.
    degrees : bool
        True is another way to write ``unit="degrees"``.

    Returns
    -------
    ndarray, shape (...)
        Angles from the first axis, counter-clockwise.

    Raises
    ------
    ValueError
        If the last axis does not have two entries, or a vector has no direction.

    Examples
    --------
    >>> vectors_to_angles([[0.0, 2.0], [-1.0, 0.0]], unit="degrees")
    array([ 90., 180.])
    """
    x = _checked(vectors)
    # Minus zero would give -pi.
    angles = np.arctan2(x[..., 1] + 0.0, x[..., 0])
    in_degrees = degrees or one_of("unit", unit, get_args(Unit)) == "degrees"
    return np.rad2deg(angles) if in_degrees else angles


def _checked(vectors: ArrayLike) -> np.ndarray:
    x = np.asarray(vectors, dtype=float)
    if x.ndim == 0 or x.shape[-1] != 2:
        raise ValueError(
            f"`vectors` expected two entries in the last axis, got a shape of {x.shape}."
        )
    if not np.all(np.isfinite(x)) or np.any((x == 0).all(axis=-1)):
        raise ValueError(
            "`vectors` expected finite vectors with a direction, got zero, infinite or missing "
            "ones. Leave out these rows."
        )
    return x

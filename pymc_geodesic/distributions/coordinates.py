#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Angles and unit vectors, rotations and unit quaternions, and back."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytensor.tensor as pt

from numpy.typing import ArrayLike
from pytensor.graph.basic import Variable

from pymc_geodesic.validation import Unit, one_of, radians

__all__ = [
    "angles_to_vectors",
    "davenport",
    "matrix_to_quaternion",
    "quaternion_to_matrix",
    "vectors_to_angles",
]


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


def quaternion_to_matrix(q: Any) -> Any:
    """Return the rotation matrix of a unit quaternion; q and -q mean the same rotation.

    Parameters
    ----------
    q : array_like or TensorVariable, shape (..., 4)
        Unit quaternions (w, x, y, z), the real part first. They are not normalised.

    Returns
    -------
    ndarray or TensorVariable, shape (..., 3, 3)
        Matrices that turn column vectors.

    Examples
    --------
    >>> quaternion_to_matrix([0.0, 0.0, 0.0, 1.0]) + 0.0
    array([[-1.,  0.,  0.],
           [ 0., -1.,  0.],
           [ 0.,  0.,  1.]])
    """
    xp = pt if isinstance(q, Variable) else np
    q = q if isinstance(q, Variable) else np.asarray(q, dtype=float)
    w, x, y, z = (q[..., i] for i in range(4))
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return xp.stack([xp.stack(row, axis=-1) for row in rows], axis=-2)


def matrix_to_quaternion(x: ArrayLike) -> np.ndarray:
    """Return the unit quaternion of a rotation matrix, with a real part of zero or more.

    Parameters
    ----------
    x : array_like, shape (..., 3, 3)
        Rotation matrices.

    Returns
    -------
    ndarray, shape (..., 4)
        Quaternions (w, x, y, z), the real part first.

    Raises
    ------
    ValueError
        If the last two axes do not hold matrices of three rows and columns.

    Examples
    --------
    >>> matrix_to_quaternion(np.eye(3))
    array([1., 0., 0., 0.])
    """
    x = np.asarray(x, dtype=float)
    if x.shape[-2:] != (3, 3):
        raise ValueError(
            f"`matrix_to_quaternion` expected matrices of shape (3, 3), got shape {x.shape}."
        )
    # Imported on first use: it takes as long as the package.
    from scipy.spatial.transform import Rotation

    found = Rotation.from_matrix(x.reshape(-1, 3, 3)).as_quat(canonical=True, scalar_first=True)
    return found.reshape(*x.shape[:-2], 4)


def davenport(parameter: Any) -> Any:
    r"""Return the symmetric 4 x 4 matrix A with :math:`q^\top A q = \operatorname{tr} F^\top R(q)`.

    ``parameter`` is the matrix F, a tensor of shape (..., 3, 3).
    """
    f = [[parameter[..., i, j] for j in range(3)] for i in range(3)]
    trace = f[0][0] + f[1][1] + f[2][2]
    skew = [f[2][1] - f[1][2], f[0][2] - f[2][0], f[1][0] - f[0][1]]
    rows = [[trace, *skew]]
    for i in range(3):
        own = [f[i][j] + f[j][i] - (trace if i == j else 0) for j in range(3)]
        rows.append([skew[i], *own])
    return pt.stack([pt.stack(row, axis=-1) for row in rows], axis=-2)

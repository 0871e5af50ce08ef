#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Triangles on the sphere near draws, contours on them, and longitudes and latitudes."""

from __future__ import annotations

from typing import get_args

import numpy as np

from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull, cKDTree

from pymc_geodesic.validation import Unit, one_of, radians

__all__ = ["from_longitude_latitude", "isolines", "mesh_near", "to_longitude_latitude"]


GOLDEN = (1 + np.sqrt(5)) / 2


def mesh_near(x: np.ndarray, *, edge: float, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Refine the triangles of the icosahedron near points.

    Parameters
    ----------
    x : ndarray, shape (S, 3)
        Unit vectors.
    edge : float
        Longest side of a triangle, in radians.
    reach : float
        Triangles farther than this from all points are left out.

    Returns
    -------
    vertices : ndarray, shape (m, 3)
        Unit vectors.
    triangles : ndarray of int, shape (t, 3)
        Indices of their vertices, which neighbours share.
    """
    tree = cKDTree(x)
    vertices, triangles = _icosahedron()
    # A side of the icosahedron spans 1.107 radians. Halves of a divided side are up to a fifth
    # longer.
    side = 1.107
    while side * 1.2 > edge:
        vertices, triangles = _divided(vertices, triangles)
        side /= 2
        middle = vertices[triangles].sum(axis=1)
        middle /= np.linalg.norm(middle, axis=1, keepdims=True)
        near, _ = tree.query(middle, distance_upper_bound=reach + 1.2 * side)
        triangles = triangles[np.isfinite(near)]
    used, triangles = np.unique(triangles, return_inverse=True)
    return vertices[used], triangles.reshape(-1, 3)


def isolines(
    triangles: np.ndarray, vertices: np.ndarray, values: np.ndarray, level: float
) -> list[np.ndarray]:
    """Trace the contour lines of values that are linear in each triangle.

    Parameters
    ----------
    triangles, vertices : ndarray
        Mesh of :func:`mesh_near`.
    values : ndarray, shape (m,)
        Values at the vertices.
    level : float
        Level of the lines.

    Returns
    -------
    list of ndarray, shape (n, 3)
        Unit vectors along each line. Lines that do not end at the rim of the mesh are closed.
    """
    above = values >= level
    crossed = triangles[(above[triangles].any(axis=1)) & (~above[triangles]).any(axis=1)]
    if len(crossed) == 0:
        return []
    # A line crosses each of these triangles on two sides, shared with its neighbours.
    sides = np.sort(crossed[:, [[0, 1], [1, 2], [2, 0]]], axis=-1)
    cut = above[sides[..., 0]] != above[sides[..., 1]]
    keys, places = np.unique(sides[cut], axis=0, return_inverse=True)
    a, b = values[keys].T
    share = ((level - a) / (b - a))[:, None]
    points = (1 - share) * vertices[keys[:, 0]] + share * vertices[keys[:, 1]]
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return [points[line] for line in _chained(places.reshape(-1, 2), len(keys))]


def _icosahedron() -> tuple[np.ndarray, np.ndarray]:
    signs = np.array([[a, b] for a in (-1, 1) for b in (-1, 1)])
    rectangle = np.column_stack([np.zeros(4), signs * [1.0, GOLDEN]])
    vertices = np.concatenate([np.roll(rectangle, shift, axis=1) for shift in range(3)])
    # Rotated slightly, so that no vertex or side lies on an axis, where posteriors often are.
    turn = np.linalg.qr(np.array([[0.9, 0.2, -0.3], [-0.1, 1.1, 0.4], [0.3, -0.5, 0.8]]))[0]
    vertices = vertices @ turn / np.hypot(1, GOLDEN)
    return vertices, ConvexHull(vertices).simplices


def _divided(vertices: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Divide every triangle into four at the midpoints of its sides."""
    sides = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]], axis=-1).reshape(-1, 2)
    keys, places = np.unique(sides, axis=0, return_inverse=True)
    middles = vertices[keys].sum(axis=1)
    middles /= np.linalg.norm(middles, axis=1, keepdims=True)
    ab, bc, ca = (len(vertices) + places.reshape(-1, 3)).T
    a, b, c = triangles.T
    parts = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    return np.concatenate([vertices, middles]), np.concatenate([np.stack(p, 1) for p in parts])


def _chained(pairs: np.ndarray, n: int) -> list[list[int]]:
    """Join pairs of points into lines; every point is in one pair or two."""
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for a, b in pairs.tolist():
        neighbours[a].append(b)
        neighbours[b].append(a)
    left = set(range(n))
    lines: list[list[int]] = []
    # Open lines come first, from one of their ends.
    for start in sorted(left, key=lambda i: len(neighbours[i])):
        if start not in left:
            continue
        line: list[int] = []
        here: int | None = start
        while here is not None:
            left.discard(here)
            line.append(here)
            here = next((i for i in neighbours[here] if i in left), None)
        if start in neighbours[line[-1]] and len(line) > 2:
            line.append(start)
        lines.append(line)
    return lines


# A right angle, and the rounding of latitudes in single precision.
LARGEST_LATITUDE = np.pi / 2 + 1e-6


def to_longitude_latitude(x: ArrayLike, *, unit: Unit = "degrees") -> tuple[np.ndarray, np.ndarray]:
    """Return longitude and latitude of the directions `x`.

    Parameters
    ----------
    x : array_like
        Directions, of shape (..., 3). Their length does not matter.
    unit : {"degrees", "radians"}
        Unit of the angles that are returned.

    Returns
    -------
    longitude : numpy.ndarray
        Of shape (...), from -180 to 180 degrees; 0 at the poles.
    latitude : numpy.ndarray
        Of shape (...), from -90 to 90 degrees.

    Raises
    ------
    ValueError
        If the last axis of `x` does not have three entries.

    Examples
    --------
    >>> longitude, latitude = to_longitude_latitude([0.0, 1.0, 1.0])
    >>> float(longitude), round(float(latitude), 6)
    (90.0, 45.0)
    """
    x = np.asarray(x, dtype=float)
    if x.ndim == 0 or x.shape[-1] != 3:
        raise ValueError(
            f"`x` expected directions in three dimensions, shape (..., 3), got shape {x.shape}."
        )
    longitude = np.arctan2(x[..., 1], x[..., 0])
    latitude = np.arctan2(x[..., 2], np.hypot(x[..., 0], x[..., 1]))
    if one_of("unit", unit, get_args(Unit)) == "radians":
        return longitude, latitude
    return np.rad2deg(longitude), np.rad2deg(latitude)


def from_longitude_latitude(
    longitude: ArrayLike, latitude: ArrayLike, *, unit: Unit = "degrees"
) -> np.ndarray:
    """Return the unit vectors at longitudes and latitudes.

    Parameters
    ----------
    longitude, latitude : array_like
        Broadcast against each other.
    unit : {"degrees", "radians"}
        Unit of both.

    Returns
    -------
    numpy.ndarray
        Unit vectors, of shape (..., 3).

    Raises
    ------
    ValueError
        If a longitude is larger than a whole turn, or a latitude beyond a pole.

    Examples
    --------
    >>> from_longitude_latitude(0.0, 0.0)
    array([1., 0., 0.])
    """
    angles = {"longitude": longitude, "latitude": latitude}
    longitude, latitude = (radians(name, x, unit=unit) for name, x in angles.items())
    if np.any(np.abs(latitude) > LARGEST_LATITUDE):
        limit = "90" if unit == "degrees" else "pi / 2"
        raise ValueError(
            f"`latitude` expected {unit} from -{limit} to {limit}, got values up to "
            f"{np.nanmax(np.abs(np.asarray(angles['latitude'], dtype=float))):.6g} in size. The "
            "longitude comes first, the latitude second."
        )
    longitude, latitude = np.broadcast_arrays(longitude, latitude)
    return np.stack(
        [
            np.cos(latitude) * np.cos(longitude),
            np.cos(latitude) * np.sin(longitude),
            np.sin(latitude),
        ],
        axis=-1,
    )

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The triangle of probability vectors with three entries, as a canvas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from matplotlib.axes import Axes
from scipy.ndimage import gaussian_filter

from pymc_geodesic.plots.density import contour_lines, find_bandwidth, squared_distances
from pymc_geodesic.plots.style import HALO

__all__ = ["Triangle"]

# Corners of a triangle with sides of length one: the first entry is at the lower left, the third on
# top.
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])

# Number of draws used to choose the bandwidth; each has a dozen mirror images.
MOST_DRAWS = 400
# Density of the faintest line, as a share of the highest.
LOWEST = 1e-6
# Number of cells along each side of the grid on which draws are counted.
GRID = 240


class Triangle:
    """A ternary plot with ticks on the three sides."""

    def __init__(self, ax: Axes, names: Sequence[str]) -> None:
        self.ax = ax
        ax.set_aspect("equal")
        ax.set_axis_off()
        ax.set(xlim=(-0.16, 1.16), ylim=(-0.14, CORNERS[2, 1] + 0.08))
        ax.fill(*CORNERS.T, facecolor="none", edgecolor="0.3", linewidth=1.0, zorder=3)
        self._draw_grid()
        for i, name in enumerate(names):
            self._name_corner(i, name)

    def dots(self, p: np.ndarray, **style: Any) -> None:
        """Show probability vectors as dots."""
        self.ax.plot(*(p @ CORNERS).T, linestyle="none", **style)

    def contours(self, p: np.ndarray, mass: Sequence[float], **style: Any) -> None:
        """Draw the borders of the densest regions of draws."""
        for line in _regions(p @ CORNERS, mass):
            self.ax.plot(*line.T, **style)

    def _draw_grid(self) -> None:
        for share in np.arange(0.2, 0.99, 0.2):
            for i in range(3):
                start, end = np.zeros(3), np.zeros(3)
                start[i] = end[i] = share
                start[(i + 1) % 3] = end[(i + 2) % 3] = 1 - share
                line = np.array([start, end]) @ CORNERS
                self.ax.plot(*line.T, color="0.85", linewidth=0.6, zorder=1)
                # Each entry is read along the grid lines on the side that leads to its corner.
                outwards = line[0] - line[1]
                place = line[0] + 0.035 * outwards / np.linalg.norm(outwards)
                text = {"ha": "center", "va": "center", "fontsize": 8, "color": "0.45"}
                self.ax.text(*place, f"{share:.1f}", **text)

    def _name_corner(self, i: int, name: str) -> None:
        middle = CORNERS.mean(axis=0)
        place = CORNERS[i] + 0.09 * (CORNERS[i] - middle) / np.linalg.norm(CORNERS[i] - middle)
        style = {"ha": "center", "va": "center", "fontsize": 11, "path_effects": HALO}
        self.ax.text(*place, name, **style)


def _regions(points: np.ndarray, mass: Sequence[float]) -> list[np.ndarray]:
    """Find the borders of the densest regions of points of the triangle.

    Points near a side are reflected at it, so that no density is lost outside. The bandwidth is
    cross-validated, but at least a cell. The levels are quantiles of the density at the points,
    each without its own kernel.
    """
    x, y, density, at_points = _density(points)
    levels = np.quantile(at_points, 1 - np.asarray(mass, dtype=float))
    # With few draws the outermost are isolated and have no density, hence a lowest level.
    levels = np.maximum(levels, density.max() * LOWEST)
    lines = [_cut(line) for line in contour_lines(x, y, density.T, levels)]
    return [line for line in lines if not np.isnan(line).all()]


def _density(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return a grid's sides, the density on it, and that at the points without their kernel."""
    bandwidth = _bandwidth(points)
    low, high = points.min(axis=0) - 4 * bandwidth, points.max(axis=0) + 4 * bandwidth
    edges = [np.linspace(a, b, GRID + 1) for a, b in zip(low, high, strict=True)]
    across, up = _images(points).T
    counts, *_ = np.histogram2d(across, up, bins=edges)
    cells = np.maximum(bandwidth * GRID / (high - low), 1.0)
    density = gaussian_filter(counts, cells, mode="constant")
    places = (np.digitize(p, edge[1:-1]) for p, edge in zip(points.T, edges, strict=True))
    at_points = density[tuple(places)] - 1 / (2 * np.pi * cells.prod())
    x, y = (0.5 * (edge[1:] + edge[:-1]) for edge in edges)
    return x, y, density, at_points


def _bandwidth(points: np.ndarray) -> float:
    few = points[:: -(-len(points) // MOST_DRAWS)]
    found = find_bandwidth(
        squared_distances(few, _images(few)),
        log_height=lambda bandwidth: -np.log(2 * np.pi * bandwidth**2),
        area=np.sqrt(3) / 4,
        widest=0.5,
    )
    # Identical draws are shown as wide as a dot.
    return max(found * (len(few) / len(points)) ** (1 / 6), 1e-6)


def _images(points: np.ndarray) -> np.ndarray:
    """Return every point followed by its mirror images, of shape (S m, 2)."""
    return (_barycentric(points)[:, None, None] @ _mirrors() @ CORNERS).reshape(-1, 2)


def _mirrors() -> np.ndarray:
    """Matrices that map weights of the corners into the neighbouring triangles."""
    # Reflection at side i changes the sign of weight i and adds its value to the others.
    sides = np.eye(3)[:, :, None] * (1 - 3 * np.eye(3))[:, None, :] + np.eye(3)
    found = np.eye(3)[None]
    for _ in range(3):
        products = np.einsum("aij,bjk->abik", found, sides).reshape(-1, 3, 3)
        found = np.unique(np.concatenate([found, products]), axis=0)
    return found


def _barycentric(points: np.ndarray) -> np.ndarray:
    """Write points of the plane as weights of the corners, which sum to one."""
    sides = (CORNERS[:2] - CORNERS[2]).T
    first = (points - CORNERS[2]) @ np.linalg.inv(sides).T
    return np.concatenate([first, 1 - first.sum(axis=-1, keepdims=True)], axis=-1)


def _cut(line: np.ndarray) -> np.ndarray:
    """Interrupt a line outside the triangle."""
    outside = _barycentric(line).min(axis=-1, keepdims=True) < -1e-3
    return np.where(outside, np.nan, line)

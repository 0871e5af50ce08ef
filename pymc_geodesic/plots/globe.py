#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The sphere seen from outside, as a canvas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from mpl_toolkits.mplot3d import proj3d
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from pymc_geodesic.plots.coordinates import from_longitude_latitude
from pymc_geodesic.plots.density import LogDensity, contour_lines, levels_of
from pymc_geodesic.plots.maps import graticule_lines
from pymc_geodesic.plots.style import BORDER, legend_of_regions, shades_of

__all__ = ["Globe"]

# Opacity of the far side, which is visible through the sphere.
FAR = 0.12


class Globe:
    """A sphere in three dimensions with `center` in front, turned by `tilt` degrees clockwise."""

    projection = axes_projection = "3d"
    figsize = (6.0, 6.4)
    legend = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.04), "ncols": 1}
    smallest_cap = 4.0

    def __init__(self, ax: Axes, center: tuple[float, float], tilt: float) -> None:
        self.ax = ax
        self.eye = from_longitude_latitude(*center)
        longitude, latitude = center
        ax.view_init(elev=latitude, azim=longitude, roll=tilt)
        ax.set_proj_type("ortho")
        ax.set_box_aspect((1, 1, 1), zoom=1.55)
        ax.set(xlim=(-1, 1), ylim=(-1, 1), zlim=(-1, 1))
        # Stack artists by zorder as on the map; matplotlib would sort them by their centres.
        ax.computed_zorder = False

    def dots(self, x: np.ndarray, *, label: str | None = None, **style: Any) -> None:
        """Show directions as dots."""
        alpha = style.pop("alpha", 1.0)
        near = x @ self.eye > 0
        self.ax.plot(*x[~near].T, linestyle="none", alpha=FAR * alpha, **style)
        self.ax.plot(*x[near].T, linestyle="none", alpha=alpha, label=label, **style)

    def curve(self, x: np.ndarray, **style: Any) -> None:
        """Draw a line through directions."""
        near = (x @ self.eye > 0)[:, None]
        self.ax.plot(*np.where(near, np.nan, x).T, alpha=FAR, **style)
        self.ax.plot(*np.where(near, x, np.nan).T, **style)

    def text(self, x: np.ndarray, text: str, **style: Any) -> None:
        """Write text beside a direction, faint on the far side."""
        place = proj3d.proj_transform(*x, self.ax.get_proj())[:2]
        self.ax.annotate(text, place, alpha=1.0 if x @ self.eye > 0 else 2 * FAR, **style)

    def shade(self, log_density: LogDensity, mass: Sequence[float]) -> None:
        """Shade the regions of highest density that hold the given probabilities."""
        longitude, latitude = np.linspace(-180, 180, 241), np.linspace(-90, 90, 121)
        corners = from_longitude_latitude(longitude, latitude[:, None])
        values = np.asarray(log_density(corners.reshape(-1, 3))).reshape(corners.shape[:-1])
        levels, held = levels_of(values, np.cos(np.deg2rad(latitude))[:, None], mass)
        if len(levels) == 0:
            return
        middles = np.mean(_corners(values), axis=0)
        cells = np.stack(_corners(corners), axis=2)
        near = cells.mean(axis=2) @ self.eye > 0
        colors = np.vstack([to_rgba("white"), shades_of(len(levels))])
        region = np.searchsorted(levels, middles[near], side="right")
        # Edges of the same colour close the gaps that rendering leaves between cells.
        faces = {"facecolors": colors[region], "edgecolors": colors[region], "linewidths": 0.5}
        self.ax.add_collection3d(Poly3DCollection(cells[near], zorder=0, **faces))
        for line in contour_lines(longitude, latitude, values, levels):
            border = from_longitude_latitude(*line.T)
            self.curve(border, color=BORDER, linewidth=0.9, zorder=2)
        legend_of_regions(self.ax, held, loc="upper right")

    def graticule(self) -> None:
        """Draw the lines of longitude and latitude and the rim."""
        self.ax.set_axis_off()
        for line in graticule_lines():
            self.curve(line, color="0.72", linewidth=0.5, zorder=1)
        # Half of the rim is hidden; moved slightly towards the eye, all of it is visible.
        turn = np.linspace(0, 2 * np.pi, 361)
        across = np.linalg.svd(self.eye[None])[2][1:]
        rim = np.column_stack([np.cos(turn), np.sin(turn)]) @ across + 1e-6 * self.eye
        self.curve(rim, color="0.35", linewidth=0.9, zorder=2)


def _corners(grid: np.ndarray) -> list[np.ndarray]:
    """Values at the four corners of the cells of a grid, in order."""
    return [grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]]

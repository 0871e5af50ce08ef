#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Lambert's equal-area map of a part of the sphere, as a canvas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from matplotlib.axes import Axes
from scipy.spatial.transform import Rotation

from pymc_geodesic.diagnostics.directional import angles_to
from pymc_geodesic.plots.coordinates import from_longitude_latitude
from pymc_geodesic.plots.density import LogDensity, levels_of
from pymc_geodesic.plots.style import BORDER, legend_of_regions, shades_of

__all__ = ["ZoomedMap"]

GRID = 241
# Width of an empty map: about a hemisphere.
WIDEST = 90.0


class ZoomedMap:
    """A map in degrees east and north of `center`, as wide as its contents."""

    projection = "zoom"
    axes_projection = "rectilinear"
    figsize = (6.4, 7.0)
    legend = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.1), "ncols": 1}
    smallest_cap = 0.0

    def __init__(self, ax: Axes, center: tuple[float, float], tilt: float) -> None:
        self.ax = ax
        longitude, latitude = center
        # Columns: the center, east and north of it, turned clockwise by the tilt.
        frame = Rotation.from_euler("ZYX", [longitude, -latitude, tilt], degrees=True)
        self.frame = frame.as_matrix()
        self.center = from_longitude_latitude(*center)
        self.reach = 0.0

    def dots(self, x: np.ndarray, **style: Any) -> None:
        """Show directions as dots."""
        self._reach_to(x)
        self.ax.plot(*self._on_map(x), linestyle="none", **style)

    def curve(self, x: np.ndarray, **style: Any) -> None:
        """Draw a line through directions."""
        east, north = self._on_map(x)
        # The antipode of the center is the whole rim: interrupt lines there.
        east[1:][np.hypot(np.diff(east), np.diff(north)) > WIDEST] = np.nan
        self.ax.plot(east, north, **style)

    def text(self, x: np.ndarray, text: str, **style: Any) -> None:
        """Write text beside a direction."""
        self.ax.annotate(text, self._on_map(x), **style)

    def shade(self, log_density: LogDensity, mass: Sequence[float]) -> None:
        """Shade the regions of highest density that hold the given probabilities of the map."""
        side = np.linspace(-self.reach, self.reach, GRID)
        flat = np.stack(np.meshgrid(side, side), axis=-1)
        values = np.full((GRID, GRID), -np.inf)
        inside = np.hypot(*np.moveaxis(flat, -1, 0)) < np.rad2deg(2.0)
        values[inside] = np.asarray(log_density(self._from_map(flat[inside])))
        levels, held = levels_of(values, np.ones(1), mass)
        if len(levels) == 0:
            return
        shades = shades_of(len(levels))
        self.ax.contourf(side, side, values, [*levels, np.inf], colors=shades, zorder=0)
        line = {"colors": BORDER, "linestyles": "solid", "linewidths": 0.9, "zorder": 2}
        self.ax.contour(side, side, values, levels, **line)
        legend_of_regions(self.ax, held, loc="upper right")

    def graticule(self) -> None:
        """Set the scales, in degrees from the center."""
        reach = min(1.08 * (self.reach or WIDEST), np.rad2deg(2.0))
        self.ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
        self.ax.set(xlabel="degrees east of the center", ylabel="degrees north")
        self.ax.grid(color="0.85", linewidth=0.5)
        self.ax.set_axisbelow(True)

    def _reach_to(self, x: np.ndarray) -> None:
        angle = angles_to(x, self.center).max(initial=0.0)
        self.reach = max(self.reach, float(np.rad2deg(2 * np.sin(angle / 2))))

    def _on_map(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # Differences from the center keep the digits of nearby directions.
        ahead, east, north = np.moveaxis((x - self.center) @ self.frame, -1, 0)
        stretch = np.rad2deg(np.sqrt(2 / np.maximum(2 + ahead, 1e-12)))
        return stretch * east, stretch * north

    def _from_map(self, flat: np.ndarray) -> np.ndarray:
        flat = np.deg2rad(flat)
        square = (flat * flat).sum(axis=-1, keepdims=True)
        parts = [1 - square / 2, flat * np.sqrt(np.maximum(1 - square / 4, 0))]
        return np.concatenate(parts, axis=-1) @ self.frame.T

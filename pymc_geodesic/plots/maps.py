#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The sphere as a canvas: seen from outside, or on equal-area maps of all or a part of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from mpl_toolkits.mplot3d import proj3d
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from scipy.spatial.transform import Rotation

from pymc_geodesic.diagnostics.directional import angles_to
from pymc_geodesic.plots.density import LogDensity, contour_lines, levels_of
from pymc_geodesic.plots.sphere_mesh import from_longitude_latitude, to_longitude_latitude
from pymc_geodesic.plots.style import BORDER, HALO, legend_of_regions, minus, shades_of

__all__ = ["Globe", "WorldMap", "ZoomedMap"]


class WorldMap:
    """A map of the sphere with `center` in its middle, turned by `tilt` degrees clockwise."""

    projection = axes_projection = "mollweide"
    figsize = (9.0, 5.1)
    legend = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.04), "ncols": 2}
    # In degrees. A smaller cap would be hidden by the mark of the mean.
    smallest_cap = 4.0

    def __init__(self, ax: Axes, center: tuple[float, float], tilt: float) -> None:
        self.ax = ax
        self.rotation = _rotation_to(center, tilt)

    def dots(self, x: np.ndarray, **style: Any) -> None:
        """Show directions as dots."""
        self.ax.plot(*self._on_map(x), linestyle="none", **style)

    def curve(self, x: np.ndarray, **style: Any) -> None:
        """Draw a line through directions."""
        longitude, latitude = self._on_map(x)
        # A line that leaves the map at one side returns at the other: interrupt it there.
        longitude[1:][np.abs(np.diff(longitude)) > np.pi / 2] = np.nan
        self.ax.plot(longitude, latitude, **style)

    def text(self, x: np.ndarray, text: str, **style: Any) -> None:
        """Write text beside a direction."""
        self.ax.annotate(text, self._on_map(x), **style)

    def shade(self, log_density: LogDensity, mass: Sequence[float]) -> None:
        """Shade the regions of highest density that hold the given probabilities."""
        longitude = np.linspace(-180, 180, 361)
        latitude = np.linspace(-89.5, 89.5, 180)
        x = from_longitude_latitude(longitude, latitude[:, None])
        values = np.asarray(log_density(x.reshape(-1, 3) @ self.rotation)).reshape(x.shape[:-1])
        levels, held = levels_of(values, np.cos(np.deg2rad(latitude))[:, None], mass)
        if len(levels) == 0:
            return
        grid = np.deg2rad(longitude), np.deg2rad(latitude), values
        shades = shades_of(len(levels))
        self.ax.contourf(*grid, levels=[*levels, np.inf], colors=shades, zorder=0)
        line = {"colors": BORDER, "linestyles": "solid", "linewidths": 0.9, "zorder": 2}
        self.ax.contour(*grid, levels=levels, **line)
        # The corners outside the ellipse have room.
        legend_of_regions(self.ax, held, loc="lower right", bbox_to_anchor=(1, -0.02))

    def graticule(self) -> None:
        """Draw the lines of longitude and latitude, turned with the map, with labels."""
        self.ax.grid(False)
        self.ax.set_xticks([])
        self.ax.set_yticks([])
        for line in graticule_lines():
            self.curve(line, color="0.72", linewidth=0.5, zorder=1)
        for degrees in (-60, -30, 30, 60):
            self._name_line(0, degrees, f"{degrees}°")
        for degrees in (-120, -60, 0, 60, 120):
            self._name_line(degrees, 0, f"{degrees}°")

    def _name_line(self, longitude: float, latitude: float, text: str) -> None:
        self.ax.annotate(
            minus(text),
            self._on_map(from_longitude_latitude(longitude, latitude)),
            xytext=(3, 3),
            textcoords="offset points",
            color="0.45",
            fontsize=7,
            path_effects=HALO,
            zorder=4,
        )

    def _on_map(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Angles of the directions `x` for matplotlib's geographic axes, in radians."""
        longitude, latitude = to_longitude_latitude(x)
        x = from_longitude_latitude(longitude, latitude) @ self.rotation.T
        longitude, latitude = to_longitude_latitude(x)
        return np.deg2rad(longitude), np.deg2rad(latitude)


def graticule_lines() -> list[np.ndarray]:
    """Lines of latitude every 30 degrees and of longitude every 60."""
    along = np.linspace(-180, 180, 721)
    upward = np.linspace(-90, 90, 361)
    parallels = [from_longitude_latitude(along, latitude) for latitude in (-60, -30, 0, 30, 60)]
    meridians = [from_longitude_latitude(longitude, upward) for longitude in range(-180, 180, 60)]
    return [*parallels, *meridians]


def _rotation_to(center: tuple[float, float], tilt: float) -> np.ndarray:
    """Rotation matrix that moves `center` to the middle of the map, (1, 0, 0), and tilts it."""
    longitude, latitude = center
    to_meridian = Rotation.from_euler("z", -longitude, degrees=True)
    to_equator = Rotation.from_euler("y", latitude, degrees=True)
    return (Rotation.from_euler("x", -tilt, degrees=True) * to_equator * to_meridian).as_matrix()


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

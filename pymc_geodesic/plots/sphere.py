#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Pictures of directions: on a map or a globe in three dimensions, about a circle in two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import matplotlib.pyplot as plt
import numpy as np

from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike

from pymc_geodesic.diagnostics.directional import cap_radius, mean_direction
from pymc_geodesic.plots.circle import draw_circle
from pymc_geodesic.plots.coordinates import to_longitude_latitude
from pymc_geodesic.plots.density import LogDensity, cap_border, regions_of_draws
from pymc_geodesic.plots.globe import Globe
from pymc_geodesic.plots.selection import Coordinates, Draws, labelled_vectors, thinned
from pymc_geodesic.plots.style import color_of, in_degrees
from pymc_geodesic.plots.world_map import WorldMap

__all__ = ["plot_sphere"]

CANVASES = {canvas.projection: canvas for canvas in (WorldMap, Globe)}

# A cap of a smaller radius, in degrees, could not be seen under the mark of the mean.
SMALLEST_CAP = 4.0


def plot_sphere(
    draws: Draws | None = None,
    *,
    var_names: str | Sequence[str] | None = None,
    group: str = "posterior",
    coords: Coordinates | None = None,
    data: ArrayLike | None = None,
    log_density: LogDensity | None = None,
    mass: Sequence[float] = (0.5, 0.8, 0.95),
    cap: float | None = 0.95,
    contours: Sequence[float] = (),
    projection: Literal["mollweide", "3d"] = "mollweide",
    center: tuple[float, float] | None = None,
    tilt: float = 0.0,
    max_draws: int = 2000,
    ax: Axes | None = None,
) -> Axes:
    r"""Draw directions: draws of unit vectors, data, densities and the caps that hold the draws.

    Unit vectors in three dimensions are shown on Mollweide's equal-area map or on a globe, those in
    two about a circle.

    Parameters
    ----------
    draws : DataTree, mapping of str to array_like, or array_like, optional
        Result of ``pm.sample``; or draws of one direction, of shape (..., n); or several such
        arrays by label. The legend gives each mean direction and the radius of its cap.
    var_names : str or sequence of str, optional
        Variables of a DataTree. By default all unit vectors in two or three dimensions.
    group : str
        Group of a DataTree.
    coords : mapping, optional
        Part of a DataTree, as in ArviZ.
    data : array_like, optional
        Unit vectors of shape (N, n), shown as grey dots.
    log_density : callable, optional
        Takes unit vectors of shape (m, n) and returns log densities of shape (m,) with respect to
        the surface measure, up to a constant.
    mass : sequence of float
        The regions of highest density of `log_density` with these probabilities are shaded.
    cap : float or None
        Probability of the smallest cap about the mean direction; None draws none.
    contours : sequence of float
        Lines about the regions of highest density of the draws with these probabilities; for
        directions in three dimensions. About a circle the density is always shown.
    projection : {"mollweide", "3d"}
        For directions in three dimensions: a map, or a globe on which the far side is faint.
    center : tuple of float, optional
        Longitude and latitude, in degrees, of the middle; by default (0, 0) on the map, and the
        mean of what is shown on the globe.
    tilt : float
        Degrees by which the picture is turned clockwise about its middle. The map stretches what
        lies near its rim: choose `center` and `tilt` so that the parts that matter lie along
        its long axis.
    max_draws : int
        At most so many draws of each direction are shown, evenly thinned, and used for `contours`.
        The mean, the cap and the density about a circle use all.
    ax : matplotlib.axes.Axes, optional
        Axes with `projection`, or with ``projection="polar"`` for directions in two dimensions. A
        new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the picture.

    Raises
    ------
    ValueError
        If `ax` has another projection, or the directions are not in two or three dimensions.

    Notes
    -----
    `log_density` is evaluated on a grid of about one degree, so regions narrower than that are not
    resolved; the grid of `contours` is as wide as the draws. Mollweide's projection keeps areas:
    equally crowded dots mean equal densities. About a circle, densities are drawn outwards, and the
    arcs inside it are the caps.

    Examples
    --------
    >>> import numpy as np
    >>> from pymc_geodesic.plots import plot_sphere
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal([2.0, 0.0, 0.0], size=(500, 3))
    >>> x /= np.linalg.norm(x, axis=1, keepdims=True)
    >>> ax = plot_sphere(data=x, log_density=lambda x: 2.0 * x[:, 0])
    """
    named = {}
    if draws is not None:
        named = labelled_vectors(
            draws,
            geometry="direction",
            sizes=(2, 3),
            var_names=var_names,
            group=group,
            coords=coords,
        )
    named = {label: _normalized(values) for label, values in named.items()}
    data = None if data is None else _normalized(data)
    if _dimension(named, data) == 2:
        ax = _axes(ax, "polar", (5.6, 5.8))
        draw_circle(ax, named, data=data, log_density=log_density, mass=mass, cap=cap)
        return ax
    if projection not in CANVASES:
        raise ValueError(f'`projection` expected "mollweide" or "3d", got {projection!r}.')
    canvas_type = CANVASES[projection]
    ax = _axes(ax, projection, canvas_type.figsize)
    if center is None:
        center = (0.0, 0.0) if projection == "mollweide" else _middle(named, data)
    canvas = canvas_type(ax, center, tilt)
    if log_density is not None:
        canvas.shade(log_density, mass)
    canvas.graticule()
    if data is not None:
        dots = {"color": "0.25", "alpha": 0.45, "markersize": 2.6, "markeredgewidth": 0}
        canvas.dots(data, marker=".", zorder=3, **dots)
    for i, (label, values) in enumerate(named.items()):
        _draw_cloud(canvas, values, label, color_of(i), max_draws, contours, cap)
    if named:
        ax.legend(frameon=False, **canvas.legend)
    return ax


def _normalized(values: ArrayLike) -> np.ndarray:
    values = np.asarray(values, dtype=float)
    if values.ndim == 0 or values.shape[-1] not in (2, 3):
        raise ValueError(
            "Expected directions in two or three dimensions, shape (..., 2) or (..., 3), got shape "
            f"{values.shape}. `pmg.summary` describes directions in any number of dimensions."
        )
    values = values.reshape(-1, values.shape[-1])
    return values / np.linalg.norm(values, axis=-1, keepdims=True)


def _dimension(named: Mapping[str | None, np.ndarray], data: np.ndarray | None) -> int:
    shown = [*named.values(), *([] if data is None else [data])]
    sizes = {values.shape[-1] for values in shown}
    if len(sizes) > 1:
        raise ValueError(
            "Expected directions of one kind, got some in two and some in three dimensions. Choose "
            "with `var_names`."
        )
    return sizes.pop() if sizes else 3


def _axes(ax: Axes | None, projection: str, figsize: tuple[float, float]) -> Axes:
    if ax is None:
        return plt.figure(figsize=figsize, layout="constrained").add_subplot(projection=projection)
    if ax.name != projection:
        raise ValueError(
            f'`ax` must have the projection "{projection}", got "{ax.name}". '
            f'Make it with `plt.subplot(projection="{projection}")`.'
        )
    return ax


def _middle(named: Mapping[str | None, np.ndarray], data: np.ndarray | None) -> tuple[float, float]:
    shown = [mean_direction(values) for values in named.values()]
    shown += [] if shown or data is None else [mean_direction(data)]
    total = np.sum(shown, axis=0) if shown else np.array([1.0, 0.0, 0.0])
    longitude, latitude = to_longitude_latitude(total)
    return float(longitude), float(latitude)


def _draw_cloud(
    canvas: WorldMap | Globe,
    values: np.ndarray,
    label: str | None,
    color: str,
    max_draws: int,
    contours: Sequence[float],
    cap: float | None,
) -> None:
    """Show draws of one direction, their contours, and the cap about their mean direction."""
    mean = mean_direction(values)
    text = ("" if label is None else f"{label}: ") + in_degrees(*to_longitude_latitude(mean))
    shown = thinned(values, max_draws)
    canvas.dots(
        shown, marker=".", color=color, alpha=0.5, markersize=3, markeredgewidth=0, zorder=5
    )
    if len(contours):
        for line in regions_of_draws(shown, contours):
            canvas.curve(line, color=color, linewidth=1.1, zorder=6)
    mark = {"markersize": 6, "markeredgecolor": "white", "markeredgewidth": 1.2}
    if cap is not None:
        radius = float(cap_radius(values, cap))
        text += f" ({cap:.0%} within {in_degrees(np.rad2deg(radius))})"
        if np.rad2deg(radius) > SMALLEST_CAP:
            border = cap_border(mean, radius)
            canvas.curve(border, color=color, linewidth=1.6, linestyle="--", zorder=6)
        else:
            mark = {"markersize": 13, "markerfacecolor": "none", "markeredgewidth": 2}
            mark |= {"path_effects": [withStroke(linewidth=4, foreground="white")]}
    canvas.dots(mean[None], marker="o", color=color, label=text, zorder=7, **mark)

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Plots of directions: on a map or a globe in three dimensions, about a circle in two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike

from pymc_geodesic.diagnostics.directional import (
    along_axis,
    cap_radius,
    mean_direction,
    principal_axes,
)
from pymc_geodesic.plots.circle import draw_circle
from pymc_geodesic.plots.density import LogDensity, cap_border, regions_of_draws
from pymc_geodesic.plots.maps import Globe, WorldMap, ZoomedMap
from pymc_geodesic.plots.selection import (
    Coordinates,
    Draws,
    labelled_vectors,
    thinned,
    unit_vectors,
)
from pymc_geodesic.plots.sphere_mesh import to_longitude_latitude
from pymc_geodesic.plots.style import (
    HALO,
    LONGEST_LEGEND,
    axes_of,
    color_of,
    has_mean,
    in_degrees,
    radius_in_degrees,
    without_mean,
)
from pymc_geodesic.validation import one_of

__all__ = ["plot_sphere"]

type Canvas = WorldMap | Globe | ZoomedMap

CANVASES = {canvas.projection: canvas for canvas in (WorldMap, Globe, ZoomedMap)}

# Size in the legend of dots that are smaller on the map.
SMALLEST_MARK = 6.0


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
    projection: Literal["mollweide", "3d", "zoom"] = "mollweide",
    center: tuple[float, float] | None = None,
    tilt: float = 0.0,
    max_draws: int = 2000,
    axial: bool = False,
    ax: Axes | None = None,
) -> Axes:
    r"""Draw directions: draws of unit vectors, data, densities and the caps that hold the draws.

    Unit vectors in three dimensions are shown on Mollweide's equal-area map or on a globe, and unit
    vectors in two dimensions about a circle.

    Parameters
    ----------
    draws : DataTree, mapping of str to array_like, or array_like, optional
        Result of ``pm.sample``, draws of one direction of shape (..., n), or several such arrays by
        label. The legend gives each mean direction and the radius of its cap.
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
        Probabilities of the highest-density regions of `log_density` that are shaded.
    cap : float or None
        Probability of the cap about the mean direction; None for no cap, and on a circle for no
        mark of the mean either.
    contours : sequence of float
        Probabilities of the highest-density regions of the draws that are outlined, for directions
        in three dimensions. About a circle the density is always shown.
    projection : {"mollweide", "3d", "zoom"}
        For directions in three dimensions: a map, a globe on which the far side is faint, or an
        equal-area map of the visible region only, for posteriors that would otherwise be a dot.
    center : tuple of float, optional
        Longitude and latitude of the middle, in degrees. By default (0, 0) on the map, and the mean
        direction of all that is shown on the globe and the zoomed map.
    tilt : float
        Degrees by which the plot is turned clockwise about its middle. The map distorts shapes near
        its rim: choose `center` and `tilt` so that the important parts lie along its long axis.
    max_draws : int
        Maximum number of draws of each direction that are shown and used for `contours`, evenly
        thinned. The mean, the cap and the density about a circle use all draws.
    axial : bool
        Whether x and -x are the same. Draws are then shown at the end of their principal axis whose
        largest entry is positive, and data at both ends.
    ax : matplotlib.axes.Axes, optional
        Axes with `projection`, or with ``projection="polar"`` for directions in two dimensions. A
        new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    Raises
    ------
    ValueError
        If `ax` has another projection, or the directions are not in two or three dimensions or
        not unit vectors.

    Notes
    -----
    `log_density` is evaluated on a grid of about one degree, or of 241 by 241 points on the zoomed
    map. Narrower regions are not resolved.

    The lines of `contours` belong to a density by von Mises-Fisher kernels, whose bandwidth
    maximises the likelihood of held-out blocks of draws. Their levels are quantiles of the
    densities at the draws, each without its block. A new draw therefore lies within a line with the
    stated probability, up to 1.5 over the root of the number of draws, for draws with one mode,
    several modes, or about a great circle. Kernels are at least 1/400 as wide as all draws.

    Both maps preserve areas, so that equal concentrations of dots mean equal densities. Draws that
    are uniform or cancel have no mean direction, and neither mark nor cap;
    :func:`pymc_geodesic.summary` with ``axial=True`` describes axes. More than twelve directions
    are labelled beside their marks. About a circle, densities are drawn outwards; if their peaks
    differ by a factor above five, each is scaled to the same height. The arcs inside the circle are
    the caps.

    Examples
    --------
    >>> import numpy as np
    >>> from pymc_geodesic.plots import plot_sphere
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal([2.0, 0.0, 0.0], size=(500, 3))
    >>> x /= np.linalg.norm(x, axis=1, keepdims=True)
    >>> ax = plot_sphere(data=x, log_density=lambda x: 2.0 * x[:, 0])
    """
    chosen: dict[str, Any] = {"var_names": var_names, "group": group, "coords": coords}
    named = {} if draws is None else _directions(draws, **chosen)
    data = None if data is None else _normalized(data)
    if axial:
        named = {label: along_axis(x, principal_axes(x)[1][0]) for label, x in named.items()}
        data = None if data is None else np.concatenate([data, -data])
    if _dimension(named, data) == 2:
        ax = axes_of(ax, (5.6, 5.8), projection="polar")
        draw_circle(ax, named, data=data, log_density=log_density, mass=mass, cap=cap)
        return ax
    if projection != "mollweide" and center is None:
        center = _middle(named, data)
    canvas = _canvas(projection, ax, center or (0.0, 0.0), tilt)
    if data is not None:
        dots: dict[str, Any] = {"color": "0.25", "alpha": 0.45, "markeredgewidth": 0}
        canvas.dots(data, marker=".", markersize=2.6, zorder=3, **dots)
    many = len(named) > LONGEST_LEGEND
    for i, (label, values) in enumerate(named.items()):
        _draw_cloud(canvas, values, label, color_of(i), max_draws, contours, cap, many)
    # Last, because the zoomed map is as wide as its contents.
    if log_density is not None:
        canvas.shade(log_density, mass)
    canvas.graticule()
    if named and not many:
        _draw_legend(canvas)
    return canvas.ax


def _directions(draws: Draws, **chosen: Any) -> dict[str | None, np.ndarray]:
    found = labelled_vectors(draws, geometry="direction", sizes=(2, 3), **chosen)
    return {label: _normalized(values) for label, values in found.items()}


def _normalized(values: ArrayLike) -> np.ndarray:
    return unit_vectors("plot_sphere", values, sizes=(2, 3))


def _dimension(named: Mapping[str | None, np.ndarray], data: np.ndarray | None) -> int:
    shown = [*named.values(), *([] if data is None else [data])]
    sizes = {values.shape[-1] for values in shown}
    if len(sizes) > 1:
        raise ValueError(
            "`plot_sphere` expected directions of the same dimension, got some in two and some in "
            "three. Select some with `var_names`."
        )
    return sizes.pop() if sizes else 3


def _middle(named: Mapping[str | None, np.ndarray], data: np.ndarray | None) -> tuple[float, float]:
    shown = [mean_direction(values) for values in named.values() if has_mean(values)]
    shown += [] if shown or data is None else [mean_direction(data)]
    total = np.sum(shown, axis=0) if shown else np.array([1.0, 0.0, 0.0])
    longitude, latitude = to_longitude_latitude(total)
    return float(longitude), float(latitude)


def _canvas(projection: str, ax: Axes | None, center: tuple[float, float], tilt: float) -> Canvas:
    canvas = CANVASES[one_of("projection", projection, CANVASES)]
    own = axes_of(ax, canvas.figsize, projection=canvas.axes_projection)
    return canvas(own, center, tilt)


def _draw_legend(canvas: Canvas) -> None:
    legend = canvas.ax.legend(frameon=False, **canvas.legend)
    for mark in legend.get_lines():
        mark.set(markersize=max(mark.get_markersize(), SMALLEST_MARK), alpha=1.0)


def _draw_cloud(
    canvas: Canvas,
    values: np.ndarray,
    label: str | None,
    color: str,
    max_draws: int,
    contours: Sequence[float],
    cap: float | None,
    named_beside: bool,
) -> None:
    """Show draws of one direction, their contours, and the cap about their mean direction."""
    shown = thinned(values, max_draws)
    dots: dict[str, Any] = {"color": color, "alpha": 0.5, "markersize": 3, "markeredgewidth": 0}
    canvas.dots(shown, marker=".", zorder=5, **dots)
    if len(contours):
        halo = [withStroke(linewidth=2.4, foreground="white")]
        for line in regions_of_draws(shown, contours):
            canvas.curve(line, color=color, linewidth=1.2, zorder=6, path_effects=halo)
    if not has_mean(values):
        canvas.dots(shown[:1], marker=".", label=without_mean(label), zorder=5, **dots)
        return
    mean = mean_direction(values)
    text = ("" if label is None else f"{label}: ") + in_degrees(*to_longitude_latitude(mean))
    mark = {"markersize": 6, "markeredgecolor": "white", "markeredgewidth": 1.2}
    if cap is not None:
        radius = float(cap_radius(values, cap))
        text += f" ({cap:.0%} within {radius_in_degrees(radius)})"
        if np.rad2deg(radius) > canvas.smallest_cap:
            border = cap_border(mean, radius)
            canvas.curve(border, color=color, linewidth=1.6, linestyle="--", zorder=6)
        elif not named_beside:
            mark = {"markersize": 13, "markerfacecolor": "none", "markeredgewidth": 2}
            mark |= {"path_effects": [withStroke(linewidth=4, foreground="white")]}
    canvas.dots(mean[None], marker="o", color=color, label=text, zorder=7, **mark)
    if named_beside and label is not None:
        beside = {"xytext": (4, 3), "textcoords": "offset points", "fontsize": 7}
        canvas.text(mean, label, color=color, path_effects=HALO, zorder=8, **beside)

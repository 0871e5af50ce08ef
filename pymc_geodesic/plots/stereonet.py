#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Lower-hemisphere stereonets: poles, lines, planes and cones of confidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import xarray as xr

from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Circle
from numpy.typing import ArrayLike

from pymc_geodesic.diagnostics.directional import (
    along_axis,
    cap_radius,
    mean_direction,
    principal_axes,
)
from pymc_geodesic.plots.density import cap_border
from pymc_geodesic.plots.selection import (
    Coordinates,
    Draws,
    labelled_vectors,
    thinned,
    unit_vectors,
)
from pymc_geodesic.plots.style import (
    HALO,
    axes_of,
    color_of,
    has_mean,
    radius_in_degrees,
    without_mean,
)
from pymc_geodesic.validation import one_of

__all__ = ["plot_stereonet"]

# Distances from the centre at an angle from the vertical; one at the horizon.
NETS = {
    "equal_area": lambda angle: np.sqrt(2) * np.sin(angle / 2),
    "equal_angle": lambda angle: np.tan(angle / 2),
}
# Part of the radius by which points of a line are apart only if it leaves the net.
JUMP = 0.5
# Planes of draws that are shown.
N_PLANES = 30
LEGEND: dict[str, Any] = {
    "frameon": False,
    "fontsize": 8,
    "loc": "upper center",
    "bbox_to_anchor": (0.5, 0.0),
}


def plot_stereonet(
    draws: Draws | None = None,
    *,
    var_names: str | Sequence[str] | None = None,
    group: str = "posterior",
    coords: Coordinates | None = None,
    data: ArrayLike | None = None,
    membership: ArrayLike | None = None,
    planes: bool = False,
    cone: float | None = 0.95,
    net: Literal["equal_area", "equal_angle"] = "equal_area",
    axial: bool = True,
    max_draws: int = 500,
    ax: Axes | None = None,
) -> Axes:
    """Draw directions on a stereonet: the lower hemisphere seen from above, with north at the top.

    Vectors are (east, north, up), as ``pmg.directions`` makes them.

    Parameters
    ----------
    draws : DataTree, mapping of str to array_like, or array_like, optional
        Result of :func:`pymc_geodesic.sample`, draws of one direction of shape (..., 3), or several
        such arrays by label. Each is shown with its mean, and the cone of confidence about it.
    var_names : str or sequence of str, optional
        Variables of a DataTree. By default all unit vectors with three entries.
    group : str
        Group of a DataTree.
    coords : mapping, optional
        Part of a DataTree, as in ArviZ.
    data : array_like, optional
        Unit vectors of shape (N, 3), shown as dots.
    membership : DataArray or array_like, shape (N, K), optional
        Probabilities with which the rows of ``data`` belong to the directions of ``draws``, in
        their order, as :func:`pymc_geodesic.membership` returns them. A row has the colour of the
        most probable one, and is the paler, the less sure that is.
    planes : bool
        Whether directions are poles of planes, whose great circles are drawn too.
    cone : float or None
        Probability of the cone about the mean; None for no cone.
    net : {"equal_area", "equal_angle"}
        Schmidt's net, on which equal concentrations of dots mean equal densities, or Wulff's, on
        which cones are circles.
    axial : bool
        Whether directions are axes, drawn at their lower ends. Otherwise those that point up are
        drawn as open symbols, at the place of their direction mirrored at the horizon.
    max_draws : int
        Maximum number of draws of each direction that are shown, evenly thinned.
    ax : matplotlib.axes.Axes, optional
        Ordinary axes. A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    Raises
    ------
    ValueError
        If directions are no unit vectors with three entries, or the membership has other rows.

    Examples
    --------
    >>> import numpy as np, pymc_geodesic as pmg
    >>> rng = np.random.default_rng(1)
    >>> poles = pmg.directions.from_dip(rng.normal(40, 5, 100), rng.normal(120, 8, 100))
    >>> ax = pmg.plot_stereonet(data=poles)
    """
    chosen: dict[str, Any] = {"var_names": var_names, "group": group, "coords": coords}
    named: Mapping[str | None, np.ndarray] = {}
    if draws is not None:
        named = labelled_vectors(draws, geometry="direction", sizes=(3,), **chosen)
    figure = Stereonet(axes_of(ax, (5.4, 6.2)), one_of("net", net, NETS), axial=axial)
    if data is not None:
        points = unit_vectors("data", data, sizes=(3,))
        colors = np.full((len(points), 3), 0.35)
        if membership is not None:
            colors = _colors(np.asarray(membership, dtype=float), len(points))
        figure.dots(points, colors, size=14.0)
        if membership is not None and not named:
            figure.legend(_labels(membership))
    for i, (label, values) in enumerate(named.items()):
        x = unit_vectors("draws", values, sizes=(3,))
        _draw_direction(figure, label, x, i, max_draws, cone, planes=planes)
    if any(label is not None for label in named) or (cone is not None and named):
        figure.ax.legend(**LEGEND)
    return figure.ax


class Stereonet:
    """A net on ordinary axes.

    Parameters
    ----------
    ax : Axes
        The axes.
    net : {"equal_area", "equal_angle"}
        The projection.
    axial : bool
        Whether directions are axes.
    """

    def __init__(self, ax: Axes, net: str, *, axial: bool) -> None:
        self.ax, self._radius, self.axial = ax, NETS[net], axial
        ax.set(aspect="equal", xlim=(-1.12, 1.12), ylim=(-1.12, 1.12))
        ax.axis("off")
        ax.add_patch(Circle((0, 0), 1.0, facecolor="none", edgecolor="0.2", linewidth=1.2))
        style: dict[str, Any] = {"color": "0.85", "linewidth": 0.5, "zorder": 0}
        for degrees in (30, 60):
            ax.add_patch(Circle((0, 0), self._radius(np.deg2rad(degrees)), fill=False, **style))
        for name, (x, y) in {"N": (0, 1), "E": (1, 0), "S": (0, -1), "W": (-1, 0)}.items():
            ax.plot([0, x], [0, y], **style)
            ax.text(1.07 * x, 1.07 * y, name, ha="center", va="center", fontsize=9, color="0.2")

    def on_net(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the places of directions; those that point up are mirrored, or turned about."""
        is_up = x[..., 2:] > 0
        x = np.where(is_up, -x if self.axial else x * [1, 1, -1], x)
        flat = np.hypot(x[..., 0], x[..., 1])
        radius = self._radius(np.arctan2(flat, -x[..., 2]))
        stretch = radius / np.maximum(flat, np.finfo(float).tiny)
        return stretch * x[..., 0], stretch * x[..., 1]

    def dots(self, x: np.ndarray, colors: np.ndarray, *, size: float, alpha: float = 0.8) -> None:
        """Show directions as dots, open if they point up and have a sign."""
        is_open = (x[:, 2] > 0) & (not self.axial)
        style: dict[str, Any] = {"s": size, "linewidths": 0.8, "alpha": alpha, "zorder": 3}
        for chosen, filled in ((~is_open, True), (is_open, False)):
            if chosen.any():
                face = colors[chosen] if filled else "none"
                edges = "none" if filled else colors[chosen]
                self.ax.scatter(*self.on_net(x[chosen]), facecolor=face, edgecolor=edges, **style)

    def curve(self, x: np.ndarray, **style: Any) -> None:
        """Draw a line through directions, interrupted where it leaves the net."""
        east, north = (np.array(part) for part in self.on_net(x))
        east[1:][np.hypot(np.diff(east), np.diff(north)) > JUMP] = np.nan
        self.ax.plot(east, north, **style)

    def plane(self, pole: np.ndarray, **style: Any) -> None:
        """Draw the great circle of a plane."""
        east, north, _ = pole
        flat = np.hypot(east, north)
        strike = np.array([1.0, 0.0, 0.0] if flat == 0 else [-north / flat, east / flat, 0.0])
        down = np.cross(strike, pole)
        down *= -1.0 if down[2] > 0 else 1.0
        turn = np.linspace(0, np.pi, 181)[:, None]
        # At its ends a plane is on the horizon, where rounding must not turn it about.
        line = np.cos(turn) * strike + np.sin(turn) * down
        line[:, 2] = np.minimum(line[:, 2], 0.0)
        self.curve(line, **style)

    def legend(self, labels: Sequence[str]) -> None:
        """Name the colours of components."""
        for i, label in enumerate(labels):
            self.ax.scatter([], [], color=color_of(i), s=20, label=label)
        self.ax.legend(**LEGEND)


def _draw_direction(
    figure: Stereonet,
    label: str | None,
    values: np.ndarray,
    i: int,
    max_draws: int,
    cone: float | None,
    *,
    planes: bool,
) -> None:
    """Show a direction: its draws or their planes, the mean, and the cone about it."""
    color = color_of(i)
    if figure.axial:
        values = along_axis(values, principal_axes(values)[1][0])
    shown = thinned(values, max_draws)
    figure.dots(shown, np.tile(to_rgb(color), (len(shown), 1)), size=2.0, alpha=0.3)
    if not has_mean(values):
        figure.ax.plot([], [], ".", color=color, label=without_mean(label))
        return
    mean = mean_direction(values)
    if planes:
        for pole in thinned(values, N_PLANES):
            figure.plane(pole, color=color, linewidth=0.5, alpha=0.25, zorder=1)
        figure.plane(mean, color=color, linewidth=1.4, zorder=2)
    text = "mean" if label is None else label
    if cone is not None:
        radius = float(cap_radius(values, cone))
        border = cap_border(mean, radius)
        text += f" ({cone:.0%} within {radius_in_degrees(radius)})"
        figure.curve(border, color="black", linewidth=1.3, zorder=6, path_effects=HALO)
    east, north = figure.on_net(mean)
    mark: dict[str, Any] = {"markeredgecolor": color, "markersize": 7, "markeredgewidth": 1.4}
    figure.ax.plot(east, north, "+", label=text, zorder=5, path_effects=HALO, **mark)


def _colors(shares: np.ndarray, n: int) -> np.ndarray:
    """Return the colour of each row, the paler the less sure its component is."""
    if shares.ndim != 2 or len(shares) != n:
        raise ValueError(
            f"`membership` expected the shape ({n}, K), a row for each of `data`, got "
            f"{shares.shape}."
        )
    best = shares.argmax(axis=1)
    full = np.array([to_rgb(color_of(i)) for i in range(shares.shape[1])])[best]
    # From white, at equal shares, to the full colour.
    least = 1 / shares.shape[1]
    sure = 0.25 + 0.75 * (shares.max(axis=1, keepdims=True) - least) / max(1 - least, least)
    return 1 - sure * (1 - full)


def _labels(membership: Any) -> list[str]:
    """Return the names of components: their coordinates, or numbers."""
    if isinstance(membership, xr.DataArray):
        dim = membership.dims[-1]
        return [f"{dim} {value}" for value in membership[dim].values]
    return [f"component {i}" for i in range(np.shape(membership)[1])]

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Directions in the plane, drawn about a circle, and pairs of angles on a torus."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter
from numpy.typing import ArrayLike

from pymc_geodesic.diagnostics.directional import cap_radius, mean_direction
from pymc_geodesic.plots.density import LogDensity, circle_density, levels_of
from pymc_geodesic.plots.style import (
    BORDER,
    HALO,
    LONGEST_LEGEND,
    axes_of,
    color_of,
    has_mean,
    in_degrees,
    legend_of_regions,
    minus,
    radius_in_degrees,
    shades_of,
    without_mean,
)
from pymc_geodesic.validation import Unit, radians

__all__ = ["draw_circle", "plot_rose", "plot_torus"]


# Height of the largest density above the circle of radius one.
HEIGHT = 0.7
# Peaks that differ by a larger factor are not drawn to one scale: the lower ones would be flat.
LARGEST_RATIO = 5.0
FINE = np.linspace(-np.pi, np.pi, 1441)


def draw_circle(
    ax: Axes,
    draws: Mapping[str | None, np.ndarray],
    *,
    data: np.ndarray | None,
    log_density: LogDensity | None,
    mass: Sequence[float],
    cap: float | None,
) -> None:
    """Draw densities outside a circle, data on it, and arcs of high probability inside."""
    curves = {label: _curve(_angles(values)) for label, values in draws.items()}
    exact = None if log_density is None else _normalized(log_density)
    peaks = {label: density.max() for label, (_, density) in curves.items()}
    highest = max([*peaks.values(), *([] if exact is None else [exact.max()])], default=1.0)
    lowest = min(peaks.values(), default=highest)
    one_scale = highest <= LARGEST_RATIO * lowest
    scale = HEIGHT / (highest if one_scale or exact is None else exact.max())
    _draw_frame(ax)
    if exact is not None:
        _shade(ax, exact, mass, scale)
    if data is not None:
        dots = {"color": "0.25", "alpha": 0.45, "markersize": 3.5, "markeredgewidth": 0}
        ax.plot(_angles(data), np.full(len(data), 0.96), ".", zorder=3, **dots)
    many = len(draws) > LONGEST_LEGEND
    gap = min(0.07, 0.76 / max(len(draws), 1))
    for i, (label, values) in enumerate(draws.items()):
        at, density = curves[label]
        own = scale if one_scale else HEIGHT / peaks[label]
        ax.plot(at, 1 + own * density, color=color_of(i), linewidth=1.8, zorder=4)
        _draw_arc(ax, values, label, color_of(i), 0.86 - gap * i, cap, many)
    title = None if one_scale else "each density to its own scale"
    if ax.get_legend_handles_labels()[1] and not many:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.06), frameon=False, title=title)
    elif title is not None:
        ax.set_xlabel(title)


def _curve(angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Evaluate the density on the circle, on a finer grid near the draws."""
    fine = np.quantile(angles, np.linspace(0, 1, 201))
    at = np.unique(np.concatenate([FINE, fine]))
    return at, circle_density(angles, at)


def _draw_frame(ax: Axes) -> None:
    ax.set_ylim(0, 1 + 1.08 * HEIGHT)
    ax.set_yticks([])
    ax.spines["polar"].set_visible(False)
    ax.grid(color="0.85", linewidth=0.6)
    ax.set_xticks(np.deg2rad(np.arange(0, 360, 45)))
    ax.xaxis.set_major_formatter(FuncFormatter(_degrees))
    ax.plot(FINE, np.ones_like(FINE), color="0.35", linewidth=0.9, zorder=3)


def _degrees(angle: float, position: int) -> str:
    degrees = (np.rad2deg(angle) + 179.999) % 360 - 179.999
    return minus(f"{degrees:.0f}°")


def _shade(ax: Axes, density: np.ndarray, mass: Sequence[float], scale: float) -> None:
    levels, held = levels_of(np.log(density[:-1]), np.ones(1), mass)
    top = 1 + scale * density
    for level, shade in zip(levels, shades_of(len(levels)), strict=True):
        inside = density >= np.exp(level)
        ax.fill_between(FINE, 1, top, where=inside, color=shade, linewidth=0, zorder=1)
    ax.plot(FINE, top, color=BORDER, linewidth=1.0, zorder=2)
    if len(levels):
        legend_of_regions(ax, held, loc="upper right", bbox_to_anchor=(1.06, 1.07))


def _draw_arc(
    ax: Axes,
    values: np.ndarray,
    label: str | None,
    color: str,
    height: float,
    cap: float | None,
    named_beside: bool,
) -> None:
    if cap is None:
        # The mean of a density with several modes may lie where there are no draws.
        if label is not None:
            ax.plot([], [], color=color, label=label)
        return
    if not has_mean(values):
        ax.plot([], [], color=color, label=without_mean(label))
        return
    mean = mean_direction(values)
    [angle] = _angles(mean[None])
    text = ("" if label is None else f"{label}: ") + in_degrees(np.rad2deg(angle))
    radius = float(cap_radius(values, cap))
    text += f" ({cap:.0%} within {radius_in_degrees(radius)})"
    along = np.linspace(angle - radius, angle + radius, 181)
    ax.plot(along, np.full(181, height), color=color, linewidth=3, zorder=4)
    ax.plot(angle, height, "o", color=color, markeredgecolor="white", label=text, zorder=5)
    if named_beside and label is not None:
        beside = {"xytext": (3, 2), "textcoords": "offset points", "fontsize": 6}
        ax.annotate(label, (angle, height), color=color, path_effects=HALO, zorder=6, **beside)


def _normalized(log_density: LogDensity) -> np.ndarray:
    values = np.asarray(log_density(np.column_stack([np.cos(FINE), np.sin(FINE)])))
    density = np.exp(values - values.max())
    return density / (density[:-1].mean() * 2 * np.pi)


def _angles(x: np.ndarray) -> np.ndarray:
    return np.arctan2(x[:, 1], x[:, 0])


TICKS = np.array([-np.pi, -np.pi / 2, 0, np.pi / 2, np.pi])
LABELS = ["−180°", "−90°", "0°", "90°", "180°"]


def plot_rose(
    angles: ArrayLike,
    *,
    unit: Unit = "radians",
    bins: int = 36,
    density: Callable | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a rose diagram: a histogram of angles about the circle, whose areas are proportions.

    Parameters
    ----------
    angles : array_like
        Angles of any shape. Missing ones are left out.
    unit : {"radians", "degrees"}
        Unit of the angles.
    bins : int
        Number of petals.
    density : callable, optional
        Takes angles in radians and returns densities with respect to length, drawn as a line.
    ax : matplotlib.axes.Axes, optional
        Axes with ``projection="polar"``; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    Raises
    ------
    ValueError
        If ``ax`` has another projection, there are no finite angles, or some are larger than a
        whole turn.

    Notes
    -----
    The radius is the root of twice the density, so that the area of a petal, not its length, is
    proportional to the number of angles in it.

    Examples
    --------
    >>> import numpy as np
    >>> from pymc_geodesic.plots import plot_rose
    >>> ax = plot_rose(np.random.default_rng(1).vonmises(0.0, 4.0, 500))
    """
    x = np.ravel(radians("angles", angles, unit=unit))
    x = _wrapped(x[~np.isnan(x)])
    ax = axes_of(ax, (4.4, 4.4), projection="polar")
    edges = np.linspace(-np.pi, np.pi, bins + 1)
    heights, _ = np.histogram(x, edges, density=True)
    width = edges[1] - edges[0]
    petals = {"width": width, "align": "edge", "edgecolor": "white", "linewidth": 0.6}
    ax.bar(edges[:-1], np.sqrt(2 * heights), color=color_of(1), alpha=0.75, **petals)
    if density is not None:
        fine = np.linspace(-np.pi, np.pi, 721)
        ax.plot(fine, np.sqrt(2 * np.asarray(density(fine))), color=color_of(0), linewidth=1.8)
    ax.set_yticks([])
    ax.grid(alpha=0.3)
    return ax


def plot_torus(
    angles: ArrayLike,
    *,
    unit: Unit = "radians",
    log_density: Callable | None = None,
    mass: tuple[float, ...] = (0.5, 0.8, 0.95),
    max_draws: int = 5000,
    ax: Axes | None = None,
) -> Axes:
    """Draw two angles on a square whose opposite sides are the same, as in Ramachandran plots.

    Parameters
    ----------
    angles : array_like, shape (..., 2)
        Pairs of angles. Those with a missing one are left out.
    unit : {"radians", "degrees"}
        Unit of the angles.
    log_density : callable, optional
        Takes angles in radians, of shape (m, 2), and returns log densities of shape (m,), up to a
        constant.
    mass : tuple of float
        Probabilities of its highest-density regions that are shaded.
    max_draws : int
        Maximum number of pairs that are shown, evenly thinned.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    Raises
    ------
    ValueError
        If the last axis does not have two entries, no pair is finite, or some angles are larger
        than a whole turn.

    Examples
    --------
    >>> import numpy as np
    >>> from pymc_geodesic.plots import plot_torus
    >>> ax = plot_torus(np.random.default_rng(1).vonmises([3.0, -1.0], 4.0, (500, 2)))
    """
    pairs = radians("angles", angles, unit=unit)
    if pairs.ndim < 1 or pairs.shape[-1] != 2:
        raise ValueError(f"`angles` expected pairs in the last axis, got a shape of {pairs.shape}.")
    pairs = pairs.reshape(-1, 2)
    pairs = _wrapped(pairs[~np.isnan(pairs).any(axis=1)])
    ax = plt.figure(figsize=(4.8, 4.8), layout="constrained").add_subplot() if ax is None else ax
    if log_density is not None:
        _shade_angles(ax, log_density, mass)
    shown = pairs[:: max(1, -(-len(pairs) // max_draws))]
    ax.plot(*shown.T, ".", color=color_of(1), markersize=3, alpha=0.5, markeredgewidth=0)
    ax.set(xlim=(-np.pi, np.pi), ylim=(-np.pi, np.pi), aspect="equal")
    ax.set_xticks(TICKS, LABELS)
    ax.set_yticks(TICKS, LABELS)
    return ax


def _shade_angles(ax: Axes, log_density: Callable, mass: tuple[float, ...]) -> None:
    """Shade the regions of highest density with the given probabilities."""
    n = 240
    grid = (np.arange(n) + 0.5) * 2 * np.pi / n - np.pi
    mesh = np.stack(np.meshgrid(grid, grid), axis=-1)
    values = np.asarray(log_density(mesh.reshape(-1, 2))).reshape(n, n)
    weight = np.exp(values - values.max())
    ordered = np.sort(weight.ravel())[::-1]
    held = np.cumsum(ordered) / ordered.sum()
    shares = sorted(mass, reverse=True)
    levels = [float(ordered[min(np.searchsorted(held, share), n * n - 1)]) for share in shares]
    ax.contourf(grid, grid, weight, [*levels, np.inf], colors=shades_of(len(levels)))
    ax.contour(grid, grid, weight, levels, colors=BORDER, linewidths=0.7)
    legend_of_regions(ax, shares, loc="upper right")


def _wrapped(angles: np.ndarray) -> np.ndarray:
    """Return angles from -pi to pi, of which there must be some."""
    if not len(angles):
        raise ValueError("`angles` expected one or more finite angles, got none.")
    return np.mod(angles + np.pi, 2 * np.pi) - np.pi

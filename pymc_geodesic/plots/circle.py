#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Directions in the plane, drawn about a circle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from pymc_geodesic.diagnostics.directional import cap_radius, mean_direction
from pymc_geodesic.plots.density import LogDensity, circle_density, levels_of
from pymc_geodesic.plots.style import (
    BORDER,
    HALO,
    LONGEST_LEGEND,
    color_of,
    has_mean,
    in_degrees,
    legend_of_regions,
    minus,
    radius_in_degrees,
    shades_of,
    without_mean,
)

__all__ = ["draw_circle"]

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

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Directions of the plane, drawn about a circle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from pymc_geodesic.diagnostics.directional import cap_radius, mean_direction
from pymc_geodesic.plots.density import LogDensity, circle_density, levels_of
from pymc_geodesic.plots.style import (
    BORDER,
    color_of,
    in_degrees,
    legend_of_regions,
    minus,
    shades_of,
)

__all__ = ["draw_circle"]

# The highest density reaches so far beyond the circle of radius one.
HEIGHT = 0.7
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
    """Draw densities outside a circle, data on it, and the arcs that hold the draws within."""
    densities = {label: circle_density(_angles(values), FINE) for label, values in draws.items()}
    exact = None if log_density is None else _normalized(log_density)
    highest = max((d.max() for d in (*densities.values(), exact) if d is not None), default=1.0)
    scale = HEIGHT / highest
    _draw_frame(ax)
    if exact is not None:
        _shade(ax, exact, mass, scale)
    if data is not None:
        dots = {"color": "0.25", "alpha": 0.45, "markersize": 3.5, "markeredgewidth": 0}
        ax.plot(_angles(data), np.full(len(data), 0.96), ".", zorder=3, **dots)
    for i, (label, values) in enumerate(draws.items()):
        ax.plot(FINE, 1 + scale * densities[label], color=color_of(i), linewidth=1.8, zorder=4)
        _draw_arc(ax, values, label, i, cap)
    if draws:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.06), frameon=False)


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


def _draw_arc(ax: Axes, values: np.ndarray, label: str | None, i: int, cap: float | None) -> None:
    mean = mean_direction(values)
    [angle] = _angles(mean[None])
    text = ("" if label is None else f"{label}: ") + in_degrees(np.rad2deg(angle))
    height = 0.86 - 0.07 * i
    if cap is not None:
        radius = float(cap_radius(values, cap))
        text += f" ({cap:.0%} within {in_degrees(np.rad2deg(radius))})"
        along = np.linspace(angle - radius, angle + radius, 181)
        ax.plot(along, np.full(181, height), color=color_of(i), linewidth=3, zorder=4)
    ax.plot(angle, height, "o", color=color_of(i), markeredgecolor="white", label=text, zorder=5)


def _normalized(log_density: LogDensity) -> np.ndarray:
    values = np.asarray(log_density(np.column_stack([np.cos(FINE), np.sin(FINE)])))
    density = np.exp(values - values.max())
    return density / (density[:-1].mean() * 2 * np.pi)


def _angles(x: np.ndarray) -> np.ndarray:
    return np.arctan2(x[:, 1], x[:, 0])

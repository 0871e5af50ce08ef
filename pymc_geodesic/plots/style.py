#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Colours and small parts shared by the plots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.legend import Legend
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from pymc_geodesic.diagnostics.directional import mean_resultant_length

__all__ = [
    "BORDER",
    "HALO",
    "LONGEST_LEGEND",
    "PALETTE",
    "axes_of",
    "color_of",
    "has_mean",
    "in_degrees",
    "legend_of_regions",
    "minus",
    "radius_in_degrees",
    "shades_of",
    "without_mean",
]


# The colours of Okabe and Ito, which are distinct for people with common colour deficiencies.
PALETTE = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")


BORDER = "#A67C1A"


HALO = [withStroke(linewidth=2.5, foreground="white")]


_SHADES = LinearSegmentedColormap.from_list("mass", ["#FBF3DC", "#F3DFA2", "#E3BD62"])


def axes_of(
    ax: Axes | None, figsize: tuple[float, float], *, projection: str = "rectilinear"
) -> Axes:
    """Return the given axes if they have the projection; without any, those of a new figure."""
    if ax is None:
        return plt.figure(figsize=figsize, layout="constrained").add_subplot(projection=projection)
    if ax.name != projection:
        is_ordinary = projection == "rectilinear"
        wanted = "ordinary axes" if is_ordinary else f'the projection "{projection}"'
        raise ValueError(
            f'`ax` expected {wanted}, got "{ax.name}". Create it with '
            f'`plt.subplot(projection="{projection}")`.'
        )
    return ax


def color_of(i: int) -> str:
    """Return the colour of the i-th element."""
    return PALETTE[i % len(PALETTE)]


def shades_of(n: int) -> np.ndarray:
    """Return the colours of n regions, the densest last."""
    return _SHADES(np.linspace(0, 1, n))


def minus(text: str) -> str:
    """Replace hyphens by minus signs."""
    return text.replace("-", "\N{MINUS SIGN}")


def in_degrees(*angles: float | np.ndarray) -> str:
    """Write angles, in degrees, to one decimal."""
    # Adding zero removes the sign of a negative zero.
    return minus(", ".join(f"{round(float(angle), 1) + 0.0:.1f}°" for angle in angles))


def radius_in_degrees(radius: float) -> str:
    """Write a radius in degrees, to one decimal, or to two digits below one degree."""
    degrees = float(np.rad2deg(radius))
    return in_degrees(degrees) if degrees >= 1 else f"{degrees:.2g}°"


def legend_of_regions(ax: Axes, held: Sequence[float] | np.ndarray, **options: Any) -> None:
    """Add a legend of the shaded regions of highest density, the densest first."""
    patches = [Patch(facecolor=shade, edgecolor=BORDER) for shade in shades_of(len(held))]
    labels = [f"densest {share:.0%}" for share in held]
    # Not `ax.legend`, which the legend of the draws would replace.
    ax.add_artist(Legend(ax, patches[::-1], labels[::-1], frameon=False, fontsize=8, **options))


# With more names than this, they are written beside the directions and not in a legend.
LONGEST_LEGEND = 12
# In units of one over the root of the number of draws. The mean of independent uniform draws is
# longer than this with probability below 0.001.
BY_CHANCE = 3.0


def has_mean(values: np.ndarray) -> bool:
    """Return whether the mean of draws, of shape (S, n), is longer than that of uniform draws."""
    return bool(mean_resultant_length(values) > BY_CHANCE / np.sqrt(len(values)))


def without_mean(label: str | None) -> str:
    """Label of draws without a mean direction, for a legend."""
    return "no mean direction" if label is None else f"{label}: no mean direction"

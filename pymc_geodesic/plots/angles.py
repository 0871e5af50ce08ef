#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Plots of angles: a rose about the circle, and two angles on a torus."""

from __future__ import annotations

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np

from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from pymc_geodesic.plots.style import BORDER, axes_of, color_of, legend_of_regions, shades_of
from pymc_geodesic.validation import Unit, radians

__all__ = ["plot_rose", "plot_torus"]

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
        _shade(ax, log_density, mass)
    shown = pairs[:: max(1, -(-len(pairs) // max_draws))]
    ax.plot(*shown.T, ".", color=color_of(1), markersize=3, alpha=0.5, markeredgewidth=0)
    ax.set(xlim=(-np.pi, np.pi), ylim=(-np.pi, np.pi), aspect="equal")
    ax.set_xticks(TICKS, LABELS)
    ax.set_yticks(TICKS, LABELS)
    return ax


def _shade(ax: Axes, log_density: Callable, mass: tuple[float, ...]) -> None:
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

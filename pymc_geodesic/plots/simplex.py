#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Plots of probability vectors: a triangle for three entries, bars for any other number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from pymc_geodesic.diagnostics.geometry import require_geometry
from pymc_geodesic.plots.selection import (
    Coordinates,
    Draws,
    dataset_of,
    labelled_vectors,
    most_probable,
    probability_or_default,
    thinned,
)
from pymc_geodesic.plots.style import color_of
from pymc_geodesic.plots.ternary import Triangle

__all__ = ["plot_simplex"]


def plot_simplex(
    draws: Draws,
    *,
    var_names: str | Sequence[str] | None = None,
    group: str = "posterior",
    coords: Coordinates | None = None,
    contours: Sequence[float] = (),
    ci_prob: float | None = None,
    labels: Sequence[str] | None = None,
    n_entries: int = 30,
    max_draws: int = 2000,
    ax: Axes | None = None,
) -> Axes:
    """Draw probability vectors.

    With three entries every draw is a dot in a triangle: the nearer to a corner, the larger that
    entry. With any other number each entry has a bar of the height of its posterior mean, in
    descending order, with the interval that holds `ci_prob` of the draws.

    Parameters
    ----------
    draws : DataTree, mapping of str to array_like, or array_like
        Result of ``pm.sample``, draws of one vector of shape (..., K), or several such arrays by
        label.
    var_names : str or sequence of str, optional
        Variables of a DataTree. By default all probability vectors.
    group : str
        Group of a DataTree.
    coords : mapping, optional
        Part of a DataTree, as in ArviZ.
    contours : sequence of float
        Probabilities of the highest-density regions that are outlined, with three entries.
    ci_prob : float, optional
        Probability of the intervals, with equal tails; ``rcParams["stats.ci_prob"]`` by default.
    labels : sequence of str, optional
        Names of the entries. By default the coordinates of the last dimension.
    n_entries : int
        Maximum number of bars; the largest entries are shown.
    max_draws : int
        Maximum number of draws of each vector that are shown as dots, evenly thinned. Means,
        intervals and contours use all draws.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    Raises
    ------
    ValueError
        If vectors do not sum to one or have different numbers of entries, `labels` has another
        length, or there are several vectors to show as bars.

    Notes
    -----
    The density of the contours is with respect to area in the triangle. Draws near a side are
    reflected at it, so that no density is lost outside.

    Examples
    --------
    >>> import numpy as np, pymc_geodesic as pmg
    >>> p = np.random.default_rng(1).dirichlet([2.0, 3.0, 4.0], size=500)
    >>> ax = pmg.plot_simplex(p, labels=["paper", "scissors", "stone"], contours=[0.5, 0.9])
    """
    options: dict[str, Any] = {"var_names": var_names, "group": group, "coords": coords}
    vectors = labelled_vectors(draws, geometry="composition", **options)
    for label, values in vectors.items():
        require_geometry("draws", label, values, geometry="composition")
    sizes = {values.shape[-1] for values in vectors.values()}
    if len(sizes) > 1:
        raise ValueError(
            f"`draws` expected vectors of equal length, got lengths {sorted(sizes)}. Select some "
            "with `var_names`."
        )
    [size] = sizes
    names = _names(draws, labels, size, options, list(vectors))
    if size == 3:
        return _draw_triangle(vectors, names, contours, max_draws, ax)
    if len(vectors) > 1:
        raise ValueError(
            f"`draws` expected one vector to draw as bars, got {list(vectors)}. Select one with "
            "`var_names` and `coords`."
        )
    [(label, values)] = vectors.items()
    ci_prob = probability_or_default(ci_prob)
    return _draw_bars(values, names, label, ci_prob, n_entries, ax)


def _names(
    draws: Draws, labels: Sequence[str] | None, size: int, options: dict, shown: list[str | None]
) -> list[str]:
    if labels is not None:
        if len(labels) != size:
            raise ValueError(f"`labels` expected {size} names, got {len(labels)}.")
        return [str(label) for label in labels]
    if not isinstance(draws, xr.DataTree):
        return [str(i) for i in range(size)]
    dataset = dataset_of(draws, **options)
    name = str(shown[0]).split("[")[0]
    return [str(label) for label in dataset[name][dataset[name].dims[-1]].values]


def _draw_triangle(
    vectors: Mapping[str | None, np.ndarray],
    names: Sequence[str],
    contours: Sequence[float],
    max_draws: int,
    ax: Axes | None,
) -> Axes:
    if ax is None:
        _, ax = plt.subplots(figsize=(6.2, 5.8), layout="constrained")
    triangle = Triangle(ax, names)
    for i, (label, values) in enumerate(vectors.items()):
        color = color_of(i)
        dots = {"color": color, "alpha": 0.35, "markersize": 3.5, "markeredgewidth": 0}
        triangle.dots(thinned(values, max_draws), marker=".", zorder=4, **dots)
        if len(contours):
            halo = [withStroke(linewidth=2.6, foreground="white")]
            line = {"linewidth": 1.3, "path_effects": halo, "zorder": 5}
            triangle.contours(values, contours, color=color, **line)
        mean = values.mean(axis=0, keepdims=True)
        mark = {"markersize": 6, "markeredgecolor": "white", "markeredgewidth": 1.2}
        triangle.dots(mean, marker="o", color=color, label=label, zorder=6, **mark)
    if None not in vectors:
        ax.legend(loc="upper right", frameon=False)
    return ax


def _draw_bars(
    values: np.ndarray,
    names: Sequence[str],
    label: str | None,
    ci_prob: float,
    n_entries: int,
    ax: Axes | None,
) -> Axes:
    mean, shown, (low, high) = most_probable(values, n_entries, ci_prob)
    if ax is None:
        width = max(4.0, 1.6 + 0.36 * len(shown))
        _, ax = plt.subplots(figsize=(width, 4.2), layout="constrained")
    at = np.arange(len(shown))
    ax.bar(at, mean[shown], color=color_of(1), alpha=0.45, width=0.75)
    is_one_draw = len(values) == 1
    if not is_one_draw:
        ax.vlines(at, low, high, color=color_of(1), linewidth=2)
    long_names = max(len(names[i]) for i in shown) > 3
    turn = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if long_names else {}
    ax.set_xticks(at, [names[i] for i in shown], **turn)
    left_out = len(mean) - len(shown)
    rest = f"; {left_out} more hold {mean.sum() - mean[shown].sum():.1%}" if left_out else ""
    spread = "" if is_one_draw else f", mean and {ci_prob:.0%} interval"
    ax.set_ylabel(f"probability{spread}")
    ax.set_title(f"{label or ''}{rest}".removeprefix("; "), fontsize=10)
    ax.set_ylim(bottom=0)
    ax.spines[["top", "right"]].set_visible(False)
    return ax

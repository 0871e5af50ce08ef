#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Plots of frames: their mean, and how far draws and chains are from it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from matplotlib.axes import Axes

from pymc_geodesic.diagnostics.frames import Symmetry, align_frames, column_angles, mean_frame
from pymc_geodesic.manifolds.registry import recorded_manifolds
from pymc_geodesic.plots.selection import Coordinates, dataset_of, pick_variable
from pymc_geodesic.plots.style import color_of

__all__ = ["plot_frames"]

# More names than this would lie over each other.
MOST_NAMES = 30
# Shares of the draws within the thin and the thick line.
WITHIN = (0.89, 0.5)


def plot_frames(
    idata: xr.DataTree,
    *,
    var_names: str | None = None,
    coords: Coordinates | None = None,
    group: str = "posterior",
    symmetry: Symmetry | None = None,
    axes: Sequence[Axes] | None = None,
) -> np.ndarray:
    r"""Draw the mean of a frame as a matrix, and the angles of its columns to it.

    The mean :math:`M` of draws :math:`X_i` is the frame nearest to their arithmetic mean. For the
    column k the second panel shows the angles

    .. math:: 2 \arcsin \tfrac12 \lVert X_{i, \cdot k} - M_{\cdot k} \rVert

    of the draws: their median, and lines that hold 50 and 89 per cent of them. Each circle is the
    angle of the mean of one chain. Chains that agree are much nearer to the mean than draws are.

    Parameters
    ----------
    idata : DataTree
        Result of ``pm.sample`` or :func:`pymc_geodesic.sample`.
    var_names : str, optional
        Name of the variable, of shape (chain, draw, n, p); by default the only frame of the group.
    coords : mapping, optional
        Selection of one frame of a variable with several.
    group : str
        Group of the draws.
    symmetry : {"signs", "permutations", "rotations"}, optional
        Symmetry up to which the model determines the columns: draws are aligned first, by
        :func:`pymc_geodesic.diagnostics.align_frames`. By default they are shown as they are.
    axes : sequence of two matplotlib.axes.Axes, optional
        Axes of the matrix and of the angles; a new figure by default.

    Returns
    -------
    ndarray of matplotlib.axes.Axes
        Both axes.

    Raises
    ------
    ValueError
        If the variable is not one frame, or ``symmetry`` is none of the three.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> with pm.Model():
    ...     x = pmg.MatrixLangevin("x", F=50 * np.eye(5, 2))
    ...     idata = pmg.sample(100, step=pmg.GMC(), random_seed=1, progressbar=False)
    >>> matrix, angles = pmg.plot_frames(idata)
    """
    dataset = dataset_of(idata, var_names=var_names, group=group, coords=coords)
    draws = pick_variable(dataset, ["frame"], manifolds=recorded_manifolds(idata))
    if draws.ndim != 4 or draws.shape[-1] > draws.shape[-2]:
        raise ValueError(
            f"`var_names` expected one frame, of shape (chain, draw, n, p) with p <= n, got "
            f"`{draws.name}` of shape {draws.shape}. Select one frame with `coords`."
        )
    values = draws.values if symmetry is None else align_frames(draws.values, symmetry=symmetry)
    mean = mean_frame(values.reshape(-1, *values.shape[-2:]))
    if axes is None:
        options = {"layout": "constrained", "width_ratios": [1, 1.4]}
        _, axes = plt.subplots(1, 2, figsize=(7.5, 3.8), **options)
    matrix, angles = axes
    _draw_matrix(matrix, mean, draws)
    _draw_angles(angles, values, mean, draws)
    return np.array([matrix, angles])


def _draw_matrix(ax: Axes, mean: np.ndarray, draws: xr.DataArray) -> None:
    """Draw the entries of the mean, white for zero."""
    limit = np.abs(mean).max()
    image = ax.imshow(mean, cmap="RdBu_r", vmin=-limit, vmax=limit, aspect="auto")
    ax.figure.colorbar(image, ax=ax, shrink=0.7)
    _name(ax.set_yticks, draws, draws.dims[-2])
    _name(ax.set_xticks, draws, draws.dims[-1])
    ax.set_title(f"mean of {draws.name}", fontsize=10)


def _draw_angles(ax: Axes, values: np.ndarray, mean: np.ndarray, draws: xr.DataArray) -> None:
    """Draw the angles of draws and of the means of chains, in degrees."""
    n_columns = mean.shape[-1]
    of_draws = np.degrees(column_angles(values, mean)).reshape(-1, n_columns)
    of_chains = np.degrees([column_angles(mean_frame(chain), mean) for chain in values])
    places = np.arange(n_columns)
    for share, width in zip(WITHIN, (1.5, 5.0), strict=True):
        low, high = np.quantile(of_draws, [(1 - share) / 2, (1 + share) / 2], axis=0)
        ax.vlines(places, low, high, color=color_of(1), linewidth=width)
    ax.plot(places, np.median(of_draws, axis=0), "o", color="white", markersize=3)
    style = {"color": color_of(0), "markerfacecolor": "none", "linestyle": "", "markersize": 5}
    beside = places + 0.2
    for i, chain in enumerate(of_chains):
        ax.plot(beside, chain, "o", label="means of chains" if i == 0 else None, **style)
    ax.set(xlim=(-0.5, n_columns - 0.5), ylim=(0, None), ylabel="angle to the mean, degrees")
    _name(ax.set_xticks, draws, draws.dims[-1])
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=8, loc="lower right", bbox_to_anchor=(1, 1))


def _name(set_ticks: Callable, draws: xr.DataArray, dim: Hashable) -> None:
    """Name the rows or columns by their coordinates, if there are few."""
    size = draws.sizes[dim]
    if size <= MOST_NAMES:
        set_ticks(range(size), [str(name) for name in draws[dim].values], fontsize=8)

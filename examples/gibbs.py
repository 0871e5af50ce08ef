#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Parts of Gibbs samplers of tables of probabilities, and the comparison with them."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from matplotlib.figure import Figure
from shared import without_box

__all__ = ["agreement", "choose", "draw_rows", "moments", "plot_agreement"]


def choose(rng: np.random.Generator, weights: np.ndarray) -> np.ndarray:
    """Draw one number for each row of weights, which need not sum to one."""
    sums = weights.cumsum(axis=-1)
    return (rng.random((*weights.shape[:-1], 1)) * sums[..., -1:] > sums).sum(axis=-1)


def draw_rows(rng: np.random.Generator, shapes: np.ndarray) -> np.ndarray:
    """Draw points of simplexes from Dirichlet distributions, along the last axis."""
    gammas = rng.gamma(shapes)
    return gammas / gammas.sum(axis=-1, keepdims=True)


def moments(idata: xr.DataTree, group: str, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return means and standard deviations of the entries of some variables, side by side."""
    arrays = [idata[group][name].values for name in names]
    draws = np.concatenate([x.reshape(*x.shape[:2], -1) for x in arrays], axis=-1)
    return draws.mean(axis=(0, 1)), draws.std(axis=(0, 1))


def plot_agreement(idata: xr.DataTree, names: Sequence[str]) -> Figure:
    """Plot means and standard deviations by minibatches over those by Gibbs sampling."""
    pairs = zip(moments(idata, "gibbs", names), moments(idata, "posterior", names), strict=True)
    figure, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
    for ax, (exact, found), what in zip(axes, pairs, ("mean", "deviation"), strict=True):
        ax.axline((0, 0), slope=1, color="0.7", zorder=0)
        ax.plot(exact, found, "o", color="#0072B2", markersize=4)
        ax.set(xlabel=f"{what} by Gibbs, all rows", ylabel=f"{what} by minibatches")
    without_box(*axes)
    return figure


def agreement(idata: xr.DataTree, names: Sequence[str]) -> str:
    """Say how far means and standard deviations are from those by Gibbs sampling."""
    (exact, sd), (mean, width) = (moments(idata, g, names) for g in ("gibbs", "posterior"))
    away, ratio = np.abs(mean - exact) / sd, width / sd
    return (
        f"{len(mean)} entries by minibatches, beside Gibbs sampling of all rows: means "
        f"{np.sqrt((away**2).mean()):.2f} deviations apart (root mean square; largest "
        f"{away.max():.2f}), deviations {np.median(ratio):.2f} of its (median)"
    )

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A regression of compositions.

How does the composition of sediment, shares of sand, silt and clay, change with the depth of the
water? A composition is a point of a simplex. The model has one such point, the composition at
middle depth, and a direction in which depth shifts it; the observed compositions are Dirichlet
around the shifted mean. The point moves on the simplex, the shift and the precision in plain
space, all in one step.

The 30,000 samples are generated.

Conclusion: the composition at middle depth, the shift and the precision are those that generated
the data, within their small errors. No part was left out or used as a reference, as logratio
coordinates would require.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
import xarray as xr

from matplotlib.figure import Figure
from shared import main, without_box

import pymc_geodesic as pmg

N_ROWS, BATCH_SIZE = 30_000, 200
PARTS = ["sand", "silt", "clay"]
MIDDLE, SHIFT, PRECISION = np.array([0.5, 0.3, 0.2]), np.array([-0.7, 0.1, 0.6]), 30.0


def shifted(middle: np.ndarray, shift: np.ndarray, depth: np.ndarray) -> np.ndarray:
    """Shift a composition: the ratios of its parts change by the same factor per unit of depth."""
    parts = middle * np.exp(depth[..., None] * shift)
    return parts / parts.sum(axis=-1, keepdims=True)


def make_data() -> tuple[np.ndarray, np.ndarray]:
    """Generate the depths, in standard units, and the compositions."""
    rng = np.random.default_rng(1)
    depth = rng.uniform(-2, 2, size=N_ROWS)
    gammas = rng.gamma(PRECISION * shifted(MIDDLE, SHIFT, depth))
    return depth, gammas / gammas.sum(axis=1, keepdims=True)


def build_model() -> pm.Model:
    """Write the regression; shifts sum to zero, because a common factor changes nothing."""
    depth, composition = make_data()
    with pm.Model(coords={"part": PARTS}) as model:
        x, y = pm.Minibatch(depth, composition, batch_size=BATCH_SIZE)
        middle = pm.Dirichlet("middle", np.ones(3), dims="part")
        shift = pm.ZeroSumNormal("shift", 1.0, dims="part")
        precision = pm.HalfNormal("precision", 100.0)
        parts = middle * pm.math.exp(x[:, None] * shift)
        mean = parts / parts.sum(axis=1, keepdims=True)
        pm.Dirichlet("composition", precision * mean, observed=y, total_size=N_ROWS)
    return model


def run(quick: bool = False) -> xr.DataTree:
    """Sample; `quick` makes a short run for tests."""
    draws, tune, chains = (200, 300, 1) if quick else (1000, 1000, 4)
    with build_model():
        return pmg.sample(draws, tune=tune, chains=chains, random_seed=1, progressbar=False)


def plot(idata: xr.DataTree) -> Figure:
    """Plot some of the data, and draws of the mean composition at all depths."""
    depth, composition = make_data()
    posterior = idata.posterior.to_dataset().stack(sample=("chain", "draw"))
    middle, shift = (posterior[n].transpose("sample", "part").values for n in ("middle", "shift"))
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
    near = {f"depth {at:+d}": composition[np.abs(depth - at) < 0.1][:300] for at in (-2, 0, 2)}
    pmg.plot_simplex(near, labels=PARTS, ax=left)
    along, edges = np.linspace(-2, 2, 41), np.linspace(-2, 2, 17)
    curves = shifted(middle[::50, None], shift[::50, None], along[None])
    held = np.digitize(depth, edges) - 1
    means = np.array([composition[held == i].mean(axis=0) for i in range(len(edges) - 1)])
    for k, color in enumerate(("#D55E00", "#0072B2", "#009E73")):
        right.plot(along, curves[:, :, k].T, color=color, alpha=0.2, linewidth=1)
        right.plot((edges[1:] + edges[:-1]) / 2, means[:, k], "o", color=color, label=PARTS[k])
    right.set(xlabel="depth", ylabel="share", title="means of the data, and draws", ylim=(0, 1))
    right.legend(frameon=False)
    without_box(right)
    return figure


def report(idata: xr.DataTree) -> str:
    """Print a summary and the values that generated the data."""
    found = pmg.summary(idata)[["mean", "sd", "r_hat"]]
    return (
        f"{found}\ngenerated from: middle {MIDDLE.tolist()}, shift {SHIFT.tolist()}, "
        f"precision {PRECISION}"
    )


if __name__ == "__main__":
    main(__doc__, run=run, plot=plot, report=report)

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Two directions with strongly correlated posteriors.

Half of the data is spread about a direction v1, the other half about the middle of v1 and v2. If v1
moves one way, v2 must move the other way, so the posterior of the two angles is a long ridge. The
gradients come from batches of 10 of the 100 rows. Their noise is estimated during sampling
by the empirical Fisher information. This is the experiment of Liu, Zhu and Song (2016), section
5.2.

Conclusion: draws cover the ridge as the exact posterior does. A known or estimated gradient noise
needs no thermostat; if the noise is unknown, use gSGNHT.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
import xarray as xr

from matplotlib.figure import Figure
from scipy.special import i0
from shared import main

import pymc_geodesic as pmg

KAPPA, N_ROWS, BATCH_SIZE = 20.0, 100, 10
LEARNING_RATE, MOMENTUM_DECAY = 5e-4, 0.1
ANGLES = (-np.pi / 24, np.pi / 8)


def angle(x: np.ndarray) -> np.ndarray:
    """Compute the angle of points on the circle, in (-pi, pi]."""
    return np.arctan2(x[..., 1], x[..., 0])


def make_data() -> np.ndarray:
    """Draw the data as in the paper: half around ``v1``, half around the middle of the two."""
    rng = np.random.default_rng(20161)
    centres = np.array([ANGLES[0], np.mean(ANGLES)])
    angles = rng.vonmises(centres[rng.integers(0, 2, N_ROWS)], KAPPA)
    return np.c_[np.cos(angles), np.sin(angles)]


def build_model(data: np.ndarray, batch_size: int | None = BATCH_SIZE) -> pm.Model:
    """Write the mixture, for minibatches or, with None, for all data."""
    with pm.Model() as model:
        v1 = pmg.VonMisesFisher("v1", mu=[1, 0], kappa=KAPPA)
        v2 = pmg.VonMisesFisher("v2", mu=[1, 0], kappa=KAPPA)
        total = v1 + v2
        middle = total / pm.math.sqrt((total**2).sum())
        components = [
            pmg.VonMisesFisher.dist(mu=v1, kappa=KAPPA),
            pmg.VonMisesFisher.dist(mu=middle, kappa=KAPPA),
        ]
        observed = data if batch_size is None else pm.Minibatch(data, batch_size=batch_size)
        pm.Mixture(
            "x", w=[0.5, 0.5], comp_dists=components, observed=observed, total_size=len(data)
        )
    return model


def grid_posterior(data: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Compute the posterior of the two angles on a grid, which sums to one."""
    x = angle(data)
    a, b = grid[:, None], grid[None, :]
    # The mixture depends on v2 only through the middle angle: the sum of unit vectors bisects them.
    first = np.exp(KAPPA * np.cos(x[:, None] - grid)) / (2 * np.pi * i0(KAPPA))
    log_posterior = KAPPA * (np.cos(a) + np.cos(b))
    for i, x_i in enumerate(x):
        second = np.exp(KAPPA * np.cos(x_i - (a + b) / 2)) / (2 * np.pi * i0(KAPPA))
        log_posterior = log_posterior + np.log(0.5 * first[i][:, None] + 0.5 * second)
    posterior = np.exp(log_posterior - log_posterior.max())
    return posterior / posterior.sum()


def run(quick: bool = False) -> xr.DataTree:
    """Sample; `quick` makes a short run for tests."""
    draws, tune, chains, n_steps = (200, 200, 2, 100) if quick else (2500, 500, 4, 200)
    with build_model(make_data()) as model:
        step = pmg.SGGMC.from_learning_rate(
            LEARNING_RATE,
            MOMENTUM_DECAY,
            model=model,
            gradient_noise="fisher",
            n_steps=n_steps,
        )
        return pm.sample(
            draws,
            tune=tune,
            chains=chains,
            cores=1,
            step=step,
            random_seed=20261121,
            progressbar=False,
        )


def plot(idata: xr.DataTree) -> Figure:
    """Plot the draws of both angles over the contours of the exact posterior."""
    grid = np.linspace(-1.2, 1.2, 481)
    posterior = grid_posterior(make_data(), grid)
    held = np.sort(posterior.ravel())[::-1]
    levels = [held[np.searchsorted(held.cumsum(), mass)] for mass in (0.95, 0.5)]
    angles = [np.rad2deg(angle(idata.posterior[v].values)).ravel()[::5] for v in ("v1", "v2")]
    figure, ax = plt.subplots(figsize=(5.6, 5.4), layout="constrained")
    ax.plot(*angles, ".", color="#0072B2", alpha=0.3, markersize=3, markeredgewidth=0)
    ax.contour(*np.rad2deg([grid, grid]), posterior.T, levels=levels, colors="#D55E00")
    ax.set(xlabel="angle of v1, degrees", ylabel="angle of v2, degrees")
    ax.set(xlim=(-20, 20), ylim=(-40, 40))
    ax.set_title("draws, and the exact regions of 50% and 95%", fontsize=10)
    return figure


def report(idata: xr.DataTree) -> str:
    """Summarise the directions."""
    return pmg.summary(idata)[["mean", "sd", "angular_sd", "ess_bulk", "r_hat"]].to_string()


if __name__ == "__main__":
    main(__doc__, run=run, plot=plot, report=report)

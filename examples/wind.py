#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A directional regression of a million rows: the wind at each hour of the day.

At a coast the wind direction changes with the hour, in addition to the weather: the wind blows from
the sea by day and from the land by night. The mean direction at an hour is that of a sum of three
vectors: the prevailing wind, a unit vector, and two vectors that follow the sine and cosine of the
hour, four real numbers. A positive number is the concentration of single hours around this mean.
One step samples the unit vector, the real numbers and the positive number, each on its own
manifold. The million hours, of six years at twenty stations, are generated.

Conclusion: one step samples a direction, real numbers and a concentration, and finds its own
settings. A transition costs the same whatever the number of rows. The density of each hour follows
from the draws.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
import xarray as xr

from matplotlib.figure import Figure
from scipy.special import i0e
from shared import main

import pymc_geodesic as pmg

N_HOURS, BATCH_SIZE = 1_000_000, 200
PREVAILING = np.array([np.cos(2.4), np.sin(2.4)])
# Rows: towards east and north; columns: with the cosine and the sine of the hour.
DAILY = np.array([[-0.9, 0.3], [0.2, 0.6]])
KAPPA = 3.0


def phases(hour: np.ndarray) -> np.ndarray:
    """Compute cosine and sine of the hour of the day."""
    angle = 2 * np.pi * np.asarray(hour) / 24
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def make_data(n_hours: int = N_HOURS, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Draw the directions of the wind at consecutive hours, as unit vectors."""
    rng = np.random.default_rng(seed)
    hour = np.arange(n_hours) % 24
    mean = PREVAILING + phases(hour) @ DAILY.T
    angle = rng.vonmises(np.arctan2(mean[:, 1], mean[:, 0]), KAPPA)
    return hour, np.column_stack([np.cos(angle), np.sin(angle)])


def build_model(n_hours: int = N_HOURS) -> pm.Model:
    """Write the regression."""
    hour, wind = make_data(n_hours)
    coords = {"axis": ["east", "north"], "phase": ["cosine", "sine"]}
    with pm.Model(coords=coords) as model:
        x, y = pm.Minibatch(phases(hour), wind, batch_size=BATCH_SIZE)
        prevailing = pmg.SphericalUniform("prevailing", dims="axis")
        daily = pm.Normal("daily", 0, 1, dims=("axis", "phase"))
        kappa = pm.HalfNormal("kappa", 10)
        mean = prevailing + x @ daily.T
        mean = mean / pm.math.sqrt((mean**2).sum(axis=1, keepdims=True))
        pmg.VonMisesFisher("wind", mean, kappa, observed=y, total_size=n_hours)
    return model


def run(quick: bool = False) -> xr.DataTree:
    """Sample; `quick` makes a short run for tests."""
    draws, tune, chains = (200, 300, 1) if quick else (1000, 1000, 4)
    with build_model():
        # No settings: the tuning phase finds step size, masses and frictions.
        return pm.sample(
            draws,
            tune=tune,
            chains=chains,
            cores=1,
            step=pmg.gSGNHT(),
            random_seed=20261121,
            progressbar=False,
        )


def mean_directions(idata: xr.DataTree, hours: np.ndarray) -> np.ndarray:
    """Compute draws of the mean direction's angle at some hours, shape ``(sample, hour)``."""
    posterior = idata.posterior.to_dataset().stack(sample=("chain", "draw"))
    prevailing = posterior["prevailing"].transpose("sample", "axis").values
    daily = posterior["daily"].transpose("sample", "axis", "phase").values
    mean = prevailing[:, None, :] + np.einsum("hp,sap->sha", phases(hours), daily)
    return np.arctan2(mean[..., 1], mean[..., 0])


def plot(idata: xr.DataTree) -> Figure:
    """Plot the data, the fitted density of each hour, and draws of the mean direction."""
    hour, wind = make_data()
    angle = np.degrees(np.arctan2(wind[:, 1], wind[:, 0])) % 360
    hours, grid = np.linspace(-0.4, 24, 121), np.linspace(0, 360, 181)
    draws = mean_directions(idata, hours)
    kappa = idata.posterior["kappa"].values.mean()
    middle = np.angle(np.exp(1j * draws).mean(axis=0))
    density = np.exp(kappa * (np.cos(np.radians(grid)[:, None] - middle) - 1)) / i0e(kappa)
    figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
    ax.contourf(hours, grid, density, levels=12, cmap="YlOrBr", vmin=0, vmax=2 * density.max())
    some = np.random.default_rng(1).choice(N_HOURS, 1500, replace=False)
    jitter = np.random.default_rng(2).uniform(-0.3, 0.3, len(some))
    ax.plot(hour[some] + jitter, angle[some], ".", color="0.25", markersize=2.5, alpha=0.5)
    for curve in draws[:: max(1, len(draws) // 40)]:
        degrees = np.degrees(curve) % 360
        degrees[1:][np.abs(np.diff(degrees)) > 180] = np.nan  # no line from top to bottom
        ax.plot(hours, degrees, color="#0072B2", alpha=0.4, linewidth=1)
    ax.set(xlabel="hour of the day", ylabel="direction, degrees", xlim=(-0.4, 24), ylim=(0, 360))
    ax.set(xticks=range(0, 25, 6), yticks=range(0, 361, 90))
    return figure


def report(idata: xr.DataTree) -> str:
    """Print a summary of the posterior and the values that generated the data."""
    summary = pmg.summary(idata)[["mean", "sd", "angular_sd", "ess_bulk", "r_hat"]]
    return (
        f"{summary.to_string()}\ngenerated from: prevailing {PREVAILING.round(3)}, daily "
        f"{DAILY.tolist()}, kappa {KAPPA}"
    )


if __name__ == "__main__":
    main(__doc__, run=run, plot=plot, report=report)

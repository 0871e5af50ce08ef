#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Which way do termite mounds point: axes of fourteen sites.

Magnetic termites of northern Australia build flat mounds along the meridian, which warm up in the
morning and stay cool at noon. The orientation of a mound is an axis: north and south are the same.
Do mounds of different sites point the same way? Mounds scatter around the axis of their site as a
Watson distribution does, and the axes of sites around a common axis. All fifteen axes are unknown
and are sampled as axes, with the concentrations of the sites and between them. The 906 mounds at
14 sites of Cape York (B.13 of N. I. Fisher, Statistical Analysis of Circular Data, 1993; measured
by A. V. Spain) come with the package pycircstat2 (``pip install pycircstat2``). Without it mounds
are generated.

Conclusion: mounds point a few degrees west of north, and the sites differ by about as much. The
sign of an axis means nothing, and needs no rule.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pymc as pm
import xarray as xr

from matplotlib.figure import Figure
from shared import main, package_file, without_box

import pymc_geodesic as pmg

N_SITES, BATCH_SIZE = 14, 100


def make_data() -> pd.DataFrame:
    """Read the mounds, or generate as many: ``site``, ``latitude`` and ``degrees`` from north."""
    path = package_file("pycircstat2", "data/fisher/B13.csv")
    if path is None:
        rng = np.random.default_rng(1)
        site = np.repeat(np.arange(N_SITES), 65)
        angles = rng.vonmises(np.deg2rad(rng.normal(-8.0, 9.0, N_SITES))[site], 6.0)
        latitude = np.linspace(-15.4, -11.5, N_SITES)[site]
        return pd.DataFrame({"site": site, "latitude": latitude, "degrees": np.degrees(angles) / 2})
    table = pd.read_csv(path)
    table.columns = ["number", "degrees", "site", "latitude", "longitude"]
    return table.assign(site=table["site"] - 1)


def build_model() -> pm.Model:
    """Write the hierarchy of axes."""
    mounds = make_data()
    angle = np.deg2rad(mounds["degrees"].to_numpy())
    axes = np.column_stack([np.sin(angle), np.cos(angle)])
    with pm.Model(coords={"site": range(1, N_SITES + 1), "towards": ["east", "north"]}) as model:
        site, axis = pm.Minibatch(mounds["site"].to_numpy(), axes, batch_size=BATCH_SIZE)
        # With a concentration of zero all axes are equally probable.
        common = pmg.Watson("common", [0.0, 1.0], 0.0, dims="towards")
        between = pm.Gamma("between", 2.0, 0.02)
        of_site = pmg.Watson("of_site", common, between, dims=("site", "towards"))
        middle, spread = pm.Normal("middle", 1.5, 1.0), pm.HalfNormal("spread", 1.0)
        kappa = pm.LogNormal("kappa", middle, spread, dims="site")
        pmg.Watson("mounds", of_site[site], kappa[site], observed=axis, total_size=len(mounds))
    return model


def run(quick: bool = False) -> xr.DataTree:
    """Sample; `quick` makes a short run for tests."""
    draws, tune, chains = (100, 200, 1) if quick else (1000, 1000, 4)
    with build_model():
        step = pmg.gSGNHT()
        return pmg.sample(
            draws, tune=tune, chains=chains, step=step, random_seed=1, progressbar=False
        )


def degrees_from_north(axes: np.ndarray) -> np.ndarray:
    """Compute the angle of axes, clockwise from north, between -90 and 90 degrees."""
    degrees = np.degrees(np.arctan2(axes[..., 0], axes[..., 1]))
    return (degrees + 90) % 180 - 90


def between_sites(idata: xr.DataTree) -> np.ndarray:
    """Compute the standard deviation of the axes of sites, in degrees, of each draw.

    A Watson distribution in the plane is a von Mises distribution of twice the angle, with half of
    the concentration; for large ones it is nearly normal.
    """
    return np.degrees(1 / np.sqrt(2 * idata.posterior["between"].values))


def plot(idata: xr.DataTree) -> Figure:
    """Plot the mounds and the axis of each site, from south to north."""
    mounds = make_data()
    order = mounds.groupby("site")["latitude"].first().sort_values(kind="stable")
    sites = degrees_from_north(idata.posterior["of_site"].values).reshape(-1, N_SITES)
    common = degrees_from_north(idata.posterior["common"].values).ravel()
    figure, ax = plt.subplots(figsize=(7, 4.6), layout="constrained")
    ax.axvspan(*np.quantile(common, [0.055, 0.945]), color="#E69F00", alpha=0.3, linewidth=0)
    rng = np.random.default_rng(1)
    for height, site in enumerate(order.index):
        found = mounds.loc[mounds["site"] == site, "degrees"].to_numpy()
        found = (found + 90) % 180 - 90
        jitter = height + rng.uniform(-0.25, 0.25, len(found))
        ax.plot(found, jitter, ".", color="0.6", markersize=2.5)
        low, middle, high = np.quantile(sites[:, site], [0.055, 0.5, 0.945])
        ax.plot([low, high], [height, height], color="#0072B2", linewidth=3)
        ax.plot(middle, height, "o", color="#0072B2", markersize=4)
    ax.axvline(0, color="0.3", linewidth=0.8)
    ax.set(xlim=(-60, 60), xlabel="degrees east of north", ylabel="latitude of the site")
    ax.set_yticks(range(N_SITES), [f"{-latitude:.1f} S" for latitude in order], fontsize=8)
    without_box(ax)
    return figure


def report(idata: xr.DataTree) -> str:
    """Print the common axis, how much sites differ, and those whose axis is not the meridian."""
    common = degrees_from_north(idata.posterior["common"].values)
    sites = degrees_from_north(idata.posterior["of_site"].values).reshape(-1, N_SITES)
    low, high = np.quantile(between_sites(idata), [0.055, 0.945])
    east = np.mean(sites > 0, axis=0)
    away = (np.flatnonzero(np.minimum(east, 1 - east) < 0.005) + 1).tolist()
    return (
        f"common axis: {common.mean():.1f} +- {common.std():.1f} degrees east of north\n"
        f"sites differ by a standard deviation of {low:.1f} to {high:.1f} degrees\n"
        f"not along the meridian, by intervals of 99 per cent: sites {away}\n"
        f"{pmg.summary(idata, var_names=['common', 'between', 'middle', 'spread']).to_string()}"
    )


if __name__ == "__main__":
    main(__doc__, run=run, plot=plot, report=report)

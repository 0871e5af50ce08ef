#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Was Earth's magnetic field that of a dipole along its axis: lava flows of Antarctica.

Lava records the direction of the magnetic field in which it cools. The field reverses from time to
time, so that both ends of an axis occur: what lava flows of five million years have in common is an
axis. A dipole along the axis of rotation would have a field that dips by 84 degrees at McMurdo, 78
degrees south. Near the vertical the compass direction means little: declination and inclination
are poor coordinates there, and a point of the sphere is none. The directions scatter around their
axis as a Watson distribution does. The 133 flows (L. Tauxe and others, MagIC database) come with
the package pmagpy (``pip install --no-deps pmagpy``). Without it directions are generated.

Conclusion: the mean axis is three degrees away from that of the dipole, and one in ten draws of the
axis is as far away from their mean: the flows agree with a dipole. So few rows need no minibatches:
geodesic Monte Carlo is exact.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pymc as pm
import xarray as xr

from matplotlib.figure import Figure
from shared import main, package_file

import pymc_geodesic as pmg

LATITUDE = -77.85
# Estimates of a flow's direction with a smaller precision are left out, as is usual.
LEAST_PRECISION = 50


def direction(declination: np.ndarray | float, inclination: np.ndarray | float) -> np.ndarray:
    """Compute unit vectors towards north, east and down from angles in degrees."""
    d, i = np.deg2rad(declination), np.deg2rad(inclination)
    return np.stack([np.cos(i) * np.cos(d), np.cos(i) * np.sin(d), np.sin(i)], axis=-1)


def dipole() -> np.ndarray:
    """Compute the direction of the field of a dipole along the axis of rotation."""
    return direction(0.0, np.degrees(np.arctan(2 * np.tan(np.deg2rad(LATITUDE)))))


def make_data() -> np.ndarray:
    """Read the directions of the flows, one for each, or generate as many."""
    path = package_file("pmagpy", "3_0/McMurdo/sites.txt")
    if path is None:
        axis = direction(10.0, -81.0)
        return pm.draw(pmg.Watson.dist(axis, 8.0, size=133), random_seed=1)
    table = pd.read_csv(path, sep="\t", skiprows=1)
    table = table[table["dir_k"] >= LEAST_PRECISION].drop_duplicates("site")
    return direction(table["dir_dec"].to_numpy(), table["dir_inc"].to_numpy())


def build_model() -> pm.Model:
    """Write the model of the directions."""
    with pm.Model(coords={"towards": ["north", "east", "down"]}) as model:
        # With a concentration of zero all axes are equally probable.
        axis = pmg.Watson("axis", [0.0, 0.0, 1.0], 0.0, dims="towards")
        kappa = pm.HalfNormal("kappa", 50.0)
        pmg.Watson("field", axis, kappa, observed=make_data())
    return model


def run(quick: bool = False) -> xr.DataTree:
    """Sample; `quick` makes a short run for tests."""
    draws, tune, chains = (200, 200, 1) if quick else (1000, 500, 4)
    with build_model():
        step = pmg.GMC()
        return pmg.sample(
            draws, tune=tune, chains=chains, step=step, random_seed=1, progressbar=False
        )


def degrees_from_dipole(idata: xr.DataTree) -> np.ndarray:
    """Compute the angle between the axis of each draw and the field of the dipole."""
    cosine = np.abs(idata.posterior["axis"].values @ dipole())
    return np.degrees(np.arccos(np.minimum(cosine, 1.0)))


def on_paper(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Project axes to a map around the vertical that keeps areas: bearing and distance from it."""
    return np.arctan2(x[..., 1], x[..., 0]), np.sqrt(1 - np.abs(x[..., 2]))


def plot(idata: xr.DataTree) -> Figure:
    """Plot the flows and draws of the axis, looking down."""
    flows, axes = make_data(), idata.posterior["axis"].values.reshape(-1, 3)
    # All in the lower half: an axis has no sign. Flows keep theirs, as geologists draw them.
    axes = axes * np.sign(axes[:, 2:])
    figure, ax = plt.subplots(
        figsize=(6, 5.6), layout="constrained", subplot_kw={"projection": "polar"}
    )
    ax.plot(
        *on_paper(axes[::10]), ".", color="#E69F00", markersize=3, alpha=0.5, label="axis", zorder=3
    )
    for is_down, face, label in ((True, "0.3", "flows, down"), (False, "white", "flows, up")):
        # An upward direction is drawn where its other end would be below.
        chosen = flows[(flows[:, 2] > 0) == is_down]
        style = {"markersize": 4, "markerfacecolor": face, "markeredgecolor": "0.3"}
        ax.plot(*on_paper(chosen * np.sign(chosen[:, 2:])), "o", label=label, **style)
    end = dipole() * np.sign(dipole()[2])
    ax.plot(*on_paper(end), "*", color="#0072B2", markersize=12, label="dipole", zorder=4)
    ax.set(theta_zero_location="N", theta_direction=-1, ylim=(0, 1))
    ax.set_yticks([np.sqrt(1 - np.sin(np.deg2rad(dip))) for dip in (60, 30, 0)], ["60°", "30°", ""])
    ax.set_xticks(np.deg2rad([0, 90, 180, 270]), ["N", "E", "S", "W"])
    ax.legend(loc="lower left", bbox_to_anchor=(-0.12, -0.05), fontsize=8)
    return figure


def report(idata: xr.DataTree) -> str:
    """Print how far the axis is from that of the dipole, and how much single flows scatter."""
    away = degrees_from_dipole(idata)
    low, high = np.quantile(away, [0.055, 0.945])
    axes = idata.posterior["axis"].values.reshape(-1, 3)
    axes = axes * np.sign(axes[:, 2:])
    mean = axes.mean(axis=0) / np.linalg.norm(axes.mean(axis=0))
    down = np.degrees(np.arcsin(axes[:, 2]))
    farther = np.mean(axes @ mean < np.abs(dipole() @ mean))
    # In the south the field points up today.
    is_reversed = make_data() @ mean > 0
    return (
        f"the axis dips by {down.mean():.1f} +- {down.std():.1f} degrees, the field of the dipole "
        f"by {np.degrees(np.arcsin(-dipole()[2])):.1f}\n"
        f"angle between them: {low:.1f} to {high:.1f} degrees; {100 * farther:.0f} per cent of the "
        f"draws are farther from their mean\n"
        f"{100 * is_reversed.mean():.0f} per cent of the flows point down: the field was reversed\n"
        f"{pmg.summary(idata).to_string()}"
    )


if __name__ == "__main__":
    main(__doc__, run=run, plot=plot, report=report)

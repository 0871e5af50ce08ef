#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Which way does a camera look: a rotation from 20,000 sightings of stars.

A catalogue gives the directions of stars in the sky, a camera the directions in which it sees them.
The rotation from one frame to the other is its attitude (Wahba's problem). Sightings scatter around
the true directions as a von Mises-Fisher distribution does, with a concentration that is not known.
The rotation is a point of the manifold of rotations, moved along its geodesics, so that there are
no angles to choose and no poles to avoid. At a known concentration the exact posterior of the
rotation is a matrix Fisher distribution, to which the draws are compared. The stars are generated.

Conclusion: the draws of the rotation have the spread of the exact posterior, and the concentration
is learned beside it. There is no pole at which a sampler could get stuck.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
import xarray as xr

from matplotlib.figure import Figure
from scipy.spatial.transform import Rotation
from shared import main, without_box

import pymc_geodesic as pmg

from pymc_geodesic.diagnostics import mean_frame

N_SIGHTINGS, BATCH_SIZE = 20_000, 200
# About half a degree, a cheap camera.
KAPPA = 12_000.0
# Half the width of the field of view is 20 degrees.
FIELD_OF_VIEW = np.radians(20)
ARCSECONDS = np.degrees(1) * 3600
ANGLES = "about the camera's axis", "across, horizontally", "across, vertically"


def make_data() -> tuple[np.ndarray, np.ndarray]:
    """Return the directions of stars in the catalogue, and those in which the camera sees them."""
    rng = np.random.default_rng(20261122)
    attitude = Rotation.random(rng=rng).as_matrix()
    height = rng.uniform(np.cos(FIELD_OF_VIEW), 1.0, N_SIGHTINGS)
    azimuth = rng.uniform(-np.pi, np.pi, N_SIGHTINGS)
    radius = np.sqrt(1 - height**2)
    # The first axis of the camera's frame is the one along which it looks.
    in_view = np.column_stack([height, radius * np.cos(azimuth), radius * np.sin(azimuth)])
    seen = in_view + rng.normal(size=in_view.shape) / np.sqrt(KAPPA)
    return in_view @ attitude, seen / np.linalg.norm(seen, axis=1, keepdims=True)


def build_model() -> pm.Model:
    """Write the model: a uniform rotation, which turns the catalogue into what is seen."""
    catalogue, seen = make_data()
    with pm.Model() as model:
        stars, sightings = pm.Minibatch(catalogue, seen, batch_size=BATCH_SIZE)
        attitude = pmg.UniformRotation("attitude")
        kappa = pm.LogNormal("kappa", np.log(1e4), 2.0)
        expected = stars @ attitude.T
        pmg.VonMisesFisher(
            "sighting", expected, kappa, observed=sightings, total_size=len(catalogue)
        )
    return model


def run(quick: bool = False) -> xr.DataTree:
    """Sample; `quick` makes a short run for tests."""
    draws, tune, chains = (100, 200, 2) if quick else (1000, 500, 4)
    catalogue, seen = make_data()
    with build_model() as model:
        return pmg.sample(
            draws,
            tune=tune,
            chains=chains,
            initvals={model["attitude"].name: nearest_rotation(seen.T @ catalogue)},
            random_seed=20261122,
            progressbar=False,
        )


def nearest_rotation(matrix: np.ndarray) -> np.ndarray:
    """Return the rotation of the largest inner product with a matrix."""
    left, _, right = np.linalg.svd(matrix)
    left[:, -1] *= np.linalg.det(left @ right)
    return left @ right


def turns(idata: xr.DataTree) -> np.ndarray:
    """Return the draws as rotations from their mean about the camera's axes, in arc seconds."""
    draws = idata.posterior["attitude"].values.reshape(-1, 3, 3)
    return Rotation.from_matrix(draws @ mean_frame(draws).T).as_rotvec() * ARCSECONDS


def exact_widths(kappa: float) -> np.ndarray:
    """Return the standard deviations of the turns under the matrix Fisher posterior."""
    catalogue, seen = make_data()
    matrix = kappa * seen.T @ catalogue
    # A turn by w changes the trace by -w' H w / 2; the posterior is narrow, so that it is normal.
    moments = matrix @ nearest_rotation(matrix).T
    curvature = np.trace(moments) * np.eye(3) - 0.5 * (moments + moments.T)
    return np.sqrt(np.diag(np.linalg.inv(curvature))) * ARCSECONDS


def plot(idata: xr.DataTree) -> Figure:
    """Draw the turns of the draws, with the exact widths."""
    found = turns(idata)
    exact = exact_widths(idata.posterior["kappa"].values.mean())
    figure, axes = plt.subplots(1, 3, figsize=(8.5, 3.0), layout="constrained")
    for ax, values, width, name in zip(axes, found.T, exact, ANGLES, strict=True):
        grid = np.linspace(-4 * width, 4 * width, 200)
        ax.hist(values, 40, density=True, color="C0", alpha=0.5)
        ax.plot(grid, np.exp(-0.5 * (grid / width) ** 2) / (width * np.sqrt(2 * np.pi)), "C1")
        ax.set(xlabel="turn, arc seconds", yticks=[])
        ax.set_title(name, fontsize=10)
    axes[0].set_ylabel("density")
    axes[0].legend(["exact", "draws"], frameon=False, fontsize=8)
    without_box(*axes)
    return figure


def report(idata: xr.DataTree) -> str:
    """Say how far the attitude is determined, beside the exact posterior."""
    kappa = idata.posterior["kappa"].values
    spread, exact = turns(idata).std(axis=0), exact_widths(kappa.mean())
    lines = [
        f"turn {name}: {here:.2f} arc seconds, exactly {there:.2f}"
        for name, here, there in zip(ANGLES, spread, exact, strict=True)
    ]
    return "\n".join([*lines, f"concentration {kappa.mean():.0f} +- {kappa.std():.0f}"])


if __name__ == "__main__":
    main(__doc__, run=run, plot=plot, report=report)

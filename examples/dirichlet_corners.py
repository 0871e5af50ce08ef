#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A Dirichlet distribution with nearly all of its mass in the corners of the simplex.

With concentrations of 0.01, a few entries of a draw have nearly all of the mass, and all other
entries are extremely small. In most coordinates, samplers get stuck, leave the simplex
or produce numbers that are not finite. The Riemannian Langevin dynamics of Patterson and Teh
(2013) avoids all three. Here its transitions are exact, in place of the Euler step.

Conclusion: a draw has a few entries that hold most of the mass, and hundreds that hold almost none.
Sums of squares agree with their exact mean, so the sampler visits the corners as often as it
should.
"""

from __future__ import annotations

import numpy as np
import pymc as pm
import xarray as xr

from matplotlib.figure import Figure
from shared import main

import pymc_geodesic as pmg

ALPHA, SIZE, STEP_SIZE = 0.01, 1000, 0.13


def build_model(alpha: float = ALPHA, size: int = SIZE) -> pm.Model:
    """Write the model; there is no data."""
    with pm.Model() as model:
        pm.Dirichlet("p", np.full(size, alpha))
    return model


def agreement(alpha: float = ALPHA, size: int = SIZE) -> float:
    """Return the exact mean of the sum of squares: the probability that two draws from p agree."""
    return (alpha + 1) / (size * alpha + 1)


def run(quick: bool = False) -> xr.DataTree:
    """Sample; `quick` makes a short run for tests."""
    draws, n_steps, size = (200, 20, 100) if quick else (500, 100, SIZE)
    with build_model(size=size) as model:
        step = pmg.SGRLD(model=model, step_size=STEP_SIZE, n_steps=n_steps)
        return pm.sample(
            draws,
            tune=100,
            chains=2,
            cores=1,
            step=step,
            random_seed=20261121,
            progressbar=False,
        )


def plot(idata: xr.DataTree) -> Figure:
    """Plot the largest entries of one draw, which lies at a corner or between a few corners."""
    last = idata.posterior["p"].values[0, -1]
    ax = pmg.plot_simplex(last[None], n_entries=20)
    ax.set_title(f"one draw: {ax.get_title()}", fontsize=10)
    return ax.figure


def report(idata: xr.DataTree) -> str:
    """Print the mean agreement with its exact value, and how close draws are to the boundary."""
    p = idata.posterior["p"]
    found = (p**2).sum("p_dim_0").mean().item()
    return (
        f"agreement {found:.4f} (exact {agreement():.4f}), smallest entry {p.min().item():.1e}, "
        f"sums of one within {abs(p.sum('p_dim_0') - 1).max().item():.1e}"
    )


if __name__ == "__main__":
    main(__doc__, run=run, plot=plot, report=report)

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A million rows on a laptop.

This is a logistic regression with a million outcomes and twenty covariates. A pass over all rows
takes as long as 3,000 batches of 300. The step first searches for the mode. Afterwards it uses
the differences of minibatch gradients from those at the mode, whose variance is 50,000 times
smaller. It finds step size, masses and friction while tuning. The posterior of so much data is
close to normal, so Laplace's approximation can check the result.

Conclusion: means and standard deviations agree with Laplace's approximation. The time before the
first draw is that of some passes over the data; a draw then costs the same for any number of rows.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
import xarray as xr

from matplotlib.figure import Figure
from scipy.special import expit
from scipy.stats import norm
from shared import main, without_box

import pymc_geodesic as pmg

N_COEFFICIENTS, BATCH_SIZE = 20, 300
N_ROWS = 1_000_000


def make_data(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Simulate independent covariates and outcomes, about half of which can be predicted."""
    rng = np.random.default_rng(1)
    design = rng.standard_normal((n_rows, N_COEFFICIENTS))
    weights = 1.5 * rng.standard_normal(N_COEFFICIENTS) / np.sqrt(N_COEFFICIENTS)
    return design, (rng.uniform(size=n_rows) < expit(design @ weights)).astype(float)


def build_model(design: np.ndarray, outcome: np.ndarray, *, minibatch: bool = True) -> pm.Model:
    """Write the model, for minibatches or for all rows."""
    with pm.Model() as model:
        beta = pm.Normal("beta", 0.0, 10.0, shape=N_COEFFICIENTS)
        x, y, size = design, outcome, {}
        if minibatch:
            x, y = pm.Minibatch(design, outcome, batch_size=BATCH_SIZE)
            size = {"total_size": len(design)}
        pm.Bernoulli("y", logit_p=x @ beta, observed=y, **size)
    return model


def laplace(design: np.ndarray, outcome: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the mode by Newton's method, and standard deviations from the curvature there."""
    beta = np.zeros(N_COEFFICIENTS)
    for _ in range(20):
        p = expit(design @ beta)
        gradient = design.T @ (outcome - p) - beta / 100
        precision = (design * (p * (1 - p))[:, None]).T @ design + np.eye(len(beta)) / 100
        beta = beta + np.linalg.solve(precision, gradient)
    return beta, np.sqrt(np.diag(np.linalg.inv(precision)))


def run(quick: bool = False) -> xr.DataTree:
    """Sample with all defaults; the group `laplace` holds Laplace's approximation."""
    n_rows, draws, tune, chains = (20_000, 200, 200, 1) if quick else (N_ROWS, 1000, 1000, 2)
    design, outcome = make_data(n_rows)
    with build_model(design, outcome):
        idata = pm.sample(
            draws,
            tune=tune,
            chains=chains,
            cores=1,
            step=pmg.SGNHT(),
            random_seed=20261121,
            progressbar=False,
        )
    mean, sd = (("beta_dim_0", values) for values in laplace(design, outcome))
    idata["laplace"] = xr.DataTree(xr.Dataset({"mean": mean, "sd": sd}))
    idata.attrs["n_rows"] = n_rows
    return idata


def plot(idata: xr.DataTree) -> Figure:
    """Plot one coefficient over Laplace's approximation, and the differences of all of them."""
    beta = idata.posterior["beta"]
    exact, exact_sd = idata["laplace"]["mean"].values, idata["laplace"]["sd"].values
    shift = (beta.mean(("chain", "draw")).values - exact) / exact_sd
    ratio = beta.std(("chain", "draw")).values / exact_sd
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    grid = np.linspace(exact[0] - 4 * exact_sd[0], exact[0] + 4 * exact_sd[0], 200)
    draws = beta.values[..., 0].ravel()
    left.hist(draws, bins=40, density=True, color="#0072B2", alpha=0.45, label="draws")
    left.plot(grid, norm.pdf(grid, exact[0], exact_sd[0]), color="#D55E00", label="Laplace")
    left.set(xlabel="first coefficient", yticks=[], title=f"{idata.attrs['n_rows']:,} rows")
    left.locator_params(axis="x", nbins=5)
    left.legend(frameon=False, loc="upper left", fontsize=9)
    at = np.arange(1, len(exact) + 1)
    right.axhspan(-0.1, 0.1, color="0.92")
    right.plot(at, shift, "o", color="#0072B2", label="mean, in sd")
    right.plot(at, ratio - 1, "s", color="#009E73", mfc="none", label="sd, relative")
    right.set(xlabel="coefficient", ylabel="difference from Laplace", ylim=(-0.5, 0.5))
    right.set_xticks(range(5, len(exact) + 1, 5))
    right.legend(frameon=False, loc="upper left")
    without_box(left, right)
    return figure


def report(idata: xr.DataTree) -> str:
    """Print a comparison with Laplace's approximation, and the sampling time."""
    beta = idata.posterior["beta"]
    sd = idata["laplace"]["sd"].values
    shift = np.abs(beta.mean(("chain", "draw")).values - idata["laplace"]["mean"].values) / sd
    ratio = beta.std(("chain", "draw")).values / sd
    return (
        f"{idata.attrs['n_rows']:,} rows: means within {shift.max():.2f} sd of Laplace's, ratios "
        f"of sd {ratio.min():.2f} to {ratio.max():.2f}, "
        f"{idata.posterior.attrs['sampling_time']:.1f} s to sample"
    )


if __name__ == "__main__":
    main(__doc__, run=run, plot=plot, report=report)

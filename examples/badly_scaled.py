#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Coefficients in different units, and a mass that Monte Carlo EM learns from minibatches.

Three covariates are measured in units that differ by a factor of 25, and so do the standard
deviations of their coefficients. One step size and one thermostat must serve all of them. Without
masses, the coefficient with the noisiest gradient is three times too hot, and those with low noise
are too cold. Monte Carlo EM moves the mass towards the mean of the squared momenta. It converges
where all temperatures are equal: at masses proportional to the variance of the gradient noise. In a
model that fits its data, this variance is proportional to the curvature of the posterior, so one
step size suits all coefficients.

Conclusion: with learned masses all three standard deviations are right; without, one is far too
large and one far too small. Steps without a `step_size` find such masses themselves.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
import xarray as xr

from matplotlib.figure import Figure
from scipy.stats import norm
from shared import main, without_box

import pymc_geodesic as pmg

UNITS = np.array([0.2, 1.0, 5.0])
NAMES = ["small units", "middle", "large units"]
N_ROWS, BATCH_SIZE = 10_000, 100
STEP_SIZE, DIFFUSION = 1e-4, 10.0


def make_data(seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Draw covariates in their units, and outcomes with unit noise."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((N_ROWS, len(UNITS))) * UNITS
    return x, x @ (0.3 / UNITS) + rng.standard_normal(N_ROWS)


def exact_posterior() -> tuple[np.ndarray, np.ndarray]:
    """Compute the mean and standard deviation of each coefficient in closed form."""
    x, y = make_data()
    covariance = np.linalg.inv(x.T @ x + np.eye(len(UNITS)) / 100)
    return covariance @ x.T @ y, np.sqrt(np.diag(covariance))


def build_model() -> pm.Model:
    """Write the linear regression, started at zero."""
    x, y = make_data()
    with pm.Model(coords={"covariate": NAMES}) as model:
        beta = pm.Normal("beta", 0, 10, dims="covariate")
        batch_x, batch_y = pm.Minibatch(x, y, batch_size=BATCH_SIZE)
        pm.Normal("y", batch_x @ beta, 1.0, observed=batch_y, total_size=N_ROWS)
    return model


def sample(mass: pmg.MonteCarloEM | None, quick: bool) -> xr.DataTree:
    """Sample with or without a mass."""
    draws, tune, chains = (300, 600, 1) if quick else (2000, 3000, 2)
    with build_model():
        step = pmg.SGNHT(step_size=STEP_SIZE, diffusion=DIFFUSION, mass=mass, n_steps=40)
        return pm.sample(
            draws,
            tune=tune,
            chains=chains,
            cores=1,
            step=step,
            random_seed=20261121,
            progressbar=False,
        )


def run(quick: bool = False) -> xr.DataTree:
    """Sample with a learned mass; runs without mass are in the groups ending in `without_mass`."""
    idata = sample(pmg.MonteCarloEM(kind="diag"), quick)
    without = sample(None, quick)
    for group in ("posterior", "sample_stats"):
        idata[f"{group}_without_mass"] = without[group]
    return idata


def deviations(idata: xr.DataTree, group: str = "posterior") -> np.ndarray:
    """Standardise draws of the coefficients by the exact means and standard deviations."""
    mean, sd = exact_posterior()
    return (idata[group]["beta"].values.reshape(-1, len(UNITS)) - mean) / sd


def plot(idata: xr.DataTree) -> Figure:
    """Plot both samples of each coefficient over its exact posterior."""
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.4), sharey=True, layout="constrained")
    samples = {
        "no mass": (deviations(idata, "posterior_without_mass"), "#D55E00"),
        "Monte Carlo EM": (deviations(idata), "#0072B2"),
    }
    grid = np.linspace(-6, 6, 400)
    for ax, i in zip(axes, reversed(range(len(NAMES))), strict=True):
        for label, (values, color) in samples.items():
            bins = {"bins": 48, "range": (-6, 6), "density": True, "color": color}
            ax.hist(values[:, i], histtype="stepfilled", alpha=0.45, label=label, **bins)
        ax.plot(grid, norm.pdf(grid), color="black", linewidth=1.5, label="exact")
        ax.set(title=NAMES[i], xlabel="coefficient, in exact sd", ylim=(0, 0.9), yticks=[])
    axes[0].legend(frameon=False, fontsize=9, loc="upper left")
    without_box(*axes)
    return figure


def report(idata: xr.DataTree) -> str:
    """Compare standard deviations with the exact ones."""
    learned, plain = deviations(idata).std(axis=0), deviations(idata, "posterior_without_mass")
    with np.printoptions(precision=2, suppress=True):
        return (
            f"standard deviations over the exact ones: {learned} with Monte Carlo EM, "
            f"{plain.std(axis=0)} without mass"
        )


if __name__ == "__main__":
    main(__doc__, run=run, plot=plot, report=report)

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A double well, kept at its temperature by a thermostat.

The energy of one variable has two wells. Its gradients have noise of variance 2 / step_size, which
the sampler does not know. A fixed friction is right only for one level of noise. The thermostat
starts with almost no friction and settles where friction and noise balance. This is the
experiment of Ding et al. (2014), section 4.

Conclusion: moments and friction agree with their exact values. With the thermostat no friction has
to be chosen, whatever the noise.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
import xarray as xr

from gradient_noise import add_gradient_noise, gradient_noise_rows
from matplotlib.figure import Figure
from shared import main

import pymc_geodesic as pmg

STEP_SIZE, B = 0.01, 1.0
DIFFUSION = 1e-3  # zero in the paper; the package asks for a positive number
GRID = np.linspace(-8, 8, 200_001)


def energy(t):
    """Potential energy, with wells at -3 and 2."""
    return (t + 4) * (t + 1) * (t - 1) * (t - 3) / 14 + 0.5


def truth() -> tuple[float, float]:
    """Compute mean and variance by a sum over a fine grid."""
    p = np.exp(-energy(GRID))
    p /= p.sum()
    mean = p @ GRID
    return mean, p @ (GRID - mean) ** 2


def build_model(step_size: float = STEP_SIZE) -> pm.Model:
    """Noise N(0, 2 B h) on ``h dU`` per transition, hence of variance 2 B / h on ``dU``."""
    with pm.Model() as model:
        t = pm.Flat("t", initval=-2.0)
        pm.Potential("target", -energy(t))
        rows = gradient_noise_rows(100_000, np.array([2 * B / step_size]), seed=1)[:, 0]
        add_gradient_noise("noise", t, rows)
    return model


def run(quick: bool = False) -> xr.DataTree:
    """Sample; `quick` makes a short run for tests."""
    # A chain changes wells once in some thousands of transitions.
    draws, tune, chains, n_steps = (300, 200, 2, 1000) if quick else (5000, 500, 4, 200)
    with build_model():
        step = pmg.SGNHT(step_size=STEP_SIZE, diffusion=DIFFUSION, n_steps=n_steps)
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
    """Plot the density of the draws over the exact one, and below it the thermostat."""
    figure = plt.figure(figsize=(8, 7.5), layout="constrained")
    top, below = figure.subfigures(2, 1, height_ratios=[1, 1.3])
    ax = top.subplots()
    density = np.exp(-energy(GRID))
    density /= density.sum() * (GRID[1] - GRID[0])
    ax.hist(idata.posterior["t"].values.ravel(), bins=80, density=True, color="0.8", label="draws")
    ax.plot(GRID, density, color="#D55E00", label="exact")
    ax.set(xlim=(-6, 5), xlabel="t", ylabel="density")
    ax.legend(frameon=False)
    axes = below.subplots(3, 1, sharex=True)
    pmg.plot_thermostat(idata.isel(draw=slice(-500, None)), axes=axes)
    return figure


def report(idata: xr.DataTree) -> str:
    """Print the moments and the thermostat with their exact and expected values."""
    t, (mean, variance) = idata.posterior["t"], truth()
    return (
        f"mean {t.mean().item():.3f} (exact {mean:.3f}), variance {t.var().item():.3f} (exact "
        f"{variance:.3f}), thermostat {idata.sample_stats['thermostat'].mean().item():.3f} "
        f"(expected {B + DIFFUSION:.3f})"
    )


if __name__ == "__main__":
    main(__doc__, run=run, plot=plot, report=report)

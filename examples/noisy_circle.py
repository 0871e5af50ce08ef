#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A direction in the plane, sampled with huge gradient noise.

The density on the circle has two modes, at 60 and -60 degrees, the second twice as high. Every
gradient has noise of standard deviation 32, six times the largest gradient, and the sampler does
not know this noise. Its thermostat finds the friction that balances the heat of the noise:
A + step_size * variance / 2, here 10 + 5 = 15. This is the experiment of Liu, Zhu and Song (2016),
section 5.1.

Conclusion: the friction settles where theory says that it balances the noise, and the draws follow
both modes. The mean direction is not shown: it lies between the modes, where there are few draws.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pymc as pm
import xarray as xr

from gradient_noise import add_gradient_noise, gradient_noise_rows
from matplotlib.figure import Figure
from shared import main

import pymc_geodesic as pmg

STEP_SIZE, DIFFUSION, NOISE = 0.01, 10.0, 1000.0
MODES = np.array([[np.cos(np.pi / 3), np.sin(np.pi / 3)], [np.cos(np.pi / 3), -np.sin(np.pi / 3)]])


def log_density(x, log_add_exp):
    """Compute the log density of points of the circle, up to a constant, for tensors or arrays."""
    return log_add_exp(5 * x @ MODES[0], np.log(2) + 5 * x @ MODES[1])


def build_model(n_rows: int = 100_000) -> pm.Model:
    """Write the density, and the zero-mean noise that each minibatch of one row adds."""
    with pm.Model() as model:
        x = pmg.SphericalUniform("x", shape=2)
        pm.Potential("target", log_density(x, pm.math.logaddexp))
        rows = gradient_noise_rows(n_rows, np.full(2, NOISE), seed=1)
        add_gradient_noise("noise", x, rows)
    return model


def run(quick: bool = False) -> xr.DataTree:
    """Sample; `quick` makes a short run for tests."""
    draws, tune, chains, n_steps = (200, 100, 2, 50) if quick else (2500, 500, 4, 100)
    with build_model():
        step = pmg.gSGNHT(step_size=STEP_SIZE, diffusion=DIFFUSION, n_steps=n_steps)
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
    """Plot the density of the draws over that of the target."""
    ax = pmg.plot_sphere(
        idata, cap=None, log_density=partial(log_density, log_add_exp=np.logaddexp)
    )
    return ax.figure


def report(idata: xr.DataTree) -> str:
    """Print the thermostat's friction and its theoretical value."""
    stats = idata.sample_stats.mean()
    expected = DIFFUSION + 0.5 * STEP_SIZE * NOISE
    return (
        f"thermostat {stats['thermostat'].item():.2f} (expected {expected:.2f}), "
        f"kinetic temperature {stats['kinetic_temperature'].item():.3f} (expected 1)"
    )


if __name__ == "__main__":
    main(__doc__, run=run, plot=plot, report=report)

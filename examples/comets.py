#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Two clusters of comet orbits.

Every comet's orbit lies in a plane, and the plane's normal is a point on the sphere. The normals of
short-period comets lie near the pole of the ecliptic: these comets orbit the Sun as the planets do.
The other normals are spread over the sphere, but not uniformly. A mixture of two von Mises-Fisher
distributions, fitted to minibatches of the 3,798 normals of the JPL small-body database, finds both
groups. Its unit vectors, probability vector and two positive numbers are sampled together, each on
its own manifold.
"""

from __future__ import annotations

import sys

from functools import partial
from importlib.util import find_spec

import arviz as az
import numpy as np
import pymc as pm
import xarray as xr

from matplotlib.figure import Figure
from scipy.special import logsumexp
from shared import main

import pymc_geodesic as pmg

from pymc_geodesic.datasets import load_comets
from pymc_geodesic.plots import to_longitude_latitude

CLUSTERS = ["near the ecliptic", "the rest"]
BATCH_SIZE = 500


def build_model(normals: np.ndarray) -> pm.Model:
    """Write the mixture; by its prior, the first cluster is the one near the ecliptic."""
    with pm.Model(coords={"cluster": CLUSTERS, "axis": ["x", "y", "z"]}) as model:
        batch = pm.Minibatch(normals, batch_size=BATCH_SIZE)
        weight = pm.Dirichlet("weight", [2.0, 2.0], dims="cluster")
        mu = pmg.VonMisesFisher("mu", mu=[0, 0, 1], kappa=[10.0, 0.0], dims=("cluster", "axis"))
        kappa = pm.HalfNormal("kappa", 20.0, dims="cluster")
        pm.Mixture(
            "normal",
            w=weight,
            comp_dists=pmg.VonMisesFisher.dist(mu=mu, kappa=kappa),
            observed=batch,
            total_size=len(normals),
        )
    return model


def run(quick: bool = False, progressbar: bool = False) -> xr.DataTree:
    """Fit the mixture; `quick` makes a short run for tests."""
    draws, tune, chains = (50, 200, 1) if quick else (1000, 500, 4)
    normals = load_comets()
    starts = pmg.initial_directions(normals, len(CLUSTERS), random_seed=1)
    with build_model(normals):
        return pmg.sample(
            draws,
            tune=tune,
            chains=chains,
            # The clusters differ in size, so their directions differ in gradient noise.
            step=partial(pmg.gSGNHT, thermostat="per_point", n_steps=20),
            backend="jax" if find_spec("jax") else None,
            random_seed=20261121,
            # The northern cluster is first, as in the prior.
            initvals={"mu": starts[np.argsort(-starts[:, 2])], "kappa": [20.0, 2.0]},
            progressbar=progressbar,
        )


def directions(idata: xr.DataTree) -> xr.Dataset:
    """Return readable parameters, with mean directions as longitude and latitude."""
    posterior = idata.posterior.to_dataset()
    longitude, latitude = to_longitude_latitude(posterior["mu"].values)
    dims = posterior["kappa"].dims
    return posterior[["weight", "kappa"]].assign(
        longitude=(dims, longitude), latitude=(dims, latitude)
    )


def mixture_log_density(idata: xr.DataTree):
    """Compute the log density of the mixture at the posterior means of its parameters."""
    means = idata.posterior.mean(("chain", "draw"))
    mu = means["mu"].values / np.linalg.norm(means["mu"].values, axis=-1, keepdims=True)
    kappa, weight = means["kappa"].values, means["weight"].values
    # On S^2 the normaliser is kappa / (2 pi (e^kappa - e^-kappa)).
    log_c = np.log(kappa) - np.log(2 * np.pi) - kappa - np.log1p(-np.exp(-2 * kappa))
    return lambda x: logsumexp(np.log(weight) + log_c + kappa * (x @ mu.T), axis=-1)


def plot(idata: xr.DataTree) -> Figure:
    """Plot the data, the posterior of both directions and the fitted density on the sphere."""
    mu = idata.posterior["mu"]
    ax = pmg.plot_sphere(
        data=load_comets(),
        draws={name: mu.sel(cluster=name).values for name in CLUSTERS},
        log_density=mixture_log_density(idata),
        center=(-80, 15),
        tilt=90,
    )
    return ax.figure


def report(idata: xr.DataTree) -> str:
    """Print a summary of the parameters and the temperatures of the chains."""
    temperature = idata.sample_stats["kinetic_temperature"].mean().item()
    return f"{az.summary(directions(idata))}\nkinetic temperature {temperature:.3f} (expected 1)"


if __name__ == "__main__":
    main(__doc__, run=partial(run, progressbar=sys.stdout.isatty()), plot=plot, report=report)

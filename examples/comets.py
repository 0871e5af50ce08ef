#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Three clusters of comet orbits.

Every comet's orbit lies in a plane, and the plane's normal is a point on the sphere. Orbits of
short-period comets lie close to the planets' plane, so that their normals are near the pole of the
ecliptic. A fifth of all known comets are pieces of a single one that broke up near the Sun, the
Kreutz sungrazers, and share its plane. The others come from everywhere, with a preference. A
mixture of three von Mises-Fisher distributions is fitted to minibatches of the 3,798 normals of the
JPL small-body database: unit vectors, a probability vector and positive numbers, sampled together,
each on its own manifold. How many normals it predicts around each direction is compared with how
many there are; with two clusters only, it would miss the sungrazers.

Conclusion: three clusters predict the counts around the named directions; the sungrazers are one of
them. Unit vectors, a probability vector and positive numbers need one step and no coordinates.
"""

from __future__ import annotations

import sys

from functools import partial

import numpy as np
import pymc as pm
import xarray as xr

from matplotlib.figure import Figure
from scipy.special import logsumexp
from shared import main

import pymc_geodesic as pmg

from pymc_geodesic.datasets import load_comets

CLUSTERS = ["near the ecliptic", "sungrazers", "the rest"]
# Of the great comets of 1843 and 1882, which are sungrazers.
INCLINATION, NODE = np.radians(144), np.radians(4)
# Normals of the ecliptic, and of the plane of these comets.
NAMED = np.array(
    [
        [0.0, 0.0, 1.0],
        np.array([np.sin(NODE), -np.cos(NODE), 1 / np.tan(INCLINATION)]) * np.sin(INCLINATION),
    ]
)
BATCH_SIZE = 500
# Radius of the caps in which normals are counted.
CAP = np.radians(10)


def build_model(normals: np.ndarray) -> pm.Model:
    """Write the mixture; the priors of two directions name their clusters."""
    anywhere = [1.0, 0.0, 0.0]
    with pm.Model(coords={"cluster": CLUSTERS, "axis": ["x", "y", "z"]}) as model:
        batch = pm.Minibatch(normals, batch_size=BATCH_SIZE)
        weight = pm.Dirichlet("weight", [2.0, 2.0, 2.0], dims="cluster")
        mu = pmg.VonMisesFisher(
            "mu", mu=[*NAMED, anywhere], kappa=[10.0, 10.0, 0.0], dims=("cluster", "axis")
        )
        kappa = pm.LogNormal("kappa", 3.0, 2.0, dims="cluster")
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
    ecliptic, sungrazers = (starts @ NAMED.T).argmax(axis=0)
    rest = 3 - ecliptic - sungrazers
    with build_model(normals):
        return pmg.sample(
            draws,
            tune=tune,
            chains=chains,
            random_seed=20261121,
            # As the priors name them.
            initvals={"mu": starts[[ecliptic, sungrazers, rest]], "kappa": [20.0, 200.0, 1.0]},
            progressbar=progressbar,
        )


def directions(idata: xr.DataTree) -> xr.Dataset:
    """Return readable parameters, with mean directions as longitude and latitude."""
    posterior = idata.posterior.to_dataset()
    longitude, latitude = pmg.to_longitude_latitude(posterior["mu"].values)
    dims = posterior["kappa"].dims
    return posterior[["weight", "kappa"]].assign(
        longitude=(dims, longitude), latitude=(dims, latitude)
    )


def log_density(parameters: xr.Dataset, x: np.ndarray) -> np.ndarray:
    """Compute the log density of the mixture for unit vectors in the rows of x."""
    mu, kappa, weight = (parameters[name].values for name in ("mu", "kappa", "weight"))
    mu = mu / np.linalg.norm(mu, axis=-1, keepdims=True)
    # On S^2 the normaliser is kappa / (2 pi (e^kappa - e^-kappa)).
    log_c = np.log(kappa) - np.log(2 * np.pi) - kappa - np.log1p(-np.exp(-2 * kappa))
    return logsumexp(np.log(weight) + log_c + kappa * (x @ mu.T), axis=-1)


def counts(idata: xr.DataTree) -> list[tuple[str, int, float, float]]:
    """Count normals within ten degrees of two directions, and predict the counts.

    Returns
    -------
    list of tuple
        Name, the number of normals, and the mean and the standard deviation of the number in other
        data of the same size from the posterior.
    """
    normals, rng = load_comets(), np.random.default_rng(1)
    posterior = idata.posterior.to_dataset().stack(sample=("chain", "draw"))
    chosen = np.linspace(0, posterior.sizes["sample"] - 1, 50).astype(int)
    thinned = posterior.transpose("sample", ...).isel(sample=chosen)
    found = []
    for name, direction in zip(CLUSTERS, NAMED, strict=False):
        height = rng.uniform(np.cos(CAP), 1.0, 5000)
        at = around(direction, height, rng)
        area = 2 * np.pi * (1 - np.cos(CAP))
        samples = (thinned.isel(sample=i) for i in range(thinned.sizes["sample"]))
        shares = np.array([area * np.exp(log_density(one, at)).mean() for one in samples])
        n_there = int((normals @ direction > np.cos(CAP)).sum())
        expected = len(normals) * shares
        variance = (expected * (1 - shares)).mean() + expected.var()
        found.append((name, n_there, expected.mean(), np.sqrt(variance)))
    return found


def around(direction: np.ndarray, height: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw unit vectors whose inner products with a direction are given."""
    across = rng.normal(size=(len(height), 3))
    across -= np.outer(across @ direction, direction)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    return height[:, None] * direction + np.sqrt(1 - height**2)[:, None] * across


def plot(idata: xr.DataTree) -> Figure:
    """Plot the data, the posterior of both directions and the fitted density on the sphere."""
    mu = idata.posterior["mu"]
    ax = pmg.plot_sphere(
        data=load_comets(),
        draws={name: mu.sel(cluster=name).values for name in CLUSTERS},
        log_density=partial(log_density, idata.posterior.mean(("chain", "draw"))),
        center=(-80, 15),
        tilt=90,
    )
    return ax.figure


def report(idata: xr.DataTree) -> str:
    """Summarise the parameters and the temperature of the chains, and check predicted counts."""
    temperature = idata.sample_stats["kinetic_temperature"].mean().item()
    lines = [
        f"normals within 10 degrees of '{name}': {there}, predicted {mean:.0f} +- {sd:.0f}"
        for name, there, mean, sd in counts(idata)
    ]
    summary = pmg.summary(directions(idata))[["mean", "sd", "ess_bulk", "r_hat"]].to_string()
    return "\n".join([summary, f"kinetic temperature {temperature:.3f} (expected 1)", *lines])


if __name__ == "__main__":
    main(__doc__, run=partial(run, progressbar=sys.stdout.isatty()), plot=plot, report=report)

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The angles of a protein's backbone: a mixture on the torus.

Two angles at each residue, phi and psi, describe how the backbone of a protein folds. They form
clusters: helices, sheets, and turns with the other hand. Clusters of sheets lie across the line at
180 degrees, where an angle that is a plain number would meet a wall, and the angles within a
cluster depend on each other. A mixture of bivariate von Mises distributions (the sine model) has
both, and every angle is a point of a circle. The data are 490 residues of triosephosphate isomerase
(PDB 8TIM) if they are there, else generated ones.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
import xarray as xr

from matplotlib.figure import Figure
from scipy.special import logsumexp
from shared import data_file, main

import pymc_geodesic as pmg

from pymc_geodesic.distributions.bivariate_von_mises import sine_model_log_normalizer

FOLDS = ["helix", "sheet", "left-handed"]
# Where textbooks see them, in degrees.
TYPICAL = np.radians([[-63.0, -43.0], [-115.0, 135.0], [60.0, 40.0]])
# Of the stand-in.
SHARES, CONCENTRATIONS, DEPENDENCE = (
    [0.5, 0.42, 0.08],
    [[40.0, 30.0], [8.0, 8.0], [20.0, 10.0]],
    -3.0,
)
BATCH_SIZE = 100


def make_data(path: str | Path | None = None) -> np.ndarray:
    """Return pairs of angles in radians, one per row."""
    file = data_file("sphere", "tim8_dihedral.npz", path=path)
    if file is None:
        rng = np.random.default_rng(1)
        folds = rng.choice(len(FOLDS), size=490, p=SHARES)
        mu, kappa = TYPICAL[folds], np.array(CONCENTRATIONS)[folds]
        pairs = pmg.BivariateVonMises.dist(mu, kappa, np.full(len(mu), DEPENDENCE))
        return pm.draw(pairs, random_seed=1)
    with np.load(file) as angles:
        pairs = np.column_stack([angles["phi"], angles["psi"]])
    return (pairs + np.pi) % (2 * np.pi) - np.pi


def build_model(path: str | Path | None = None) -> pm.Model:
    """Write the mixture; the priors of the means name the clusters."""
    pairs = make_data(path)
    with pm.Model(coords={"fold": FOLDS, "angle": ["phi", "psi"]}) as model:
        batch = pm.Minibatch(pairs, batch_size=BATCH_SIZE)
        weight = pm.Dirichlet("weight", np.ones(len(FOLDS)), dims="fold")
        mu = pm.VonMises("mu", TYPICAL, 4.0, dims=("fold", "angle"))
        kappa = pm.Gamma("kappa", 2.0, 0.05, dims=("fold", "angle"))
        lam = pm.Normal("lam", 0.0, 10.0, dims="fold")
        pm.Mixture(
            "residue",
            w=weight,
            comp_dists=pmg.BivariateVonMises.dist(mu, kappa, lam),
            observed=batch,
            total_size=len(pairs),
        )
    return model


def run(
    quick: bool = False, path: str | Path | None = None, backend: str | None = None
) -> xr.DataTree:
    """Sample; `quick` makes a short run for tests."""
    draws, tune, chains = (100, 200, 2) if quick else (1000, 1000, 4)
    with build_model(path):
        return pmg.sample(
            draws,
            tune=tune,
            chains=chains,
            backend=backend,
            initvals={"mu": TYPICAL, "kappa": np.full((len(FOLDS), 2), 10.0)},
            random_seed=20261122,
            progressbar=False,
        )


def mean_directions(angles: xr.DataArray) -> np.ndarray:
    """Return the mean directions of draws of angles."""
    axes = (0, 1)
    return np.arctan2(np.sin(angles.values).mean(axes), np.cos(angles.values).mean(axes))


def mixture_log_density(idata: xr.DataTree, pairs: np.ndarray) -> np.ndarray:
    """Log density of the mixture at the posterior means, of angles of shape (m, 2)."""
    posterior = idata.posterior
    weight, kappa, lam = (
        posterior[name].values.mean((0, 1)) for name in ("weight", "kappa", "lam")
    )
    angle = pairs[:, None] - mean_directions(posterior["mu"])
    exponent = (kappa * np.cos(angle)).sum(axis=-1) + lam * np.sin(angle).prod(axis=-1)
    constant = sine_model_log_normalizer(*kappa.T, lam).eval()
    return logsumexp(np.log(weight) + exponent + constant, axis=-1)


def plot(idata: xr.DataTree, path: str | Path | None = None) -> Figure:
    """Draw the residues on the fitted density: a Ramachandran plot."""
    ax = pmg.plot_torus(make_data(path), log_density=partial(mixture_log_density, idata))
    ax.set(xlabel="phi", ylabel="psi")
    for name, (phi, psi) in zip(FOLDS, mean_directions(idata.posterior["mu"]), strict=True):
        ax.annotate(name, (phi, psi), ha="center", va="center", fontsize=9, weight="bold")
    return plt.gcf()


def report(idata: xr.DataTree, path: str | Path | None = None) -> str:
    """Summarise the clusters."""
    posterior = idata.posterior
    centers = np.degrees(mean_directions(posterior["mu"])).round(1)
    weight = posterior["weight"]
    shares, errors = weight.mean(("chain", "draw")).values, weight.std(("chain", "draw")).values
    lines = [
        f"{name}: {share:.3f} +- {error:.3f} of the residues, around phi {phi}, psi {psi} degrees"
        for name, share, error, (phi, psi) in zip(FOLDS, shares, errors, centers, strict=True)
    ]
    return "\n".join([f"{len(make_data(path))} residues", *lines])


if __name__ == "__main__":
    main(__doc__, run=run, plot=plot, report=report, takes_path=True)

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Ancestral populations from genotypes.

Individuals descend from a few populations, each in its own proportions. Of every genetic marker an
individual carries two copies, and each copy has an allele from one of these populations. The
frequencies of the alleles in each population are points of a simplex. The shares of an individual
are points of another one; they belong to the individual and are drawn anew with each batch. This is
the model of the program structure (Pritchard, Stephens and Donnelly, 2000), which Patterson and Teh
(2013) name as an application of Riemannian Langevin dynamics.

The 300 individuals are generated from three populations, with 20 markers of six alleles, and some
of the copies are missing.

Conclusion: the frequencies agree with Gibbs sampling of the origin of every copy, in their means
and in their deviations. A larger step would move farther, and the noise of the batches would widen
the draws.
"""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr

from gibbs import agreement, choose, draw_rows, plot_agreement
from matplotlib.figure import Figure
from scipy.cluster.vq import kmeans2
from shared import main

import pymc_geodesic as pmg

N_INDIVIDUALS, N_MARKERS, N_ALLELES, N_POPULATIONS = 300, 20, 6, 3
# Shares of individuals, the distance F between populations, and the share of missing copies.
ALPHA, DISTANCE, MISSING = 0.5, 0.1, 0.04
BATCH_SIZE, STEP_SIZE = 100, 3e-3


def make_data() -> np.ndarray:
    """Generate the alleles of ``(individual, marker, copy)``, -1 where one is missing."""
    rng = np.random.default_rng(1)
    ancestors = rng.dirichlet(np.ones(N_ALLELES), size=N_MARKERS)
    spread = (1 - DISTANCE) / DISTANCE
    frequencies = draw_rows(rng, np.tile(spread * ancestors, (N_POPULATIONS, 1, 1)))
    shares = rng.dirichlet(np.full(N_POPULATIONS, ALPHA), size=N_INDIVIDUALS)
    mixed = np.einsum("ik,kma->ima", shares, frequencies)
    alleles = choose(rng, np.stack([mixed, mixed], axis=2))
    return np.where(rng.random(alleles.shape) < MISSING, -1, alleles).astype("int32")


def start(alleles: np.ndarray) -> np.ndarray:
    """Return the frequencies in clusters of individuals, by principal components."""
    counts = (alleles[..., None] == np.arange(N_ALLELES)).sum(axis=2)
    flat = counts.reshape(len(counts), -1) - counts.reshape(len(counts), -1).mean(axis=0)
    axes = np.linalg.svd(flat, full_matrices=False)[2][: N_POPULATIONS - 1]
    _, labels = kmeans2(flat @ axes.T, N_POPULATIONS, minit="++", seed=1)
    found = 1.0 + np.array([counts[labels == k].sum(axis=0) for k in range(N_POPULATIONS)])
    return found / found.sum(axis=-1, keepdims=True)


def log_density(alleles, is_seen, shares, frequencies):
    """Log density of the alleles of individuals, with the origin of every copy summed out."""
    # PyMC gives the frequencies an axis of individuals.
    of_populations = frequencies[0][:, np.arange(N_MARKERS)[:, None], alleles * is_seen]
    mixed = (shares.T[..., None, None] * of_populations).sum(axis=0)
    return (is_seen * pt.log(mixed)).sum(axis=(-2, -1))


def build_model() -> pm.Model:
    """Write the model; `shares` belong to the individuals of a batch."""
    data = make_data()
    with pm.Model() as model:
        alleles = pm.Minibatch(data, batch_size=BATCH_SIZE)
        frequencies = pm.Dirichlet(
            "frequencies",
            np.ones(N_ALLELES),
            shape=(N_POPULATIONS, N_MARKERS, N_ALLELES),
            initval=start(data),
        )
        shape = BATCH_SIZE, N_POPULATIONS
        shares = pm.Dirichlet("shares", np.full(N_POPULATIONS, ALPHA), shape=shape)
        pm.CustomDist(
            "alleles",
            *(pt.ge(alleles, 0).astype("int8"), shares, frequencies),
            logp=log_density,
            signature="(m,c),(k),(k,m,a)->(m,c)",
            dtype="int32",
            observed=alleles,
            total_size=N_INDIVIDUALS,
        )
    return model


def sample_exactly(n_sweeps: int) -> np.ndarray:
    """Sample origins, shares and frequencies in turn, with all individuals, after a tenth."""
    rng, data = np.random.default_rng(2), make_data()
    individual, marker, copy = np.nonzero(data >= 0)
    allele, frequencies = data[individual, marker, copy], start(data)
    shares, kept = np.full((N_INDIVIDUALS, N_POPULATIONS), 1 / N_POPULATIONS), []
    for _ in range(n_sweeps):
        origin = choose(rng, shares[individual] * frequencies[:, marker, allele].T)
        counts = np.full_like(shares, ALPHA)
        np.add.at(counts, (individual, origin), 1)
        shares = draw_rows(rng, counts)
        counts = np.ones_like(frequencies)
        np.add.at(counts, (origin, marker, allele), 1)
        frequencies = draw_rows(rng, counts)
        kept.append(frequencies)
    return np.array(kept[n_sweeps // 10 :])[None]


def run(quick: bool = False) -> xr.DataTree:
    """Sample by minibatches, and by Gibbs; `quick` makes a short run for tests."""
    draws, tune, n_steps, sweeps = (100, 30, 20, 2000) if quick else (500, 100, 40, 5000)
    with build_model():
        step = pmg.SGRLD(
            "frequencies",
            step_size=STEP_SIZE,
            dynamics="euler",
            n_steps=n_steps,
            local=pmg.LocalGMC("shares", draws=5, tune=8, n_leapfrog=4),
        )
        idata = pm.sample(
            draws,
            tune=tune,
            chains=1,
            step=step,
            random_seed=1,
            progressbar=False,
            compute_convergence_checks=False,
            var_names=["frequencies"],
        )
    exact = sample_exactly(sweeps)
    idata["gibbs"] = xr.Dataset({"frequencies": (idata.posterior["frequencies"].dims, exact)})
    return idata


def plot(idata: xr.DataTree) -> Figure:
    """Plot means and deviations of all frequencies beside those by Gibbs sampling."""
    return plot_agreement(idata, ["frequencies"])


def report(idata: xr.DataTree) -> str:
    """Print how far the frequencies are from Gibbs sampling, and the shares' acceptance."""
    accepted = float(idata.sample_stats["local_acceptance"].mean())
    return f"{agreement(idata, ['frequencies'])}\nshares accepted {accepted:.2f}"


if __name__ == "__main__":
    main(__doc__, run=run, plot=plot, report=report)

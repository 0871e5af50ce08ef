#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Clusters of text embeddings.

An embedding is a vector whose direction says what a text is about; its length says little. Here
documents become unit vectors with ten entries, by a singular value decomposition of their tf-idf
weights, and a mixture of von Mises-Fisher distributions groups them. Each cluster has a direction,
a concentration and a weight, so that the model says how sure it is of each document.

The posts are those of six of the 20 Newsgroups, from ``20news/20news.npz`` in the folder named by
the environment variable PYMC_GEODESIC_DATA, or from the given path. Without it, documents are
generated from six topics. The newsgroup of a post is not used, but compared with its cluster.
Embeddings of a neural network can take their place: divide each by its length.

Conclusion: five clusters each consist of the posts of a single newsgroup, although the model did
not know the newsgroups. The sixth is far less concentrated, and collects medicine and the remaining
posts of the others. A broad cluster is possible because each has its own concentration.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
import scipy.sparse as sp
import xarray as xr

from matplotlib.figure import Figure
from scipy.sparse.linalg import svds
from scipy.special import ive, softmax
from shared import data_file, main

import pymc_geodesic as pmg

CHOSEN = [
    *("rec.autos", "rec.sport.hockey", "sci.crypt", "sci.med", "sci.space"),
    "talk.politics.mideast",
]
N_CLUSTERS, N_ENTRIES, BATCH_SIZE = 6, 10, 200


def load_counts(path: str | Path | None = None) -> tuple[sp.csr_array, np.ndarray]:
    """Load counts of words, and the group of each document."""
    file = data_file("20news", "20news.npz", path=path)
    if file is None:
        return generated()
    with np.load(file) as z:
        parts = (z["train_data"].astype(float), z["train_indices"].astype(int), z["train_indptr"])
        counts = sp.csr_array(parts, shape=tuple(z["train_shape"]))
        names = z["label_names"][z["train_labels"]]
    chosen = np.isin(names, CHOSEN)
    counts, names = counts[chosen], names[chosen]
    containing = np.bincount(counts.indices, minlength=counts.shape[1])
    counts = counts[:, (containing >= 10) & (containing < 0.2 * counts.shape[0])]
    long = counts.sum(axis=1) > 20
    return counts[long], names[long]


def generated() -> tuple[sp.csr_array, np.ndarray]:
    """Draw documents, each mostly from one of six topics."""
    rng = np.random.default_rng(1)
    topics = rng.dirichlet(np.full(400, 0.05), size=N_CLUSTERS)
    group = rng.integers(N_CLUSTERS, size=2000)
    shares = 0.7 * np.eye(N_CLUSTERS)[group] + 0.3 / N_CLUSTERS
    return sp.csr_array(rng.multinomial(60, shares @ topics)), np.array(CHOSEN)[group]


def embed(counts: sp.csr_array) -> np.ndarray:
    """Return unit vectors with ten entries, by a singular value decomposition."""
    weights = pmg.BagOfWords(counts).tf_idf().matrix
    axes = svds(weights, k=N_ENTRIES, rng=1)[2]
    found = weights @ axes.T
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def build_model(vectors: np.ndarray) -> pm.Model:
    """Write the mixture."""
    with pm.Model(coords={"cluster": range(N_CLUSTERS), "entry": range(N_ENTRIES)}) as model:
        batch = pm.Minibatch(vectors, batch_size=BATCH_SIZE)
        weight = pm.Dirichlet("weight", np.full(N_CLUSTERS, 5.0), dims="cluster")
        mu = pmg.SphericalUniform("mu", dims=("cluster", "entry"))
        kappa = pm.HalfNormal("kappa", 50.0, dims="cluster")
        parts = pmg.VonMisesFisher.dist(mu, kappa)
        pm.Mixture("document", weight, parts, observed=batch, total_size=len(vectors))
    return model


def run(quick: bool = False, path: str | Path | None = None) -> xr.DataTree:
    """Sample; `quick` makes a short run on generated documents for tests."""
    draws, tune, chains = (100, 200, 1) if quick else (1000, 1000, 4)
    counts, group = generated() if quick else load_counts(path)
    vectors = embed(counts)
    start = {"mu": pmg.initial_directions(vectors, N_CLUSTERS, random_seed=1)}
    with build_model(vectors):
        idata = pmg.sample(
            draws, tune=tune, chains=chains, initvals=start, random_seed=1, progressbar=False
        )
    names = {"vectors": (("document", "entry"), vectors), "group": ("document", group)}
    idata["documents"] = xr.DataTree(xr.Dataset(names))
    return idata


def memberships(idata: xr.DataTree) -> np.ndarray:
    """Return the probability of each cluster for each document, averaged over some draws."""
    posterior = idata.posterior.to_dataset().stack(sample=("chain", "draw"))
    chosen = np.linspace(0, posterior.sizes["sample"] - 1, 20).astype(int)
    vectors = idata["documents"]["vectors"].values
    found = np.zeros((len(vectors), N_CLUSTERS))
    for draw in chosen:
        one = posterior.isel(sample=draw)
        kappa, half = one["kappa"].values, N_ENTRIES / 2 - 1
        # The normaliser of a von Mises-Fisher distribution, without what all clusters share.
        log_c = half * np.log(kappa) - np.log(ive(half, kappa)) - kappa
        density = log_c + kappa * (vectors @ one["mu"].transpose("entry", "cluster").values)
        found += softmax(np.log(one["weight"].values) + density, axis=1)
    return found / len(chosen)


def table(idata: xr.DataTree) -> tuple[np.ndarray, np.ndarray]:
    """Return the names of the groups, and the share of their documents in each cluster."""
    names, group = np.unique(idata["documents"]["group"].values, return_inverse=True)
    shares = memberships(idata)
    return names, np.array([shares[group == i].mean(axis=0) for i in range(len(names))])


def plot(idata: xr.DataTree, path: str | Path | None = None) -> Figure:
    """Plot the share of each newsgroup in each cluster."""
    names, shares = table(idata)
    order = np.argsort(shares.argmax(axis=0), kind="stable")
    figure, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
    image = ax.imshow(shares[:, order], cmap="Blues", vmin=0, vmax=1, aspect="auto")
    ax.set(xlabel="cluster", yticks=range(len(names)), yticklabels=names)
    ax.set_xticks(range(N_CLUSTERS), order)
    figure.colorbar(image, label="share of the newsgroup's posts")
    return figure


def report(idata: xr.DataTree, path: str | Path | None = None) -> str:
    """Print how many posts are in the cluster of their newsgroup, and how sure the model is."""
    shares = memberships(idata)
    group = np.unique(idata["documents"]["group"].values, return_inverse=True)[1]
    best = shares.argmax(axis=1)
    common = [np.bincount(group[best == k], minlength=1).max() for k in np.unique(best)]
    kappa = idata.posterior["kappa"].mean(("chain", "draw")).values
    return (
        f"{len(group):,} documents: {sum(common) / len(group):.0%} are in a cluster in which their "
        f"newsgroup is the most frequent; concentrations {kappa.round(1)}; "
        f"{np.mean(shares.max(axis=1) > 0.9):.0%} of the documents belong to one cluster with "
        "probability above 0.9"
    )


if __name__ == "__main__":
    main(__doc__, run=run, plot=plot, report=report, takes_path=True)

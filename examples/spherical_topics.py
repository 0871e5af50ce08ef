#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Topics of newsgroups as directions.

A document is a unit vector, the normalised weights of its words; rare words have larger weights. A
topic is a unit vector too. It may have negative entries, for words that are evidence against it.
Documents lie around mixtures of topics. The mixtures belong to the documents and are sampled anew
with each batch; the topics move on their spheres. This is the spherical admixture model of
Reisinger et al. (2010), sampled as in Liu, Zhu and Song (2016). The concentrations of documents
around their mixtures, and of topics around their mean, are maximum-likelihood values for clusters
of documents. The step size follows from them.

The posts are those of four of the 20 Newsgroups. They are read from the given path, from
``20news/20news.npz`` in the folder named by the environment variable PYMC_GEODESIC_DATA, or from
scikit-learn if it has fetched them before. Without any of these, 1,000 documents are generated from
four topics.

Conclusion: the words of the topics name the newsgroups. Negative entries of a topic are words that
speak against it, which topics of probabilities cannot have.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pymc as pm
import xarray as xr

from matplotlib.figure import Figure
from scipy import sparse
from scipy.cluster.vq import kmeans2
from shared import data_file, main

import pymc_geodesic as pmg

GROUPS = ["comp.graphics", "rec.sport.hockey", "sci.space", "talk.politics.mideast"]
N_TOPICS, BATCH_SIZE, MOST_WORDS = 6, 50, 1500
# Step size in scales of the posterior; share of the velocity that the noise is expected to damp.
STEP, DAMPING = 0.1, 0.02


def load_posts(path: str | Path | None = None) -> tuple[sparse.csr_array, np.ndarray]:
    """Load counts of words in documents, and the words."""
    file = data_file("20news", "20news.npz", path=path)
    if file is not None:
        counts, words = read(file)
    elif (found := fetched()) is not None:
        counts, words = found
    else:
        return generated()
    containing = np.bincount(counts.indices, minlength=counts.shape[1]) / counts.shape[0]
    # Words of more than two letters, without rare names and without words that occur everywhere.
    usual = (containing >= 0.004) & (containing <= 0.12) & (np.char.str_len(words) > 2)
    kept = np.flatnonzero(usual)
    kept = np.sort(kept[np.argsort(-containing[kept], kind="stable")[:MOST_WORDS]])
    counts = counts[:, kept]
    return counts[np.diff(counts.indptr) > 4], words[kept]


def read(file: Path) -> tuple[sparse.csr_array, np.ndarray]:
    """Read the chosen groups of a file of counts."""
    with np.load(file) as z:
        parts = (z["train_data"].astype(float), z["train_indices"].astype(int), z["train_indptr"])
        counts = sparse.csr_array(parts, shape=tuple(z["train_shape"]))
        chosen = np.isin(z["label_names"][z["train_labels"]], GROUPS)
        return counts[chosen], z["vocab"]


def fetched() -> tuple[sparse.csr_array, np.ndarray] | None:
    """Count the words of the posts if scikit-learn has fetched them before."""
    try:
        from sklearn.datasets import fetch_20newsgroups
        from sklearn.feature_extraction.text import CountVectorizer

        posts = fetch_20newsgroups(
            categories=GROUPS, remove=("headers", "footers"), download_if_missing=False
        )
    except (ImportError, OSError):
        return None
    vectorizer = CountVectorizer(token_pattern=r"[a-z]{3,}")
    counts = sparse.csr_array(vectorizer.fit_transform(posts.data), dtype=float)
    return counts, vectorizer.get_feature_names_out().astype(str)


def generated(n_documents: int = 1000, seed: int = 1) -> tuple[sparse.csr_array, np.ndarray]:
    """Draw documents of 60 words: a tenth are common words, the others come from topics."""
    rng = np.random.default_rng(seed)
    subjects = ["image", "hockey", "orbit", "border"]
    words = np.array([f"{subject}-{i}" for subject in subjects for i in range(25)])
    of_topics = np.kron(np.eye(4), np.full(25, 0.9 / 25)) + 0.1 / 100
    mixtures = rng.dirichlet(np.full(4, 0.3), size=n_documents)
    counts = rng.multinomial(60, mixtures @ of_topics)
    return sparse.csr_array(counts.astype(float)), words


def starting_topics(corpus: pmg.BagOfWords) -> np.ndarray:
    """Return the directions of clusters of documents."""
    centers, _ = kmeans2(corpus.matrix.toarray(), N_TOPICS, minit="++", seed=3)
    return centers / np.linalg.norm(centers, axis=1, keepdims=True)


def build_model(corpus: pmg.BagOfWords, words: np.ndarray) -> pm.Model:
    """Write the admixture; `theta` belongs to the documents of a batch."""
    centers = starting_topics(corpus)
    of_topics = pmg.topics.fit_concentration(centers)
    with pm.Model(coords={"topic": range(1, N_TOPICS + 1), "word": words}) as model:
        v = pm.Minibatch(corpus, batch_size=BATCH_SIZE)
        theta = pm.Dirichlet("theta", np.full(N_TOPICS, 2.0), shape=(BATCH_SIZE, N_TOPICS))
        topics = pmg.CollapsedMeanTopics(
            "topics",
            corpus.mean_direction(),
            of_topics,
            n_topics=N_TOPICS,
            mean_concentration=of_topics,
            dims=("topic", "word"),
            initval=centers,
        )
        kappa = pmg.topics.fit_concentration(corpus, topics=centers)
        pmg.SphericalAdmixture("v", theta, topics, kappa, observed=v, total_size=len(corpus))
    return model


def step_size_of(corpus: pmg.BagOfWords) -> float:
    """Return a share of a topic's scale, the root of K / (D kappa) for its part of D documents."""
    kappa = pmg.topics.fit_concentration(corpus)
    return STEP * np.sqrt(N_TOPICS / (len(corpus) * kappa))


def run(quick: bool = False, path: str | Path | None = None) -> xr.DataTree:
    """Sample the topics; `quick` makes a short run for tests."""
    draws, tune, n_steps = (20, 20, 5) if quick else (300, 300, 10)
    counts, words = load_posts(path)
    corpus = pmg.BagOfWords(counts).tf_idf()
    step_size = step_size_of(corpus)
    with build_model(corpus, words):
        step = pmg.gSGNHT(
            "topics",
            step_size=step_size,
            diffusion=DAMPING / step_size,
            local=pmg.LocalGMC("theta", draws=5, tune=10),
            n_steps=n_steps,
        )
        return pm.sample(
            draws,
            tune=tune,
            chains=1,
            step=step,
            random_seed=20261121,
            progressbar=False,
            compute_convergence_checks=False,
            var_names=["topics"],
        )


def plot(idata: xr.DataTree, path: str | Path | None = None) -> Figure:
    """Plot the top words of each topic."""
    axes = pmg.plot_topics(idata, "topics", n_words=8, n_columns=3)
    for ax in axes:
        ax.set_xlabel("entry of the unit vector", fontsize=8)
    return axes[0].figure


def report(idata: xr.DataTree, path: str | Path | None = None) -> str:
    """Print the top words of each topic, the temperature of the chain and its mobility."""
    topics = idata.posterior["topics"]
    mean = topics.mean(("chain", "draw"))
    lines = [
        f"topic {int(topic)}: {' '.join(mean['word'].values[np.argsort(-row.values)[:8]])}"
        for topic, row in zip(mean["topic"], mean, strict=True)
    ]
    stats = idata.sample_stats.mean()
    lines.append(
        f"kinetic temperature {stats['kinetic_temperature'].item():.3f} (expected 1), proportions "
        f"accepted {stats['local_acceptance'].item():.2f}"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    main(__doc__, run=run, plot=plot, report=report, takes_path=True)

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Topics of newsgroup posts.

Latent Dirichlet allocation models every post as a mixture of topics and every topic as a
probability vector over the words. Gibbs sampling inside each minibatch averages over the topics of
the words, so the step samples only the topics' probability vectors. These lie mostly near the
corners of a simplex, and are sampled by Riemannian Langevin dynamics.

The posts are 20 Newsgroups. They are read from the given path, from ``20news/20news.npz`` in the
folder named by the environment variable PYMC_GEODESIC_DATA, or with scikit-learn. Without any of
these, a small corpus is generated from known topics.

Conclusion: most topics are recognisable as subjects of newsgroups. Averages over draws predict
better than a single draw; the page on topic models shows how to measure that.
"""

from __future__ import annotations

import logging

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pymc as pm
import scipy.sparse as sp
import xarray as xr

from matplotlib.figure import Figure
from shared import data_file, main, without_box

import pymc_geodesic as pmg

ALPHA, BETA = 0.1, 0.05
BATCH_SIZE = 100


class Corpus(NamedTuple):
    """Counts of words by document, the words, and their source."""

    counts: sp.csr_array
    vocabulary: np.ndarray
    source: str


def load_corpus(path: str | Path | None = None, max_words: int = 2000) -> Corpus:
    """Load posts from a file, else from scikit-learn, else generate a corpus.

    The file is a ``.npz`` with the parts of a CSR matrix of counts (``data``, ``indices``,
    ``indptr``, ``shape``, all with or without the prefix ``train_``) and the words, ``vocab``.
    """
    file = data_file("20news", "20news.npz", path=path)
    if file is not None:
        with np.load(file) as z:
            prefix = "train_" if "train_data" in z else ""
            data, indices, indptr, shape = (
                z[f"{prefix}{part}"].astype("int64")
                for part in ("data", "indices", "indptr", "shape")
            )
            counts = sp.csr_array((data, indices, indptr), shape=tuple(shape))
            return common_words(counts, z["vocab"], "20 Newsgroups", max_words)
    try:
        from sklearn.datasets import fetch_20newsgroups
        from sklearn.feature_extraction.text import CountVectorizer

        posts = fetch_20newsgroups(remove=("headers", "footers", "quotes")).data
    except (ImportError, OSError) as problem:
        logging.getLogger(__name__).warning("Using generated documents: %s", problem)
        return generated_corpus()
    counter = CountVectorizer(stop_words="english", token_pattern="[a-z]{3,}", max_df=0.1)
    counts = sp.csr_array(counter.fit_transform(posts))
    return common_words(counts, counter.get_feature_names_out(), "20 Newsgroups", max_words)


def common_words(counts: sp.csr_array, words: np.ndarray, source: str, n: int) -> Corpus:
    """Keep the most common words, except those in more than a tenth of the documents."""
    containing = np.bincount(counts.indices, minlength=counts.shape[1])
    containing[containing > 0.1 * counts.shape[0]] = 0
    kept = np.sort(np.argsort(-containing)[:n])
    counts = sp.csr_array(counts[:, kept])
    return Corpus(counts[counts.sum(axis=1) > 0], np.asarray(words)[kept], source)


def generated_corpus(n_documents: int = 1000, length: int = 60) -> Corpus:
    """Draw documents from five topics, each with ten own words and ten shared words."""
    themes = {
        "space": "orbit launch moon shuttle nasa rocket planet mission solar lunar",
        "hockey": "game team season player goal ice league coach playoff score",
        "computing": "file window disk driver program memory screen software card server",
        "medicine": "patient disease doctor drug treatment blood health cancer study symptom",
        "faith": "god church faith bible prayer belief scripture soul heaven gospel",
    }
    shared = ["people", "time", "year", "good", "know", "think", "say", "make", "want", "way"]
    own = [words.split() for words in themes.values()]
    topics = np.zeros((5, 60))
    for k in range(5):
        topics[k, 10 * k : 10 * k + 10] = np.linspace(1.6, 0.4, 10)
    topics[:, 50:] = 0.4
    topics /= topics.sum(axis=1, keepdims=True)
    rng = np.random.default_rng(20261121)
    shares = rng.dirichlet(np.full(5, ALPHA), size=n_documents)
    counts = rng.multinomial(length, shares @ topics)
    return Corpus(sp.csr_array(counts), np.concatenate([*own, shared]), "generated documents")


def build_model(corpus: Corpus, n_topics: int) -> pm.Model:
    """Write the model; half of the Gibbs sweeps over each batch are burn-in."""
    coords = {"topic": np.arange(n_topics), "word": corpus.vocabulary}
    with pm.Model(coords=coords) as model:
        batch = pm.Minibatch(pmg.BagOfWords(corpus.counts), batch_size=BATCH_SIZE)
        topics = pmg.SymmetricDirichlet("topics", BETA, dims=("topic", "word"))
        pmg.LatentDirichletAllocation(
            "words", topics, ALPHA, observed=batch, total_size=corpus.counts.shape[0], sweeps=6
        )
    return model


def run(quick: bool = False, path: str | Path | None = None) -> xr.DataTree:
    """Sample the topics; `quick` makes a short run on generated documents for tests."""
    corpus = generated_corpus() if quick else load_corpus(path)
    generated = corpus.source == "generated documents"
    n_topics, draws, tune = (5, 30, 60) if generated else (20, 100, 400)
    with build_model(corpus, n_topics):
        # The step sizes follow from the corpus, see `pmg.topics.sgrld_schedule`.
        step = pmg.SGRLD(n_steps=5)
        idata = pm.sample(
            draws,
            tune=tune,
            chains=1,
            step=step,
            random_seed=20261121,
            progressbar=False,
            compute_convergence_checks=False,
        )
    idata.attrs["corpus"] = corpus.source
    return idata


def plot(idata: xr.DataTree, path: str | Path | None = None) -> Figure:
    """Plot the most probable words of the nine topics with the largest probabilities."""
    largest = idata.posterior["topics"].mean(("chain", "draw")).max("word")
    coords = {"topic": largest["topic"].values[np.argsort(-largest.values)[:9]]}
    axes = pmg.plot_topics(idata, "topics", coords=coords, n_words=8, n_columns=3)
    without_box(*axes)
    return axes[0].figure


def report(idata: xr.DataTree, path: str | Path | None = None) -> str:
    """Print the top words of each topic."""
    words = pmg.topics.top_words(idata, vocabulary=idata.posterior["word"].values, n=8)
    lines = [f"{topic:3d}  {' '.join(rows['word'])}" for topic, rows in words.groupby("topic")]
    return "\n".join([idata.attrs["corpus"], *lines])


if __name__ == "__main__":
    main(__doc__, run=run, plot=plot, report=report, takes_path=True)

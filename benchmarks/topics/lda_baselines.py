#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Latent Dirichlet allocation by other packages: what stochastic gradients have to beat.

scikit-learn's online variational Bayes and tomotopy's collapsed Gibbs learn the same topics with
the same priors, and one function scores them: the perplexity of held-out tokens of documents given
the others. In ``nips`` a fifth of the tokens of every document is held out from learning; in
``arxiv`` documents are held out, and a fifth of their tokens is predicted. Times are those of the
processor, without that for scoring.

The counts are read from ``nips/nips.npz`` and ``arxiv/arxiv250k.npz`` in the folder that the
environment variable PYMC_GEODESIC_DATA names.
"""

from __future__ import annotations

import time

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from sklearn.decomposition import LatentDirichletAllocation

from pymc_geodesic.topic_models import Perplexity, document_completion_perplexity, split_tokens

__all__ = [
    "CORPORA",
    "N_TOPICS",
    "Corpus",
    "Snapshot",
    "collapsed_gibbs",
    "score",
    "scored_at",
    "variational",
]

N_TOPICS = 50
N_TEST = 2000
SWEEPS = 40
FILES = {"nips": "nips/nips.npz", "arxiv": "arxiv/arxiv250k.npz"}


class Corpus(NamedTuple):
    """Documents to learn from, documents to score, and the priors.

    ``alpha`` is the Dirichlet parameter of the proportions, ``beta`` that of the topics.
    """

    train: sp.csr_array
    observed: sp.csr_array
    held_out: sp.csr_array
    alpha: float
    beta: float


class Snapshot(NamedTuple):
    """Topics (K, V) after some seconds of processor time and some number of documents."""

    seconds: float
    documents: int
    topics: np.ndarray


def nips(counts: sp.csr_array) -> Corpus:
    """Hold out a fifth of the tokens of every document; priors of Patterson and Teh (2013)."""
    observed, held_out = split_tokens(counts, fraction=0.2, rng=1)
    return Corpus(observed, observed, held_out, alpha=0.01, beta=0.01)


def arxiv(counts: sp.csr_array) -> Corpus:
    """Hold out the last documents, whose order is random."""
    parts = split_tokens(counts[-N_TEST:], fraction=0.2, rng=1)
    return Corpus(counts[:-N_TEST], *parts, alpha=0.1, beta=0.01)


CORPORA: dict[str, Callable[[sp.csr_array], Corpus]] = {"nips": nips, "arxiv": arxiv}


def read_counts(file: Path) -> sp.csr_array:
    """Counts of words by document."""
    with np.load(file) as z:
        arrays = (z["data"].astype("int32"), z["indices"].astype("int32"), z["indptr"])
        return sp.csr_array(arrays, shape=tuple(int(size) for size in z["shape"]))


def variational(
    corpus: Corpus,
    *,
    batch_size: int,
    offset: float,
    decay: float = 0.7,
    n_topics: int = N_TOPICS,
    seed: int = 1,
) -> Iterator[Snapshot]:
    """Yield topics after each batch of online variational Bayes."""
    n_documents = corpus.train.shape[0]
    model = LatentDirichletAllocation(
        n_topics,
        doc_topic_prior=corpus.alpha,
        topic_word_prior=corpus.beta,
        learning_offset=offset,
        learning_decay=decay,
        total_samples=n_documents,
        random_state=seed,
    )
    rng, seconds, seen = np.random.default_rng(seed), 0.0, 0
    while True:
        order = rng.permutation(n_documents)
        for start in range(0, n_documents, batch_size):
            begin = time.process_time()
            rows = order[start : start + batch_size]
            model.partial_fit(corpus.train[rows])
            seconds, seen = seconds + time.process_time() - begin, seen + len(rows)
            weights = model.components_
            yield Snapshot(seconds, seen, weights / weights.sum(axis=1, keepdims=True))


def collapsed_gibbs(
    corpus: Corpus, *, n_topics: int = N_TOPICS, seed: int = 1
) -> Iterator[Snapshot]:
    """Yield topics after each sweep of collapsed Gibbs over all documents."""
    import tomotopy

    n_documents, n_words = corpus.train.shape
    model = tomotopy.LDAModel(k=n_topics, alpha=corpus.alpha, eta=corpus.beta, seed=seed)
    model.optim_interval = 0  # keeps the priors as they are
    names, train = [str(word) for word in range(n_words)], corpus.train
    for row in range(n_documents):
        part = slice(train.indptr[row], train.indptr[row + 1])
        model.add_doc([names[w] for w in np.repeat(train.indices[part], train.data[part])])
    seconds, seen, places = 0.0, 0, None
    while True:
        begin = time.process_time()
        model.train(1, workers=1)
        seconds, seen = seconds + time.process_time() - begin, seen + n_documents
        if places is None:
            places = np.array([int(word) for word in model.used_vocabs])
        # Words that no document has are unknown to the model and have their prior's weight.
        topics = np.empty((n_topics, n_words))
        topics[:] = corpus.beta / (model.get_count_by_topics() + corpus.beta * n_words)[:, None]
        for k in range(n_topics):
            topics[k, places] = model.get_topic_word_dist(k)
        yield Snapshot(seconds, seen, topics / topics.sum(axis=1, keepdims=True))


def scored_at(snapshots: Iterator[Snapshot], times: list[float]) -> list[Snapshot]:
    """Keep the first snapshot at or after each time, in seconds."""
    kept, wanted = [], list(times)
    for snapshot in snapshots:
        if snapshot.seconds >= wanted[0]:
            kept.append(snapshot)
            wanted = [t for t in wanted if t > snapshot.seconds]
            if not wanted:
                break
    return kept


def score(corpus: Corpus, topics: np.ndarray) -> Perplexity:
    """Perplexity of the held-out tokens; ``topics`` are draws (M, K, V)."""
    return document_completion_perplexity(
        topics,
        observed=corpus.observed,
        held_out=corpus.held_out,
        alpha=corpus.alpha,
        sweeps=SWEEPS,
        rng=1,
    )

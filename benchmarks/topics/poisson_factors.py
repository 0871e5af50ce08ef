#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Poisson factor analysis: the documents, the model, and Gibbs for what is local."""
# Compiled code cannot make a generator of its own from a seed.
# ruff: noqa: NPY002

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pymc as pm
import pytensor.tensor as pt
import scipy.sparse as sp

from pytensor.gradient import disconnected_grad
from pytensor.graph.basic import Apply
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from pymc_geodesic.potential.local import LocalExpectation

__all__ = [
    "TOPIC",
    "Completion",
    "complete",
    "factor_model",
    "gibbs_sampler",
    "newsgroups",
    "of_frequent_words",
    "perplexity",
    "predictive",
]

# Gamma(TOPIC, 1) for the entries of the topics; the weights are a truncated gamma process with
# mass WEIGHTS and unit rate; Beta(LENGTH, LENGTH) for what gives the documents their lengths.
TOPIC, WEIGHTS, LENGTH = 0.05, 1.0, 0.01
# Sweeps over the topics of a document's words: the first half is discarded.
SWEEPS, HELD_OUT_SWEEPS = 6, 20


class Completion(NamedTuple):
    """Documents cut in two: the words that are seen, and those to predict."""

    seen: sp.csr_matrix
    hidden: sp.csr_matrix


def newsgroups(file: Path, vocabulary: int) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Counts of the most frequent words that are no stop words, in training and test documents."""
    with np.load(file) as z:
        parts = []
        for name in ("train_", "test_"):
            data, indices, indptr = (z[name + k] for k in ("data", "indices", "indptr"))
            shape = tuple(int(size) for size in z[name + "shape"])
            parts.append(sp.csr_matrix((data.astype("int32"), indices, indptr), shape=shape))
        known = z["vocab"]
    return of_frequent_words(*parts, known=known, vocabulary=vocabulary)


def of_frequent_words(
    train: sp.csr_matrix, test: sp.csr_matrix, *, known: np.ndarray, vocabulary: int
) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Keep the words that are most frequent in training, and the documents that have any."""
    usable = np.array([str(word) not in ENGLISH_STOP_WORDS for word in known])
    frequency = np.asarray(train.sum(axis=0)).ravel() * usable
    words = np.argsort(-frequency, kind="stable")[:vocabulary]
    parts = (part[:, words].tocsr() for part in (train, test))
    return tuple(part[np.diff(part.indptr) > 0] for part in parts)


def complete(counts: sp.csr_matrix, share: float, *, seed: int) -> Completion:
    """Hide a share of the words of every document."""
    rng = np.random.default_rng(seed)
    hidden = counts.copy()
    for row in range(counts.shape[0]):
        part = slice(*counts.indptr[row : row + 2])
        n_hidden = round(share * counts.data[part].sum())
        hidden.data[part] = rng.multivariate_hypergeometric(counts.data[part], n_hidden)
    seen = (counts - hidden).tocsr()
    hidden.eliminate_zeros()
    return Completion(seen, hidden)


@numba.njit(fastmath=True)
def sample_topics(words, phi, weights, share, sweeps):
    """Draw the topics of the words of one document by Gibbs.

    Returns those of the second half of the sweeps, and the last number of words by topic. Most
    draws need only look at the topics that the document has already: the rest have the probability
    ``share = phi @ weights`` together. In the first sweep the weights have a mean of one at least:
    with smaller ones the first words would decide on the topics of all others.
    """
    spread = max(1.0, 1.0 / weights.mean())
    topics = np.full((sweeps, len(words)), -1)
    counts, chances = np.zeros(len(weights)), np.empty(len(weights))
    active, n_active = np.empty(len(weights), np.int64), 0
    listed = np.zeros(len(weights), np.bool_)
    for sweep in range(sweeps):
        factor = 1.0 if sweep else spread
        for i in range(len(words)):
            v = words[i]
            if sweep:
                counts[topics[sweep - 1, i]] -= 1
            total = factor * share[v]
            for j in range(n_active):
                chances[j] = counts[active[j]] * phi[v, active[j]]
                total += chances[j]
            rest = np.random.random() * total
            j, k = 0, 0
            while j < n_active and rest >= chances[j]:
                rest -= chances[j]
                j += 1
            if j < n_active:
                k = active[j]
            else:
                rest /= factor
                while k < len(weights) - 1 and rest >= weights[k] * phi[v, k]:
                    rest -= weights[k] * phi[v, k]
                    k += 1
            if not listed[k]:
                listed[k], active[n_active] = True, k
                n_active += 1
            topics[sweep, i] = k
            counts[k] += 1
    return topics[sweeps // 2 :], counts


@numba.njit
def local_counts(rows, seeds, phi, weights, sweeps):
    """For each row of counts, Gibbs for its topics.

    Returns the mean number of words by word and topic, over all rows, and the last sweep's number
    by row and topic.
    """
    by_word = np.zeros(phi.shape)
    by_row = np.empty((len(rows), len(weights)))
    share = phi @ weights
    for d in range(len(rows)):
        np.random.seed(seeds[d])
        words = np.repeat(np.arange(len(phi)), rows[d])
        kept, by_row[d] = sample_topics(words, phi, weights, share, sweeps)
        for topics in kept:
            for i in range(len(words)):
                by_word[words[i], topics[i]] += 1 / len(kept)
    return by_word, by_row


class LocalCounts(LocalExpectation):
    """Topics of the words of a batch of documents, drawn by Gibbs given everything global.

    One matrix: the rows of the first result of :func:`local_counts`, then those of the second.
    """

    __props__ = ("sweeps",)

    def __init__(self, sweeps: int) -> None:
        self.sweeps = sweeps

    def make_node(self, rows, phi, weights):
        inputs = [pt.as_tensor(x) for x in (rows, phi, weights)]
        return Apply(self, inputs, [pt.matrix(dtype="float64")])

    def estimate(self, rng, *inputs):
        rows, phi, weights = (np.ascontiguousarray(x) for x in inputs)
        seeds = rng.integers(2**31, size=len(rows))
        return np.concatenate(local_counts(rows, seeds, phi, weights, self.sweeps))


def log_density(rows, weights, gamma):
    r"""Log density of documents and of the topics drawn for their words.

    The factors of a document and its length parameter are integrated out, and the draws held
    fixed: by Fisher's identity the expected gradient is that of the log density without them.
    """
    # PyMC gives parameters of one law for all rows an axis for the rows.
    weights = weights[0] if weights.ndim == 2 else weights
    gamma = gamma[0] if gamma.ndim == 3 else gamma
    log_phi = pt.log(gamma) - pt.log(gamma.sum(axis=0))
    drawn = LocalCounts(SWEEPS)(rows.astype("int64"), pt.exp(log_phi), weights)
    n_words = rows.shape[1]
    by_word, by_row = (disconnected_grad(x) for x in (drawn[:n_words], drawn[n_words:]))
    total = weights.sum()
    of_topics = (pt.gammaln(weights + by_row) - pt.gammaln(weights)).sum(axis=-1)
    of_length = pt.gammaln(LENGTH + total) - pt.gammaln(2 * LENGTH + total + rows.sum(axis=-1))
    # The words of the batch are shared out evenly: only the sum over its rows matters.
    return (by_word * log_phi).sum() / rows.shape[0] + of_topics + of_length


def factor_model(counts: sp.csr_matrix, n_topics: int, batch_size: int) -> pm.Model:
    """Poisson factor analysis with the documents in minibatches."""
    n_rows, n_words = counts.shape
    with pm.Model() as model:
        weights = pm.Gamma("weights", WEIGHTS / n_topics, 1, shape=n_topics)
        gamma = pm.Gamma("gamma", TOPIC, 1, shape=(n_words, n_topics))
        pm.CustomDist(
            "words",
            weights,
            gamma,
            logp=log_density,
            signature="(k),(v,k)->(v)",
            observed=pm.Minibatch(np.asarray(counts.todense(), "int32"), batch_size=batch_size),
            total_size=n_rows,
        )
    return model


@numba.njit
def _completed(indptr, indices, data, phi, weights, sweeps, seed):
    """Expected factors of documents given the words seen, as shares of one."""
    np.random.seed(seed)
    factors = np.empty((len(indptr) - 1, len(weights)))
    share = phi @ weights
    for d in range(len(factors)):
        part = slice(indptr[d], indptr[d + 1])
        words = np.repeat(indices[part], data[part])
        kept, _ = sample_topics(words, phi, weights, share, sweeps)
        factors[d] = weights
        for topics in kept:
            for k in topics:
                factors[d, k] += 1 / len(kept)
        factors[d] /= factors[d].sum()
    return factors


def predictive(documents: Completion, phi: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Probability of each distinct hidden word, in the order of ``hidden.data``."""
    seen, hidden = documents
    arrays = [seen.indptr, seen.indices, seen.data]
    factors = _completed(*arrays, np.ascontiguousarray(phi), weights, HELD_OUT_SWEEPS, 1)
    rows = np.repeat(np.arange(hidden.shape[0]), np.diff(hidden.indptr))
    return np.einsum("ik,ik->i", factors[rows], phi[hidden.indices])


def perplexity(documents: Completion, probabilities: np.ndarray) -> float:
    """Exponential of the mean negative log probability of a hidden word."""
    n = documents.hidden.data
    return float(np.exp(-(n * np.log(probabilities)).sum() / n.sum()))


@numba.njit(fastmath=True)
def _sweep(words, ends, topics, by_row, by_word, totals, weights, seed):
    """One sweep of collapsed Gibbs over all words, the topics integrated out too."""
    np.random.seed(seed)
    cumulative = np.empty(len(weights))
    prior = TOPIC * by_word.shape[0]
    for d in range(len(ends) - 1):
        for i in range(ends[d], ends[d + 1]):
            v, k = words[i], topics[i]
            if k >= 0:
                by_row[d, k] -= 1
                by_word[v, k] -= 1
                totals[k] -= 1
            total = 0.0
            for j in range(len(weights)):
                share = (TOPIC + by_word[v, j]) / (prior + totals[j])
                total += (weights[j] + by_row[d, j]) * share
                cumulative[j] = total
            k = min(np.searchsorted(cumulative, np.random.random() * total), len(weights) - 1)
            topics[i] = k
            by_row[d, k] += 1
            by_word[v, k] += 1
            totals[k] += 1


@numba.njit
def _tables(by_row, weights):
    """Numbers of tables of the restaurants that give the weights their conjugate update."""
    tables = np.zeros(len(weights))
    for d in range(len(by_row)):
        for k in range(len(weights)):
            for i in range(int(by_row[d, k])):
                tables[k] += np.random.random() * (weights[k] + i) < weights[k]
    return tables


def gibbs_sampler(counts: sp.csr_matrix, n_topics: int, *, seed: int):
    """Yield phi and the weights after each sweep of Gibbs over all documents."""
    rng = np.random.default_rng(seed)
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    words = np.repeat(counts.indices, counts.data)
    ends = np.concatenate([[0], np.cumsum(lengths)])
    topics = np.full(len(words), -1)
    by_row, by_word = np.zeros((len(lengths), n_topics)), np.zeros((counts.shape[1], n_topics))
    totals = np.zeros(n_topics)
    weights = np.full(n_topics, 0.05)
    while True:
        _sweep(words, ends, topics, by_row, by_word, totals, weights, rng.integers(2**31))
        p = rng.beta(LENGTH + lengths, LENGTH + weights.sum())
        tables = _tables(by_row, weights)
        weights = rng.gamma(WEIGHTS / n_topics + tables) / (1 - np.log1p(-p).sum())
        weights = np.maximum(weights, np.finfo(float).tiny)
        yield (by_word + TOPIC) / (totals + TOPIC * len(by_word)), weights

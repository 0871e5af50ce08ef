#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The compiled Gibbs sampler of the topics of tokens."""

from __future__ import annotations

import numba
import numpy as np

__all__ = ["sample_counts"]


@numba.njit(cache=True)
def sample_counts(indptr, ids, weights, topics, alpha, rng, sweeps, discard):
    """Estimate expected counts of topics, for documents in the rows of a CSR matrix.

    Arguments are not checked: word numbers out of range corrupt memory.

    Parameters
    ----------
    indptr, ids, weights : ndarray of int64
        Document d has the words ``ids[indptr[d]:indptr[d + 1]]`` with these weights.
    topics : ndarray of float64
        Of shape (K, V), C-contiguous.
    alpha : ndarray of float64
        Of shape (K,).
    rng : numpy.random.Generator
        Source of the draws.
    sweeps, discard : int
        As in :func:`~pymc_geodesic.topic_models.topic_counts.expected_counts`.

    Returns
    -------
    tuple of ndarray
        Expected counts by topic and word, and by document and topic.
    """
    n_documents, (n_topics, n_words) = len(indptr) - 1, topics.shape
    longest, largest = 0, 0
    for d in range(n_documents):
        longest = max(longest, indptr[d + 1] - indptr[d])
        largest = max(largest, weights[indptr[d] : indptr[d + 1]].sum())
    rows, found = np.empty((longest, n_topics)), np.empty((longest, n_topics))
    elsewhere, assigned = np.empty(longest), np.empty(largest, np.int64)
    by_word, by_document = np.zeros((n_topics, n_words)), np.empty((n_documents, n_topics))
    for d in range(n_documents):
        words = ids[indptr[d] : indptr[d + 1]]
        _gather(words, topics, alpha, rows, elsewhere)
        times = weights[indptr[d] : indptr[d + 1]]
        _sample_document(times, rows, elsewhere, alpha, assigned, found, rng, sweeps, discard)
        by_document[d] = 0.0
        for i in range(len(words)):
            for k in range(n_topics):
                if found[i, k]:
                    by_word[k, words[i]] += found[i, k]
                    by_document[d, k] += found[i, k]
    return by_word, by_document


@numba.njit(cache=True)
def _gather(words, topics, alpha, rows, elsewhere):
    """Store the probabilities of each word in all topics in a row, and their weighted sum."""
    for k in range(len(topics)):
        for i in range(len(words)):
            rows[i, k] = topics[k, words[i]]
    # Explicit loops: sums of array expressions would allocate twice per word.
    for i in range(len(words)):
        total, weighted = 0.0, 0.0
        for k in range(len(topics)):
            total += rows[i, k]
            weighted += alpha[k] * rows[i, k]
        # Early in a chain a rare word may underflow in all topics.
        if not total > 0:
            rows[i] = 1.0
            weighted = alpha.sum()
        elsewhere[i] = weighted


@numba.njit(cache=True)
def _sample_document(times, rows, elsewhere, alpha, assigned, found, rng, sweeps, discard):
    """Draw the topics of the tokens of one document; write the mean counts to ``found``."""
    n_topics = len(alpha)
    counts, chances = np.zeros(n_topics), np.empty(n_topics)
    # A list of the topics of the document, in any order, with their places in the list.
    active, place, n_active = np.empty(n_topics, np.int64), np.empty(n_topics, np.int64), 0
    found[: len(times)] = 0.0
    share = 1.0 / (sweeps - discard)
    # With a small alpha the first tokens would decide on the topics of all others, and a few sweeps
    # do not undo it: the first pass has a mean of one at least.
    spread = max(1.0, 1.0 / alpha.mean())
    for sweep in range(-1, sweeps):
        factor = spread if sweep < 0 else 1.0
        token = 0
        for i in range(len(times)):
            row = rows[i]
            for _ in range(times[i]):
                if sweep >= 0:
                    k = assigned[token]
                    counts[k] -= 1.0
                    if counts[k] == 0.0:
                        n_active -= 1
                        active[place[k]] = active[n_active]
                        place[active[n_active]] = place[k]
                total = factor * elsewhere[i]
                for j in range(n_active):
                    chances[j] = counts[active[j]] * row[active[j]]
                    total += chances[j]
                rest, j = rng.random() * total, 0
                while j < n_active and rest >= chances[j]:
                    rest -= chances[j]
                    j += 1
                k = active[j] if j < n_active else _search(rest / factor, alpha, row)
                if counts[k] == 0.0:
                    place[k], active[n_active] = n_active, k
                    n_active += 1
                counts[k] += 1.0
                assigned[token] = k
                token += 1
                if sweep >= discard:
                    found[i, k] += share


@numba.njit(cache=True)
def _search(rest, alpha, row):
    """Return the topic at which the cumulative sum of ``alpha * row`` exceeds ``rest``."""
    k = 0
    while k < len(alpha) - 1 and rest >= alpha[k] * row[k]:
        rest -= alpha[k] * row[k]
        k += 1
    return k

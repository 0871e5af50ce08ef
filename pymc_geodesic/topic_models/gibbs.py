#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Gibbs for the topics of the words of documents, given the topics' word probabilities."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from numpy.typing import ArrayLike

__all__ = ["TopicCounts", "expected_counts", "sample_counts"]


class TopicCounts(NamedTuple):
    """Expected numbers of tokens of a batch of documents that belong to each topic.

    Attributes
    ----------
    by_word : ndarray
        E[n_kw] of shape (K, V), summed over the documents.
    by_document : ndarray
        E[n_dk] of shape (S, K).
    """

    by_word: np.ndarray
    by_document: np.ndarray


def expected_counts(
    ids: ArrayLike,
    *,
    weights: ArrayLike,
    topics: ArrayLike,
    alpha: ArrayLike,
    rng: np.random.Generator,
    sweeps: int = 10,
    discard: int | None = None,
) -> TopicCounts:
    r"""Estimate how many tokens of each word belong to each topic in a batch of documents.

    In latent Dirichlet allocation a document has proportions :math:`\eta_d` over K topics,
    Dirichlet with parameters :math:`\alpha`, and each of its tokens is of topic k with probability
    :math:`\eta_{dk}` and then word w with probability :math:`\pi_{kw}`. With the proportions
    integrated out, Gibbs draws the topic of one token given those of the others from

    .. math::

        p(z_{di} = k \mid \text{rest}) \propto
            \bigl(\alpha_k + n_{dk}^{\setminus di}\bigr) \, \pi_{k w_{di}},

    where :math:`n_{dk}^{\setminus di}` counts the document's other tokens of topic k. Tokens are
    first given topics one after another, from the same formula with the counts so far.

    By Fisher's identity the counts are the gradient of the documents' log probability with
    respect to the logarithms of the probabilities, as long as these need not sum to one,

    .. math::

        \frac{\partial \log p(w \mid \pi)}{\partial \log \pi_{kw}} = E[n_{kw} \mid w, \pi].

    Parameters
    ----------
    ids : array_like of int
        Numbers of the documents' words, of shape (S, L): a row holds each word of a document,
        filled up with any valid numbers.
    weights : array_like of int
        How often the word occurs, of shape (S, L); 0 for what fills the row up.
    topics : array_like of float
        Word probabilities :math:`\pi_{kw}` of shape (K, V). A word that has probability zero in
        all topics is taken to be equally likely in all.
    alpha : array_like of float
        Dirichlet parameters of the proportions, positive, one or K of them.
    rng : numpy.random.Generator
        Source of the draws. The same state gives the same result.
    sweeps : int
        How many times all topics are drawn, not counting the first pass that sets them.
    discard : int, optional
        How many of these sweeps do not count; half of them by default.

    Returns
    -------
    TopicCounts
        Means over the sweeps that count.

    Raises
    ------
    ValueError
        If shapes do not fit, word numbers are out of range, weights are negative or no integers,
        ``alpha`` is not positive, or no sweep is left.

    Notes
    -----
    A draw looks only at the topics that the document has already: the others have the
    probability :math:`\sum_k \alpha_k \pi_{kw}` together, and are searched when it is their turn.

    References
    ----------
    Patterson, S. and Teh, Y. W. (2013). Stochastic gradient Riemannian Langevin dynamics on the
    probability simplex. NIPS. Section 4.

    Griffiths, T. L. and Steyvers, M. (2004). Finding scientific topics. PNAS 101, 5228-5235.

    Yao, L., Mimno, D. and McCallum, A. (2009). Efficient methods for topic model inference on
    streaming document collections. KDD. Section 3.4.

    Examples
    --------
    >>> import numpy as np
    >>> counts = expected_counts(
    ...     [[0, 2, 0]],
    ...     weights=[[3, 1, 0]],
    ...     topics=[[0.5, 0.4, 0.1], [0.1, 0.2, 0.7]],
    ...     alpha=0.5,
    ...     rng=np.random.default_rng(1),
    ... )
    >>> counts.by_word.sum(axis=0)
    array([3., 0., 1.])
    """
    ids, weights = np.asarray(ids), np.asarray(weights)
    if ids.ndim != 2 or ids.shape != weights.shape:
        raise ValueError(
            "`ids` and `weights` have to be matrices of the same shape, one row a document, got "
            f"shapes {ids.shape} and {weights.shape}."
        )
    present = weights != 0
    indptr = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    return counts_of_rows(
        indptr,
        ids[present],
        weights[present],
        topics,
        alpha=alpha,
        rng=rng,
        sweeps=sweeps,
        discard=discard,
    )


def counts_of_rows(
    indptr: np.ndarray,
    ids: np.ndarray,
    weights: np.ndarray,
    topics: ArrayLike,
    *,
    alpha: ArrayLike,
    rng: np.random.Generator,
    sweeps: int,
    discard: int | None = None,
) -> TopicCounts:
    """Check the arguments and call :func:`sample_counts`; documents are rows of a CSR matrix."""
    topics = np.ascontiguousarray(topics, np.float64)
    if topics.ndim != 2:
        raise ValueError(f"`topics` has to be a matrix (topics, words), got shape {topics.shape}.")
    n_topics, n_words = topics.shape
    if ids.size and (ids.dtype.kind not in "iu" or ids.min() < 0 or ids.max() >= n_words):
        raise ValueError(
            f"Word numbers have to be integers from 0 to {n_words - 1}, as there are {n_words} "
            f"words in `topics`, got {ids.dtype} from {ids.min()} to {ids.max()}."
        )
    counts = read_counts(weights)
    discard = sweeps // 2 if discard is None else discard
    if not 0 <= discard < sweeps:
        raise ValueError(
            "`discard` has to leave at least one of the `sweeps`, got "
            f"discard={discard} and sweeps={sweeps}."
        )
    alpha = read_alpha(alpha, n_topics)
    arrays = (indptr.astype(np.int64), ids.astype(np.int64), counts)
    return TopicCounts(*sample_counts(*arrays, topics, alpha, rng, sweeps, discard))


def read_counts(counts: np.ndarray) -> np.ndarray:
    """Return counts of words as whole numbers."""
    if not np.all((counts >= 0) & (counts == np.floor(counts)) & (counts < 2**53)):
        raise ValueError(
            "Documents have to be counts of words, which are whole numbers and not negative, got "
            f"{counts.dtype} from {counts.min()} to {counts.max()}."
        )
    return counts.astype(np.int64)


def read_alpha(alpha: ArrayLike, n_topics: int) -> np.ndarray:
    """Return the Dirichlet parameters as a vector of length ``n_topics``."""
    alpha = np.asarray(alpha, np.float64)
    if alpha.shape not in ((), (n_topics,)) or not np.all(alpha > 0) or not np.all(alpha < np.inf):
        raise ValueError(
            f"`alpha` has to be one positive number or {n_topics}, one a topic, got {alpha}."
        )
    return np.ascontiguousarray(np.broadcast_to(alpha, n_topics))


@numba.njit(cache=True)
def sample_counts(indptr, ids, weights, topics, alpha, rng, sweeps, discard):
    """Compiled part of :func:`expected_counts`, for documents in the rows of a CSR matrix.

    Nothing is checked: word numbers out of range corrupt memory.

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
        As in :func:`expected_counts`.

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
    """Write the probabilities of each word in all topics side by side, and their weighted sum."""
    for k in range(len(topics)):
        for i in range(len(words)):
            rows[i, k] = topics[k, words[i]]
    # Written out: sums of array expressions would allocate twice a word.
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
    """Draw the topics of one document's tokens; write the mean counts into ``found``."""
    n_topics = len(alpha)
    counts, chances = np.zeros(n_topics), np.empty(n_topics)
    # The topics that the document has are listed, in any order, with their places in the list.
    active, place, n_active = np.empty(n_topics, np.int64), np.empty(n_topics, np.int64), 0
    found[: len(times)] = 0.0
    share = 1.0 / (sweeps - discard)
    for sweep in range(-1, sweeps):
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
                total = elsewhere[i]
                for j in range(n_active):
                    chances[j] = counts[active[j]] * row[active[j]]
                    total += chances[j]
                rest, j = rng.random() * total, 0
                while j < n_active and rest >= chances[j]:
                    rest -= chances[j]
                    j += 1
                k = active[j] if j < n_active else _search(rest, alpha, row)
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

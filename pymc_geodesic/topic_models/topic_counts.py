#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Expected counts of topics in documents, given the topics' word probabilities."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numpy.typing import ArrayLike

from pymc_geodesic.topic_models.gibbs import sample_counts

__all__ = ["TopicCounts", "counts_of_rows", "expected_counts", "read_alpha", "read_counts"]


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
    r"""Estimate the number of tokens of each word in each topic, for a batch of documents.

    In latent Dirichlet allocation the proportions :math:`\eta_d` of K topics in a document are
    Dirichlet with parameters :math:`\alpha`. Each token has topic k with probability
    :math:`\eta_{dk}`, and then word w with probability :math:`\pi_{kw}`. With the proportions
    integrated out, Gibbs sampling draws the topic of a token given those of the others from

    .. math::

        p(z_{di} = k \mid \text{rest}) \propto
            \bigl(\alpha_k + n_{dk}^{\setminus di}\bigr) \, \pi_{k w_{di}},

    where :math:`n_{dk}^{\setminus di}` counts the document's other tokens of topic k. The first
    pass assigns topics one token after another, by the same formula with the counts so far and
    :math:`\alpha` multiplied so that its mean is one at least. With a small :math:`\alpha` the
    first tokens would otherwise decide on the topics of the document.

    By Fisher's identity the counts are the gradient of the documents' log probability with
    respect to the logarithms of the probabilities, as long as these need not sum to one,

    .. math::

        \frac{\partial \log p(w \mid \pi)}{\partial \log \pi_{kw}} = E[n_{kw} \mid w, \pi].

    Parameters
    ----------
    ids : array_like of int
        Word numbers of the documents, of shape (S, L): a row has each word of a document, padded
        with any valid numbers.
    weights : array_like of int
        Counts of the words, of shape (S, L); 0 for the padding.
    topics : array_like of float
        Word probabilities :math:`\pi_{kw}` of shape (K, V). A word with probability zero in all
        topics is taken to be equally likely in all.
    alpha : array_like of float
        Dirichlet parameters of the proportions, positive, one or K of them.
    rng : numpy.random.Generator
        Source of the draws. The same state gives the same result.
    sweeps : int
        Number of times that all topics are drawn after the first pass.
    discard : int, optional
        Number of these sweeps to discard; half of them by default.

    Returns
    -------
    TopicCounts
        Means over the other sweeps.

    Raises
    ------
    ValueError
        If shapes do not fit, word numbers are out of range, weights are negative or not
        integers, ``alpha`` is not positive, or all sweeps are discarded.

    Notes
    -----
    A draw first considers the topics that the document already has. The other topics have the total
    probability :math:`\sum_k \alpha_k \pi_{kw}`, and are only searched if one of them is drawn.

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
            "`ids` and `weights` expected matrices of the same shape, one row per document, got "
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
        raise ValueError(f"`topics` expected a matrix (topics, words), got shape {topics.shape}.")
    n_topics, n_words = topics.shape
    if ids.size and (ids.dtype.kind not in "iu" or ids.min() < 0 or ids.max() >= n_words):
        raise ValueError(
            f"Documents expected word numbers as integers from 0 to {n_words - 1}, because "
            f"`topics` has {n_words} words, got {ids.dtype} from {ids.min()} to {ids.max()}."
        )
    counts = read_counts(weights)
    discard = sweeps // 2 if discard is None else discard
    if not 0 <= discard < sweeps:
        raise ValueError(
            "`discard` expected to leave at least one of the `sweeps`, got "
            f"discard={discard} and sweeps={sweeps}."
        )
    alpha = read_alpha(alpha, n_topics)
    arrays = (indptr.astype(np.int64), ids.astype(np.int64), counts)
    return TopicCounts(*sample_counts(*arrays, topics, alpha, rng, sweeps, discard))


def read_counts(counts: np.ndarray) -> np.ndarray:
    """Return counts of words as integers."""
    if not np.all((counts >= 0) & (counts == np.floor(counts)) & (counts < 2**53)):
        raise ValueError(
            "Documents expected counts of words, whole numbers that are not negative, got "
            f"{counts.dtype} from {counts.min()} to {counts.max()}."
        )
    return counts.astype(np.int64)


def read_alpha(alpha: ArrayLike, n_topics: int) -> np.ndarray:
    """Return the Dirichlet parameters as a vector of length ``n_topics``."""
    alpha = np.asarray(alpha, np.float64)
    if alpha.shape not in ((), (n_topics,)) or not np.all(alpha > 0) or not np.all(alpha < np.inf):
        raise ValueError(
            f"`alpha` expected one positive number or {n_topics}, one per topic, got {alpha}."
        )
    return np.ascontiguousarray(np.broadcast_to(alpha, n_topics))

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The top words of topics, whether these occur in the same documents, and the sizes of topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from numpy.typing import ArrayLike

from pymc_geodesic.topic_models.alignment import aligned_draws
from pymc_geodesic.topic_models.read import Documents, Draws, read_documents, words_of

__all__ = ["coherence", "top_documents", "top_words", "topic_sizes"]


def top_words(
    topics: Draws,
    *,
    vocabulary: Sequence[str] | None = None,
    n: int = 10,
    ci_prob: float = 0.89,
    var_name: str = "topics",
) -> pd.DataFrame:
    """List the words with the largest posterior mean weight in each topic.

    The weights are the coordinates of the topics: probabilities in latent Dirichlet allocation,
    coordinates of unit vectors in the spherical admixture model. The average over draws is only
    meaningful if topics keep their order. Chains with different orders raise an error;
    :func:`align` reorders them. If only the means of chains were kept, by
    ``pmg.sample(keep={"topics": "mean"})``, intervals are those of these means.

    Parameters
    ----------
    topics : DataTree or array_like of float
        Draws of the topics: the result of ``pm.sample``, or an array of shape (..., K, V) whose
        leading axes are draws, or chains and draws.
    vocabulary : sequence of str, optional
        The V words. By default the coordinates of the last dimension, or word numbers.
    n : int
        Number of words per topic.
    ci_prob : float
        Probability of the equal-tailed interval.
    var_name : str
        Name of the topics in the posterior.

    Returns
    -------
    pandas.DataFrame
        One row for each topic and word, with the columns ``topic``, ``rank`` (from 0), ``word``,
        ``mean``, ``lower`` and ``upper``.

    Raises
    ------
    ValueError
        If there are not V words, ``n`` is not between 1 and V, the topics cannot be read, or
        their order differs between chains.

    Examples
    --------
    >>> table = top_words([[0.7, 0.1, 0.2], [0.1, 0.6, 0.3]], vocabulary=["a", "b", "c"], n=2)
    >>> table["word"].to_list()
    ['a', 'c', 'b', 'c']
    """
    draws = aligned_draws(topics, var_name, what="top_words")
    _, n_topics, n_words = draws.shape
    words = words_of(topics, var_name, vocabulary)
    if not 1 <= n <= n_words:
        raise ValueError(f"`n` expected 1 to {n_words}, the number of words, got {n}.")
    mean = draws.mean(axis=0)
    best = np.argsort(-mean, axis=1, kind="stable")[:, :n]
    tails = (1 - ci_prob) / 2
    chosen = np.take_along_axis(draws, best[None], axis=2)
    lower, upper = np.quantile(chosen, [tails, 1 - tails], axis=0)
    return pd.DataFrame(
        {
            "topic": np.repeat(np.arange(n_topics), n),
            "rank": np.tile(np.arange(n), n_topics),
            "word": words[best.ravel()],
            "mean": np.take_along_axis(mean, best, axis=1).ravel(),
            "lower": lower.ravel(),
            "upper": upper.ravel(),
        }
    )


def coherence(
    topics: Draws, *, documents: Documents, n: int = 10, var_name: str = "topics"
) -> np.ndarray:
    r"""Normalised pointwise mutual information (NPMI) of the top words of each topic.

    With the share :math:`p(w)` of documents that contain a word, and :math:`p(v, w)` of those that
    contain two, the coherence of a topic is the mean over all pairs of its top words of

    .. math::

        \frac{\log \dfrac{p(v, w)}{p(v)\, p(w)}}{-\log p(v, w)},

    which is 1 for words that only occur together, 0 for independent words, and -1 for words
    that never occur together. It agrees better with people's judgement of topics than
    perplexity does.

    Parameters
    ----------
    topics : DataTree or array_like of float
        Draws of the topics, as for :func:`pymc_geodesic.topic_models.top_words`. The top words are
        those of the posterior mean.
    documents : BagOfWords, sparse matrix or array_like
        Documents of shape (D, V), preferably not those from which the topics were learned.
    n : int
        Number of top words of each topic.
    var_name : str
        Name of the topics in the posterior.

    Returns
    -------
    ndarray
        Coherence of each topic, of shape (K,).

    Raises
    ------
    ValueError
        If ``n`` is not between 2 and V, shapes do not fit, or the order of topics differs between
        chains.

    References
    ----------
    Bouma, G. (2009). Normalized (pointwise) mutual information in collocation extraction. GSCL.

    Lau, J. H., Newman, D. and Baldwin, T. (2014). Machine reading tea leaves: automatically
    evaluating topic coherence and topic model quality. EACL.

    Examples
    --------
    >>> documents = [[1, 1, 0, 0], [2, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 3]]
    >>> topics = [[0.4, 0.4, 0.1, 0.1], [0.1, 0.1, 0.4, 0.4]]
    >>> coherence(topics, documents=documents, n=2)
    array([ 1., -1.])
    """
    draws = aligned_draws(topics, var_name, what="coherence")
    n_words = draws.shape[-1]
    if not 2 <= n <= n_words:
        raise ValueError(f"`n` expected 2 to {n_words}, the number of words, got {n}.")
    mean = draws.mean(axis=0)
    best = np.argsort(-mean, axis=1, kind="stable")[:, :n]
    present = read_documents(documents, n_words)
    present.data = np.ones(present.nnz)
    # Only the words that are at the top of a topic.
    words, place = np.unique(best, return_inverse=True)
    chosen = present[:, words]
    together = np.asarray((chosen.T @ chosen).todense()) / present.shape[0]
    first, second = np.triu_indices(n, k=1)
    place = place.reshape(best.shape)
    return _npmi(together)[place[:, first], place[:, second]].mean(axis=1)


def _npmi(together: np.ndarray) -> np.ndarray:
    """NPMI of all pairs, from the shares of documents that contain both words."""
    alone = np.diag(together)
    with np.errstate(divide="ignore", invalid="ignore"):
        information = np.log(together / np.outer(alone, alone))
        found = information / -np.log(together)
    found[together == 0] = -1.0
    # The limit, for words in all documents.
    found[together == 1] = 1.0
    return found


def topic_sizes(shares: ArrayLike, *, documents: Documents | None = None) -> np.ndarray:
    """Share of each topic in all documents.

    Parameters
    ----------
    shares : array_like of float, shape (D, K)
        Result of :func:`pymc_geodesic.topic_models.proportions`.
    documents : BagOfWords, sparse matrix or array_like, optional
        Counts of words of the documents, of shape (D, V). With them a document is weighted by its
        number of tokens; otherwise all have the same weight.

    Returns
    -------
    ndarray
        Of shape (K,); the sum is 1.

    Raises
    ------
    ValueError
        If shapes do not fit.

    Examples
    --------
    >>> shares = [[0.9, 0.1], [0.2, 0.8]]
    >>> topic_sizes(shares)
    array([0.55, 0.45])
    >>> topic_sizes(shares, documents=[[8, 0, 1], [0, 1, 0]])
    array([0.83, 0.17])
    """
    shares = _read_shares(shares)
    if documents is None:
        return shares.mean(axis=0)
    counts = read_documents(documents)
    if counts.shape[0] != len(shares):
        raise ValueError(
            f"`documents` expected {len(shares)} documents, as many as rows of `shares`, got "
            f"{counts.shape[0]}."
        )
    tokens = np.asarray(counts.sum(axis=1)).ravel()
    return tokens @ shares / tokens.sum()


def top_documents(
    shares: ArrayLike, *, texts: Sequence[str] | None = None, n: int = 3
) -> pd.DataFrame:
    """List the documents with the largest share of each topic.

    Parameters
    ----------
    shares : array_like of float, shape (D, K)
        Result of :func:`pymc_geodesic.topic_models.proportions`. These are posterior means, so that
        a short document has no large share by chance.
    texts : sequence of str, optional
        The D texts or titles, only of the documents in ``corpus.rows``.
    n : int
        Number of documents per topic.

    Returns
    -------
    pandas.DataFrame
        One row for each topic and document, with the columns ``topic``, ``rank`` (from 0),
        ``document``, ``share`` and, if texts are given, ``text``.

    Raises
    ------
    ValueError
        If there are not D texts, or ``n`` is not between 1 and D.

    Examples
    --------
    >>> shares = [[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]
    >>> top_documents(shares, texts=["a game", "a vote", "both"], n=2)["text"].to_list()
    ['a game', 'both', 'a vote', 'both']
    """
    shares = _read_shares(shares)
    n_documents, n_topics = shares.shape
    if not 1 <= n <= n_documents:
        raise ValueError(f"`n` expected 1 to {n_documents}, the number of documents, got {n}.")
    best = np.argsort(-shares, axis=0, kind="stable")[:n].T
    found: dict[str, Any] = {
        "topic": np.repeat(np.arange(n_topics), n),
        "rank": np.tile(np.arange(n), n_topics),
        "document": best.ravel(),
        "share": np.take_along_axis(shares.T, best, axis=1).ravel(),
    }
    if texts is not None:
        if len(texts) != n_documents:
            raise ValueError(
                f"`texts` expected {n_documents}, one per row of `shares`, got {len(texts)}. If "
                "documents without words were left out, take `[texts[i] for i in corpus.rows]`."
            )
        found["text"] = [texts[int(i)] for i in best.ravel()]
    return pd.DataFrame(found)


def _read_shares(shares: ArrayLike) -> np.ndarray:
    """Return proportions as a matrix.

    Raises
    ------
    ValueError
        If they are not a matrix whose rows sum to one.
    """
    found = np.asarray(shares, dtype=float)
    if found.ndim != 2 or 0 in found.shape or not np.allclose(found.sum(axis=1), 1, atol=1e-4):
        raise ValueError(
            "`shares` expected a matrix (documents, topics) whose rows sum to one, got shape "
            f"{found.shape}. Pass the result of `proportions`."
        )
    return found

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What the proportions of topics say about topics: their sizes and typical documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from numpy.typing import ArrayLike

from pymc_geodesic.topic_models.read import Documents, read_documents

__all__ = ["top_documents", "topic_sizes"]


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

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A table of topics: names, sizes, coherence, words and a typical document of each."""

from __future__ import annotations

import textwrap

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from numpy.typing import ArrayLike

from pymc_geodesic.topic_models.bag_of_words import BagOfWords
from pymc_geodesic.topic_models.documents import alpha_of, fold_in, some_draws, sweeps_for
from pymc_geodesic.topic_models.read import Documents, Draws, read_documents, tracked, words_of
from pymc_geodesic.topic_models.words import coherence, top_documents, topic_sizes
from pymc_geodesic.validation import whole

__all__ = ["TopicReport", "describe"]

# Relevance of Sievert and Shirley (2014), at the weight that their study found best.
RELEVANCE, LABEL_WORDS = 0.6, 3
# Characters of a typical document.
WIDTH = 80


class TopicReport(NamedTuple):
    """What topics are about.

    Attributes
    ----------
    table : pandas.DataFrame
        A row for each topic, the largest first, with the topic's number as index: ``label``,
        ``size`` with its interval ``lower`` to ``upper``, ``coherence``, ``words`` and
        ``document``: the text that it has the largest share of, or its number.
    shares : ndarray
        Posterior mean proportions of topics in documents, of shape (D, K).
    labels : list of str
        A name of each topic in the order of the model.
    sizes : ndarray
        Shares of the topics in all tokens, of shape (K,), in the same order.
    """

    table: pd.DataFrame
    shares: np.ndarray
    labels: list[str]
    sizes: np.ndarray


def describe(
    topics: Draws,
    *,
    documents: Documents,
    texts: Sequence[str] | None = None,
    alpha: ArrayLike | None = None,
    vocabulary: Sequence[str] | None = None,
    n_words: int = 10,
    n_draws: int = 10,
    ci_prob: float = 0.89,
    rng: np.random.Generator | int | None = None,
    progressbar: bool = True,
    var_name: str = "topics",
) -> TopicReport:
    r"""Name topics, and say how large and coherent they are and which document is typical.

    A label consists of the three words with the largest relevance,

    .. math::

        0.6 \log \pi_{kw} + 0.4 \log \frac{\pi_{kw}}{p_w},

    where :math:`p_w` is the frequency of the word in the documents: words that are frequent in the
    topic and rare elsewhere.

    Parameters
    ----------
    topics : DataTree or array_like of float
        Draws of the topics, as for :func:`top_words`.
    documents : BagOfWords, sparse matrix or array_like of int
        Counts of words, of shape (D, V).
    texts : sequence of str, optional
        The texts of the documents: all that were given to ``BagOfWords.from_texts``, or those
        of its ``rows``.
    alpha : array_like of float, optional
        Dirichlet parameters of the proportions; by default those of :func:`sample`.
    vocabulary : sequence of str, optional
        The V words. By default the coordinates of the last dimension, or word numbers.
    n_words : int
        Words of each topic in the table.
    n_draws : int, default 10
        Draws of the topics, spread over all chains, for which proportions are drawn.
    ci_prob : float
        Probability of the equal-tailed interval of a topic's size.
    rng : Generator or int, optional
        Source of the draws, or its seed.
    progressbar : bool
        Whether to show the progress, in a terminal or a notebook.
    var_name : str
        Name of the topics in the posterior.

    Returns
    -------
    TopicReport
        The table, with the proportions, labels and sizes behind it.

    Raises
    ------
    ValueError
        If shapes do not fit, ``alpha`` is not known, or chains number the topics differently.

    References
    ----------
    Sievert, C. and Shirley, K. E. (2014). LDAvis: a method for visualizing and interpreting topics.
    Workshop on Interactive Language Learning, Visualization, and Interfaces, ACL.

    Examples
    --------
    >>> import pymc_geodesic as pmg
    >>> texts = 20 * ["a goal in the last game", "the game has a goal", "parties vote", "a vote"]
    >>> corpus = pmg.BagOfWords.from_texts(texts)
    >>> idata = pmg.topics.sample(corpus, n_topics=2, rng=1)
    >>> found = pmg.topics.describe(idata, documents=corpus, texts=texts, rng=1)
    >>> found.table.shape, len(found.labels), found.shares.shape
    ((2, 7), 2, (80, 2))
    """
    draws = some_draws(topics, var_name, n_draws=n_draws, what="describe")
    counts = read_documents(documents, draws.shape[-1])
    words = words_of(topics, var_name, _words(documents, vocabulary))
    alpha, rng = alpha_of(topics, alpha), np.random.default_rng(rng)
    sweeps = sweeps_for(len(draws))
    total, sizes = np.zeros((counts.shape[0], draws.shape[1])), []
    for draw in tracked(draws, "Sorting documents", visible=progressbar):
        found = fold_in(draw, counts, alpha=alpha, sweeps=sweeps, discard=None, rng=rng)
        total += found
        sizes.append(topic_sizes(found, documents=counts))
    shares, mean = total / len(draws), draws.mean(axis=0)
    labels = _labels(mean, np.asarray(counts.sum(axis=0)).ravel(), words)
    top = np.argsort(-mean, axis=1, kind="stable")[:, : whole("n_words", n_words)]
    low, high = np.quantile(sizes, [(1 - ci_prob) / 2, (1 + ci_prob) / 2], axis=0)
    typical = top_documents(shares, n=1)["document"].to_numpy()
    size = np.mean(sizes, axis=0)
    shown = typical if texts is None else _texts(texts, typical, documents, len(shares))
    table = pd.DataFrame(
        {
            "label": labels,
            "size": size,
            "lower": low,
            "upper": high,
            "coherence": coherence(mean, documents=counts, n=min(10, len(words))),
            "words": [" ".join(words[row]) for row in top],
            "document": shown,
        },
        index=pd.RangeIndex(len(mean), name="topic"),
    )
    return TopicReport(table.iloc[np.argsort(-size, kind="stable")], shares, labels, size)


def _words(documents: Documents, vocabulary: Sequence[str] | None) -> Any:
    if vocabulary is None and isinstance(documents, BagOfWords):
        return documents.vocabulary
    return vocabulary


def _labels(topics: np.ndarray, frequencies: np.ndarray, words: np.ndarray) -> list[str]:
    """Return the most relevant words of each topic."""
    known = (frequencies + 0.5) / (frequencies + 0.5).sum()
    logs = np.log(np.maximum(topics, np.finfo(float).tiny))
    relevance = logs - (1 - RELEVANCE) * np.log(known)
    best = np.argsort(-relevance, axis=1, kind="stable")[:, :LABEL_WORDS]
    return [", ".join(words[row]) for row in best]


def _texts(
    texts: Sequence[str], chosen: np.ndarray, documents: Documents, n_documents: int
) -> list[str]:
    """Return the beginnings of the texts of the chosen documents."""
    given, rows = list(texts), np.arange(len(texts))
    if isinstance(documents, BagOfWords) and n_documents < len(given):
        rows = documents.rows
    if len(rows) != n_documents or rows.max(initial=-1) >= len(given):
        raise ValueError(
            f"`texts` expected the texts of {n_documents} documents, got {len(given)}. Pass those "
            "from which the documents were made."
        )
    return [textwrap.shorten(given[rows[i]], WIDTH, placeholder=" ...") for i in chosen]

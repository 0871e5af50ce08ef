#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The top words of topics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from pymc_geodesic.topic_models.alignment import aligned_draws
from pymc_geodesic.topic_models.read import Draws, words_of

__all__ = ["top_words"]


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

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What documents are about, given topics."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from numpy.typing import ArrayLike

from pymc_geodesic.local.gibbs import counts_of_rows, read_alpha
from pymc_geodesic.topics.read import Documents, Draws, read_documents, read_topics

__all__ = ["fold_in", "proportions"]


def proportions(
    topics: Draws,
    *,
    documents: Documents,
    alpha: ArrayLike,
    sweeps: int = 100,
    discard: int | None = None,
    rng: np.random.Generator | int | None = None,
    var_name: str = "topics",
) -> np.ndarray:
    r"""Posterior mean proportions of topics in documents, in latent Dirichlet allocation.

    The topics of a document's tokens are drawn by Gibbs, as in
    :func:`pymc_geodesic.local.expected_counts`, and

    .. math::

        E[\eta_{dk} \mid w_d] = \frac{\alpha_k + E[n_{dk}]}{\sum_j \alpha_j + n_d},

    averaged over the draws of the topics. The average has a meaning only as long as a topic keeps
    its number, which topics of different chains, as a rule, do not.

    Parameters
    ----------
    topics : DataTree or array_like of float
        Draws of the topics' word probabilities: the result of ``pm.sample``, or an array of shape
        (..., K, V) whose leading axes are draws. Every draw costs a run of Gibbs over all
        documents, so that it pays to thin them.
    documents : sparse matrix or array_like of int
        Counts of words, of shape (D, V).
    alpha : array_like of float
        Dirichlet parameters of the proportions, positive, one or K of them.
    sweeps : int
        How many times the topics of all tokens are drawn for each draw of the topics.
    discard : int, optional
        How many of these sweeps do not count; half of them by default.
    rng : numpy.random.Generator or int, optional
        Source of the draws, or its seed.
    var_name : str
        Name of the topics in the posterior.

    Returns
    -------
    ndarray
        Of shape (D, K); rows sum to 1. A document without words has the mean of the prior.

    Raises
    ------
    ValueError
        If shapes do not fit, documents are no counts, ``alpha`` is not positive, or no sweep is
        left.

    References
    ----------
    Griffiths, T. L. and Steyvers, M. (2004). Finding scientific topics. PNAS 101, 5228-5235.

    Examples
    --------
    >>> topics = [[[0.98, 0.01, 0.01], [0.01, 0.01, 0.98]]]
    >>> proportions(topics, documents=[[50, 0, 0], [0, 0, 0]], alpha=0.5, rng=1).round(1)
    array([[1. , 0. ],
           [0.5, 0.5]])
    """
    draws = read_topics(topics, var_name)
    documents = read_documents(documents, draws.shape[-1])
    rng = np.random.default_rng(rng)
    total = np.zeros((documents.shape[0], draws.shape[1]))
    for draw in draws:
        total += fold_in(draw, documents, alpha=alpha, sweeps=sweeps, discard=discard, rng=rng)
    return total / len(draws)


def fold_in(
    topics: np.ndarray,
    documents: sp.csr_array,
    *,
    alpha: ArrayLike,
    sweeps: int,
    discard: int | None,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return the posterior mean proportions of documents given one draw of the topics."""
    csr = (documents.indptr, documents.indices, documents.data)
    counts = counts_of_rows(*csr, topics, alpha=alpha, rng=rng, sweeps=sweeps, discard=discard)
    found = counts.by_document + read_alpha(alpha, len(topics))
    return found / found.sum(axis=1, keepdims=True)

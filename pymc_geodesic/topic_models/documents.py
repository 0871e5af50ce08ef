#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Proportions of topics in documents, given topics."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from numpy.typing import ArrayLike

from pymc_geodesic.topic_models.alignment import require_aligned
from pymc_geodesic.topic_models.read import Documents, Draws, read_chains, read_documents
from pymc_geodesic.topic_models.spherical_documents import spherical_proportions
from pymc_geodesic.topic_models.topic_counts import counts_of_rows, read_alpha

__all__ = ["fold_in", "proportions"]


def proportions(
    topics: Draws,
    *,
    documents: Documents,
    alpha: ArrayLike,
    kappa: float | None = None,
    sweeps: int = 100,
    discard: int | None = None,
    rng: np.random.Generator | int | None = None,
    var_name: str = "topics",
) -> np.ndarray:
    r"""Posterior mean proportions of topics in documents.

    With ``kappa`` documents are unit vectors from a spherical admixture, and their proportions
    are drawn by geodesic Monte Carlo, as :class:`LocalGMC` does.

    Without ``kappa`` they are counts of words from latent Dirichlet allocation. The topics of a
    document's tokens are drawn by Gibbs sampling, as in
    :func:`pymc_geodesic.topic_models.expected_counts`, and

    .. math::

        E[\eta_{dk} \mid w_d] = \frac{\alpha_k + E[n_{dk}]}{\sum_j \alpha_j + n_d},

    averaged over the draws of the topics. The average is only meaningful if topics keep their
    order. Chains with different orders raise an error; :func:`align` reorders them.

    Parameters
    ----------
    topics : DataTree or array_like of float
        Draws of the topics, unit vectors or word probabilities: the result of ``pm.sample``, or an
        array of shape (..., K, V) whose leading axes are draws. Every draw costs a run over all
        documents, so thin the draws.
    documents : BagOfWords, sparse matrix or array_like
        Unit vectors or counts of words, of shape (D, V).
    alpha : array_like of float
        Dirichlet parameters of the proportions, positive, one or K of them.
    kappa : float, optional
        Concentration of documents on the sphere, positive.
    sweeps : int
        Number of times that the proportions, or the topics of all tokens, are drawn for each draw
        of the topics.
    discard : int, optional
        Number of these sweeps to discard; half of them by default.
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
        If shapes do not fit, documents are not counts or not unit vectors, ``alpha`` is not
        positive, all sweeps are discarded, or the order of topics differs between chains.

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
    chains = read_chains(topics, var_name)
    require_aligned(chains, "proportions")
    draws = chains.reshape(-1, *chains.shape[-2:])
    documents = read_documents(documents, draws.shape[-1])
    rng = np.random.default_rng(rng)
    if kappa is not None:
        n_discarded = sweeps // 2 if discard is None else discard
        return spherical_proportions(
            draws,
            documents,
            alpha=read_alpha(alpha, draws.shape[1]),
            kappa=kappa,
            draws=sweeps - n_discarded,
            tune=n_discarded,
            rng=rng,
        )
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

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Hybrid stochastic variational Gibbs sampling: topics of large corpora, fast, as a start."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from numpy.typing import ArrayLike
from scipy.special import digamma

from pymc_geodesic.topic_models.read import Documents, read_documents
from pymc_geodesic.topic_models.topic_counts import counts_of_rows, read_alpha
from pymc_geodesic.validation import positive, share, whole

__all__ = ["DirichletTopics", "fit_hybrid_gibbs"]


class DirichletTopics(NamedTuple):
    """Independent Dirichlet distributions of topics, an approximation of their posterior.

    Attributes
    ----------
    concentration : ndarray
        Parameters of the distributions, of shape (K, V).
    topics : ndarray
        Their means, of shape (K, V): a start for samplers.
    """

    concentration: np.ndarray
    topics: np.ndarray


def fit_hybrid_gibbs(
    documents: Documents,
    *,
    n_topics: int,
    alpha: ArrayLike,
    concentration: ArrayLike,
    batch_size: int = 100,
    n_batches: int | None = None,
    sweeps: int = 10,
    discard: int | None = None,
    delay: float = 10.0,
    decay: float = 0.7,
    topics: ArrayLike | None = None,
    rng: np.random.Generator | int | None = None,
) -> DirichletTopics:
    r"""Fit the topics of latent Dirichlet allocation by hybrid stochastic variational Gibbs.

    The posterior of the topics :math:`\pi_k` is approximated by Dirichlet distributions with
    parameters :math:`\lambda_k`, the assignments z of the tokens of a document by any joint
    distribution. Its best choice is

    .. math::

        q(z_d) \propto \exp E_q[\log p(z_d, w_d \mid \pi)]
            \propto p(z_d) \prod_i \tilde \pi_{z_{di} w_{di}}, \qquad
        \tilde \pi_{kw} = \exp\{\psi(\lambda_{kw}) - \psi({\textstyle\sum_v} \lambda_{kv})\},

    which Gibbs sampling draws from, see :func:`expected_counts`. With the sampled counts
    :math:`\hat n_{kw}` of a batch of S out of D documents, each step follows the natural gradient
    of the bound,

    .. math::

        \lambda_{kw} \leftarrow (1 - \rho_t) \lambda_{kw}
            + \rho_t \Bigl(\beta_w + \frac{D}{S} \hat n_{kw}\Bigr), \qquad
        \rho_t = (t + \tau)^{-c}, \quad t = 1, 2, \dots

    Parameters
    ----------
    documents : BagOfWords, sparse matrix or array_like of int
        Counts of words, of shape (D, V).
    n_topics : int
        Number of topics K.
    alpha : array_like of float
        Dirichlet parameters of the proportions of topics in a document, one or K of them.
    concentration : array_like of float
        Dirichlet parameters :math:`\beta` of the topics, one or V of them.
    batch_size : int, default 100
        Documents per step.
    n_batches : int, optional
        Number of steps; by default as many as read all documents five times.
    sweeps, discard : int
        Sweeps of the Gibbs sampler per batch, and how many of them to discard; see
        :func:`expected_counts`.
    delay : float, default 10
        :math:`\tau`, which makes the first steps smaller.
    decay : float, default 0.7
        c, between 1/2 and 1.
    topics : array_like of float, optional
        Word probabilities of shape (K, V) to start from. By default each topic starts near the word
        frequencies of the corpus, with random weights.
    rng : Generator or int, optional
        Source of the draws, or a seed.

    Returns
    -------
    DirichletTopics
        The distributions and their means.

    Raises
    ------
    ValueError
        If documents are not counts of words, or an argument is out of its range.

    Notes
    -----
    Variational distributions are too narrow. With documents in memory :func:`sample` finds better
    topics in the same time.

    A word of which a topic has less than about one token has nearly no weight there, because
    :math:`\exp \psi(\lambda)` falls like :math:`\exp(-1 / \lambda)`. With a small
    :math:`\alpha` a few sweeps leave tokens where the first pass put them: take 20 or more.

    References
    ----------
    Mimno, D., Hoffman, M. D. and Blei, D. M. (2012). Sparse stochastic inference for latent
    Dirichlet allocation. ICML.

    Examples
    --------
    >>> import numpy as np, pymc_geodesic as pmg
    >>> rng = np.random.default_rng(1)
    >>> about = np.repeat(np.eye(2), 100, axis=0)
    >>> counts = rng.poisson(about @ np.repeat([[4.0, 0.1], [0.1, 4.0]], 5, axis=1))
    >>> found = pmg.topics.fit_hybrid_gibbs(
    ...     counts, n_topics=2, alpha=0.1, concentration=0.1, batch_size=20, n_batches=200, rng=1
    ... )
    >>> bool(np.allclose(np.sort(found.topics[:, :5].sum(axis=1)), [0.02, 0.98], atol=0.05))
    True
    """
    counts = read_documents(documents)
    n_documents, n_words = counts.shape
    n_topics = whole("n_topics", n_topics)
    alpha = read_alpha(alpha, n_topics)
    prior = _read_prior(concentration, n_words)
    batch_size = min(whole("batch_size", batch_size), n_documents)
    delay, decay = positive("delay", delay), share("decay", decay, least=0.5, most=1.0)
    if n_batches is None:
        n_batches = -(-5 * n_documents // batch_size)
    rng = np.random.default_rng(rng)
    parameters = _start(counts, n_topics, prior, topics, rng)
    for t in range(1, whole("n_batches", n_batches) + 1):
        batch = counts[np.sort(rng.choice(n_documents, batch_size, replace=False))]
        likely = digamma(parameters) - digamma(parameters.sum(axis=1, keepdims=True))
        found = counts_of_rows(
            batch.indptr,
            batch.indices,
            batch.data,
            # Only ratios between topics count; a word that is rare in all must not underflow.
            np.exp(likely - likely.max(axis=0)),
            alpha=alpha,
            rng=rng,
            sweeps=whole("sweeps", sweeps),
            discard=discard,
        )
        weight = (t + delay) ** -decay
        estimate = prior + n_documents / batch_size * found.by_word
        parameters += weight * (estimate - parameters)
    return DirichletTopics(parameters, parameters / parameters.sum(axis=1, keepdims=True))


def _read_prior(concentration: ArrayLike, n_words: int) -> np.ndarray:
    prior = np.asarray(concentration, np.float64)
    if prior.shape not in ((), (n_words,)) or not np.all((prior > 0) & np.isfinite(prior)):
        raise ValueError(
            f"`concentration` expected one positive number or {n_words}, one per word, got shape "
            f"{prior.shape} with a smallest of {np.min(prior):.4g}."
        )
    return np.broadcast_to(prior, n_words)


def _start(
    counts: sp.csr_array,
    n_topics: int,
    prior: np.ndarray,
    topics: ArrayLike | None,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return parameters as if all tokens had been seen, spread over the topics."""
    shape, tokens = (n_topics, counts.shape[1]), float(counts.sum()) / n_topics
    if topics is None:
        frequencies = counts.sum(axis=0) / counts.sum()
        return prior + tokens * frequencies * rng.gamma(100.0, 0.01, shape)
    found = np.asarray(topics, np.float64)
    if found.shape != shape or not np.all((found >= 0) & np.isfinite(found)):
        raise ValueError(
            f"`topics` expected word probabilities of shape {shape}, not negative, got shape "
            f"{found.shape} with a smallest of {np.min(found):.4g}."
        )
    return prior + tokens * found / found.sum(axis=1, keepdims=True)

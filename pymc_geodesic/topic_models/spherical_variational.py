#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Variational inference for the spherical admixture model, from all documents or from batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from numpy.typing import ArrayLike
from scipy.optimize import minimize

from pymc_geodesic.topic_models.read import Documents, read_documents
from pymc_geodesic.topic_models.spherical import AdmixtureBound, require_unit
from pymc_geodesic.topic_models.topic_counts import read_alpha
from pymc_geodesic.validation import positive, share, whole

__all__ = ["VariationalAdmixture", "fit_spherical_admixture"]

# A Dirichlet parameter below it has no effect, and its logarithm no end.
LEAST = 1e-5
# Iterations of L-BFGS per step: the steps alternate, so that early ones need no precision.
OF_PROPORTIONS, OF_TOPICS = 30, 15


class VariationalAdmixture(NamedTuple):
    """An approximation of the posterior of topics and proportions.

    Attributes
    ----------
    topics : ndarray
        Mean directions of the topics, unit vectors in shape (K, V): a start for samplers.
    proportions : ndarray
        Dirichlet parameters of the proportions in each document, of shape (D, K).
    bound : ndarray
        The bound after each step, up to a constant; with batches, an estimate.
    """

    topics: np.ndarray
    proportions: np.ndarray
    bound: np.ndarray


def fit_spherical_admixture(
    documents: Documents,
    *,
    n_topics: int,
    mean: ArrayLike,
    mean_concentration: float,
    concentration: float,
    kappa: float,
    alpha: ArrayLike,
    batch_size: int | None = None,
    n_steps: int = 30,
    delay: float = 1.0,
    decay: float = 0.7,
    topics: ArrayLike | None = None,
    rng: np.random.Generator | int | None = None,
) -> VariationalAdmixture:
    r"""Fit the spherical admixture model by variational inference, a baseline and a start.

    The posterior is approximated by independent distributions: Dirichlet for the proportions of
    each document, von Mises-Fisher for the topics with concentration :math:`\sigma` and mean
    direction :math:`b_k`, and for the common direction of the topics the best possible one. The
    expected cosine of a document with its mixture of topics is approximated as in
    Reisinger et al. (2010). Without ``batch_size`` each step maximises the bound by the Dirichlet
    parameters of all documents, then by the topics. With it, a step uses a batch, and

    .. math::

        b_k \leftarrow \frac{(1 - \rho_t) b_k + \rho_t \hat b_k}
            {|(1 - \rho_t) b_k + \rho_t \hat b_k|}, \qquad
        \rho_t = (t + \tau)^{-c}, \quad t = 1, 2, \dots,

    where :math:`\hat b_k` is found for the batch, counted :math:`D / S` times.

    Parameters
    ----------
    documents : BagOfWords, sparse matrix or array_like of float
        Unit vectors, of shape (D, V).
    n_topics : int
        Number of topics K.
    mean, mean_concentration
        Mean direction and concentration of the topics' common direction; see
        :class:`CollapsedMeanTopics`.
    concentration : float
        Concentration :math:`\sigma` of the topics around the common direction.
    kappa : float
        Concentration of the documents.
    alpha : array_like of float
        Dirichlet parameters of the proportions, one or K of them.
    batch_size : int, optional
        Documents per step, S; all by default.
    n_steps : int, default 30
        Number of steps.
    delay, decay : float
        :math:`\tau` and c, between 1/2 and 1, of the steps with batches.
    topics : array_like of float, optional
        Unit vectors of shape (K, V) to start from; by default, random ones around ``mean``.
    rng : Generator or int, optional
        Source of the start and of the batches, or a seed.

    Returns
    -------
    VariationalAdmixture
        Topics, proportions and the bound.

    Raises
    ------
    ValueError
        If documents, ``mean`` or ``topics`` are not unit vectors, or an argument is out of its
        range.

    Notes
    -----
    As in the published programs, the topics' approximate concentration is fixed at
    :math:`\sigma`; these take gradient steps where this function maximises by L-BFGS. The
    expected cosine is not bounded from below, so that the bound is approximate too. The common
    direction is integrated out, given the means of the topics.

    References
    ----------
    Reisinger, J., Waters, A., Silverthorn, B. and Mooney, R. J. (2010). Spherical topic models.
    ICML.

    Liu, C., Zhu, J. and Song, Y. (2016). Stochastic gradient geodesic MCMC methods. NIPS. The
    baselines VI and StoVI of section 5.3.

    Examples
    --------
    >>> import numpy as np, pymc_geodesic as pmg
    >>> rng = np.random.default_rng(1)
    >>> about = np.repeat(np.eye(2), 100, axis=0)
    >>> counts = rng.poisson(about @ np.repeat([[4.0, 0.2], [0.2, 4.0]], 10, axis=1))
    >>> corpus = pmg.BagOfWords(counts).unit_vectors()
    >>> found = pmg.topics.fit_spherical_admixture(
    ...     corpus,
    ...     n_topics=2,
    ...     mean=corpus.mean_direction(),
    ...     mean_concentration=10.0,
    ...     concentration=10.0,
    ...     kappa=100.0,
    ...     alpha=0.1,
    ...     n_steps=10,
    ...     rng=1,
    ... )
    >>> bool(abs(found.topics[0] @ found.topics[1]) < 0.3)
    True
    """
    matrix = read_documents(documents).astype(np.float64)
    n_words = matrix.shape[1]
    require_unit(sp.linalg.norm(matrix, axis=1), "documents")
    n_topics, n_documents = whole("n_topics", n_topics), matrix.shape[0]
    direction = _unit(mean, (n_words,), "mean")
    bound = AdmixtureBound(
        direction,
        mean_concentration=positive("mean_concentration", mean_concentration),
        concentration=positive("concentration", concentration),
        kappa=positive("kappa", kappa),
        alpha=read_alpha(alpha, n_topics),
    )
    delay, decay = positive("delay", delay), share("decay", decay, least=0.5, most=1.0)
    rng = np.random.default_rng(rng)
    b = _start(direction, n_topics, rng) if topics is None else topics
    b = _unit(b, (n_topics, n_words), "topics")
    size = n_documents if batch_size is None else whole("batch_size", batch_size)
    size = min(size, n_documents)
    proportions = np.tile(bound.alpha, (n_documents, 1))
    found = []
    for t in range(1, whole("n_steps", n_steps) + 1):
        rows = np.arange(n_documents)
        if batch_size is not None:
            rows = np.sort(rng.choice(n_documents, size, replace=False))
        batch, scale = matrix[rows], n_documents / size
        proportions[rows] = _best_proportions(bound, proportions[rows], batch, b)
        best = _best_topics(bound, b, proportions[rows], batch, scale)
        weight = 1.0 if batch_size is None else (t + delay) ** -decay
        b = (1 - weight) * b + weight * best
        b /= np.linalg.norm(b, axis=1, keepdims=True)
        found.append(_value(bound, b, proportions[rows], batch, scale))
    return VariationalAdmixture(b, proportions, np.array(found))


def _best_proportions(bound: AdmixtureBound, a, documents, b) -> np.ndarray:
    products, gram = documents @ np.ascontiguousarray(b.T), b @ b.T

    def negative(log_a):
        a_now = np.exp(log_a.reshape(a.shape))
        value, gradient = bound.of_documents(a_now, products, gram)
        return -value, -(gradient * a_now).ravel()

    start = np.log(np.maximum(a, LEAST)).ravel()
    found = _minimize(negative, start, OF_PROPORTIONS)
    return np.maximum(np.exp(found.reshape(a.shape)), LEAST)


def _best_topics(bound: AdmixtureBound, b, a, documents, scale: float) -> np.ndarray:
    def negative(raw):
        raw = raw.reshape(b.shape)
        lengths = np.linalg.norm(raw, axis=1, keepdims=True)
        unit = raw / lengths
        value, gradient = bound.of_topics(unit, a, documents, scale=scale)
        tangent = gradient - unit * (unit * gradient).sum(axis=1, keepdims=True)
        return -value, -(tangent / lengths).ravel()

    # In units in which an entry is of order one.
    best = _minimize(negative, (b * np.sqrt(b.shape[1])).ravel(), OF_TOPICS).reshape(b.shape)
    return best / np.linalg.norm(best, axis=1, keepdims=True)


def _minimize(function: Callable, start: np.ndarray, n_iterations: int) -> np.ndarray:
    options = {"maxiter": n_iterations}
    return minimize(function, start, jac=True, method="L-BFGS-B", options=options).x


def _value(bound: AdmixtureBound, b, a, documents, scale: float) -> float:
    of_documents, _ = bound.of_documents(a, documents @ np.ascontiguousarray(b.T), b @ b.T)
    # The cosines are in both; without documents the terms of the topics are those of their prior.
    of_prior, _ = bound.of_topics(b, a[:0], documents[:0], scale=1.0)
    return scale * of_documents + of_prior


def _start(direction: np.ndarray, n_topics: int, rng: np.random.Generator) -> np.ndarray:
    start = direction + rng.normal(size=(n_topics, len(direction))) / np.sqrt(len(direction))
    return start / np.linalg.norm(start, axis=1, keepdims=True)


def _unit(vectors: ArrayLike, shape: tuple[int, ...], name: str) -> np.ndarray:
    found = np.asarray(vectors, np.float64)
    if found.shape != shape:
        raise ValueError(f"`{name}` expected unit vectors of shape {shape}, got {found.shape}.")
    require_unit(np.linalg.norm(np.atleast_2d(found), axis=1), name)
    return found

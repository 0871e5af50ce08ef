#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Evaluation of the topics of the spherical admixture model on new documents."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from numpy.typing import ArrayLike
from scipy.special import logsumexp

from pymc_geodesic.distributions.bessel import vmf_log_normalizer
from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.topic_models.completion import Perplexity, RunningAverage
from pymc_geodesic.topic_models.read import Documents, Draws, read_documents, read_topics
from pymc_geodesic.topic_models.topic_counts import read_alpha

__all__ = ["log_perplexity", "require_unit"]

# Precision of the length of a vector of 100,000 words in single precision.
_LENGTH_TOLERANCE = 1e-3


def log_perplexity(
    topics: Draws,
    *,
    documents: Documents,
    alpha: ArrayLike,
    kappa: float,
    n_proportions: int = 200,
    rng: np.random.Generator | int | None = None,
    var_name: str = "topics",
) -> Perplexity:
    r"""Log perplexity of documents on the sphere under the spherical admixture model.

    A document is a unit vector :math:`v_d`, von Mises-Fisher about the direction
    :math:`\bar v = \beta\theta / \lVert \beta\theta \rVert` of a mixture of the topics
    :math:`\beta_k`. With M draws of the topics and N proportions :math:`\theta^{(n)}` from the
    Dirichlet prior,

    .. math::

        -\frac{1}{D} \sum_d \log \frac{1}{MN} \sum_{m, n}
        \operatorname{vMF}\bigl(v_d \mid \bar v(\beta^{(m)}, \theta^{(n)}), \kappa\bigr),

    with the normaliser :math:`\log c_V(\kappa)`. All documents and draws use the same
    proportions, as in the paper.

    Parameters
    ----------
    topics : DataTree or array_like of float
        Draws of the topics: the result of ``pm.sample``, or an array of shape (..., K, V) whose
        leading axes are draws. Topics are unit vectors.
    documents : sparse matrix or array_like of float
        Unit vectors, of shape (D, V).
    alpha : array_like of float
        Dirichlet parameters of the proportions, positive, one or K of them.
    kappa : float
        Concentration of the documents, positive.
    n_proportions : int
        Number N of proportions.
    rng : numpy.random.Generator or int, optional
        Source of the proportions, or its seed.
    var_name : str
        Name of the topics in the posterior.

    Returns
    -------
    Perplexity
        In nats per document.

    Raises
    ------
    ValueError
        If shapes do not fit, documents or topics are not unit vectors, or parameters are not
        positive.

    Notes
    -----
    For large ``kappa`` the largest of the M N terms dominates, so that the log perplexity decreases
    as draws are added. Only compare results with the same M and N: ``cumulative`` has them for
    every M.

    References
    ----------
    Liu, C., Zhu, J. and Song, Y. (2016). Stochastic gradient geodesic MCMC methods. NIPS.
    Section 5.3 and appendix F.

    Reisinger, J., Waters, A., Silverthorn, B. and Mooney, R. J. (2010). Spherical topic models.
    ICML.

    Examples
    --------
    >>> import numpy as np
    >>> found = log_perplexity(
    ...     np.eye(3)[None, :2], documents=np.eye(3), alpha=1.0, kappa=2.0, rng=1
    ... )
    >>> round(found.value, 1)
    2.2
    """
    draws = read_topics(topics, var_name)
    _, n_topics, n_words = draws.shape
    documents = read_documents(documents, n_words).astype(np.float64)
    require_unit(sp.linalg.norm(documents, axis=1), "documents")
    require_unit(np.sqrt(np.einsum("mkv,mkv->mk", draws, draws)), "topics")
    if not (np.ndim(kappa) == 0 and 0 < kappa < np.inf):
        raise ValueError(f"`kappa` expected one positive number, got {kappa}.")
    if n_proportions < 1:
        raise ValueError(f"`n_proportions` expected 1 or more, got {n_proportions}.")
    weights = np.random.default_rng(rng).dirichlet(read_alpha(alpha, n_topics), n_proportions)
    [constant] = Interpreted([], [vmf_log_normalizer(n_words, kappa) - np.log(n_proportions)])()
    average = RunningAverage(np.ones(documents.shape[0]))
    for draw in draws:
        cosines = _cosines(documents, draw.astype(np.float64), weights)
        average.add(logsumexp(kappa * cosines, axis=1) + constant)
    return average.perplexity(exponential=False)


def _cosines(documents: sp.csr_array, topics: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Cosines between all documents and the mixtures of topics with all weights."""
    inner = documents @ np.ascontiguousarray(topics.T)
    lengths = np.sqrt(np.einsum("nk,nk->n", weights @ (topics @ topics.T), weights))
    return inner @ (weights / lengths[:, None]).T


def require_unit(lengths: np.ndarray, what: str) -> None:
    """Raise a ValueError if vectors of these lengths are not unit vectors."""
    off = np.abs(lengths - 1)
    if not np.all(off < _LENGTH_TOLERANCE):
        raise ValueError(
            f"`{what}` expected unit vectors, got length {lengths.flat[off.argmax()]:g}. Divide "
            "them by their lengths, and drop zero vectors."
        )

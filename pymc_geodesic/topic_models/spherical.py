#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Evaluation of the topics of the spherical admixture model on new documents, and its bound.

The variational bound of the spherical admixture model, and its gradients.

With Dirichlet parameters a of the proportions of a document, and topics of mean :math:`A b_k` with
unit vectors :math:`b_k` and :math:`A = A_V(\sigma)`, the mixture
:math:`w = \sum_k \theta_k \beta_k` has

.. math::

    E[w] = \frac{A}{a_0} \sum_k a_k b_k, \qquad
    E|w|^2 = \frac{a_0 + (1 - A^2) \sum_k a_k^2 + A^2 |\sum_k a_k b_k|^2}{a_0 (a_0 + 1)},
    \qquad a_0 = \sum_k a_k,

and the expected cosine of a document with it is taken to be :math:`v^\top E[w] / \sqrt{E|w|^2}`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from numpy.typing import ArrayLike
from pytensor.tensor import scalar
from scipy.special import digamma, gammaln, logsumexp, polygamma

from pymc_geodesic.distributions.bessel import bessel_ratio, vmf_log_normalizer
from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.topic_models.completion import Perplexity, RunningAverage
from pymc_geodesic.topic_models.read import Documents, Draws, read_documents, read_topics
from pymc_geodesic.topic_models.topic_counts import read_alpha

__all__ = ["AdmixtureBound", "Moments", "log_perplexity", "require_unit"]


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


class Moments(NamedTuple):
    """Per document: sum of a, mean and length of the mixture in units of them, weights."""

    total: np.ndarray
    inner: np.ndarray
    squared: np.ndarray


class AdmixtureBound:
    """The terms of the bound that depend on topics and proportions.

    Parameters
    ----------
    mean : ndarray of shape (V,)
        Prior mean direction of the topics' common direction.
    mean_concentration, concentration, kappa : float
        Concentration of the common direction, of the topics around it, of documents.
    alpha : ndarray of shape (K,)
        Dirichlet parameters of the prior of proportions.
    """

    def __init__(
        self,
        mean: np.ndarray,
        *,
        mean_concentration: float,
        concentration: float,
        kappa: float,
        alpha: np.ndarray,
    ) -> None:
        length = scalar("length", dtype="float64")
        n = len(mean)
        self._vmf = Interpreted([length], [vmf_log_normalizer(n, length), bessel_ratio(n, length)])
        self.prior = mean_concentration * mean
        self.concentration, self.kappa, self.alpha = concentration, kappa, alpha
        self.mean_length = float(self._vmf(np.float64(concentration))[1])

    def of_documents(
        self, a: np.ndarray, products: np.ndarray, gram: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """Return the terms of documents, and their gradient in a.

        ``products`` are the inner products of documents with the topics b, of shape (S, K), and
        ``gram`` those between the topics.
        """
        A, kappa, alpha = self.mean_length, self.kappa, self.alpha
        moments = self._moments(a, products, gram)
        total, size = moments.total, moments.total * (moments.total + 1)
        cosines = A * moments.inner / (total * np.sqrt(moments.squared))
        rise = 1 + 2 * (1 - A**2) * a + 2 * A**2 * (a @ gram)
        rise = rise / size[:, None] - (moments.squared * (2 * total + 1) / size)[:, None]
        slopes = A * products / (total * np.sqrt(moments.squared))[:, None]
        slopes -= cosines[:, None] * (1 / total[:, None] + 0.5 * rise / moments.squared[:, None])
        beyond = a - alpha
        entropy = gammaln(a).sum(axis=1) - gammaln(total)
        entropy -= (beyond * (digamma(a) - digamma(total)[:, None])).sum(axis=1)
        gradient = kappa * slopes - beyond * polygamma(1, a)
        gradient += (beyond.sum(axis=1) * polygamma(1, total))[:, None]
        return float((kappa * cosines + entropy).sum()), gradient

    def of_topics(
        self, b: np.ndarray, a: np.ndarray, documents, *, scale: float
    ) -> tuple[float, np.ndarray]:
        """Return the terms that depend on the topics, and their gradient in b.

        ``scale`` is the number of all documents over that of ``documents``.
        """
        A = self.mean_length
        products = documents @ np.ascontiguousarray(b.T)
        moments = self._moments(a, products, b @ b.T)
        root = np.sqrt(moments.squared)
        cosines = A * moments.inner / (moments.total * root)
        pulled = documents.T @ (a / (moments.total * root)[:, None])
        size = moments.total * (moments.total + 1)
        weights = moments.inner / (moments.total * root**3 * size)
        spread = A**2 * (a * weights[:, None]).T @ a
        gradient = scale * self.kappa * A * (np.asarray(pulled).T - spread @ b)
        common = self.prior + self.concentration * A * b.sum(axis=0)
        length = np.linalg.norm(common)
        log_normalizer, ratio = (float(x) for x in self._vmf(np.float64(length)))
        gradient += self.concentration * A * ratio * common / length
        return float(scale * self.kappa * cosines.sum() - log_normalizer), gradient

    def _moments(self, a: np.ndarray, products: np.ndarray, gram: np.ndarray) -> Moments:
        A, total = self.mean_length, a.sum(axis=1)
        squared = total + (1 - A**2) * (a**2).sum(axis=1) + A**2 * ((a @ gram) * a).sum(axis=1)
        return Moments(total, (a * products).sum(axis=1), squared / (total * (total + 1)))

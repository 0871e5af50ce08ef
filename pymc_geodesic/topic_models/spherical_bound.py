#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""The variational bound of the spherical admixture model, and its gradients.

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

from pytensor.tensor import scalar
from scipy.special import digamma, gammaln, polygamma

from pymc_geodesic.distributions.bessel import bessel_ratio, vmf_log_normalizer
from pymc_geodesic.kernel.interpreted import Interpreted

__all__ = ["AdmixtureBound", "Moments"]


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

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The concentration of documents on the sphere around their directions."""

from __future__ import annotations

import numpy as np
import pytensor.tensor as pt
import scipy.sparse as sp

from numpy.typing import ArrayLike
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import brentq, nnls

from pymc_geodesic.distributions.bessel import bessel_ratio
from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.topic_models.read import Documents, read_documents
from pymc_geodesic.topic_models.spherical import require_unit

__all__ = ["fit_concentration"]

# Keeps the Cholesky factor of equal topics finite.
RIDGE = 1e-10


def fit_concentration(documents: Documents, *, topics: ArrayLike | None = None) -> float:
    r"""Fit the concentration of documents on the sphere by maximum likelihood.

    Around directions :math:`\bar v_d` the von Mises-Fisher likelihood of unit vectors in V
    dimensions is largest at the :math:`\hat\kappa` with

    .. math::

        A_V(\hat\kappa) = \frac1D \sum_d \bar v_d^\top v_d, \qquad
        A_V(\kappa) = \frac{I_{V/2}(\kappa)}{I_{V/2 - 1}(\kappa)}.

    Without topics all documents have the direction of their mean, and the right side is the
    resultant length :math:`|\sum_d v_d| / D`. With topics each document has the direction of
    the nearest mixture.

    Parameters
    ----------
    documents : BagOfWords, sparse matrix or array_like of float
        Unit vectors, of shape (D, V), for instance of :meth:`BagOfWords.tf_idf`; or topics, for
        their concentration around their mean.
    topics : array_like of float, shape (K, V), optional
        Unit vectors: topics or centres of clusters.

    Returns
    -------
    float
        :math:`\hat\kappa`, which is proportional to V if documents are far apart. The value for the
        mean direction is a lower bound of that for topics.

    Raises
    ------
    ValueError
        If vectors are not unit vectors or differ in length, or if documents are all equal or have
        no mean direction.

    Notes
    -----
    The nearest mixture has K - 1 parameters per document, which makes the value for topics too
    large by about (V - 1) / (V - K). With a concentration that is many times too large, new
    documents are far in the tails: check :func:`log_perplexity` on new documents.

    References
    ----------
    Banerjee, A., Dhillon, I. S., Ghosh, J. and Sra, S. (2005). Clustering on the unit hypersphere
    using von Mises-Fisher distributions. Journal of Machine Learning Research 6. Section 2.2.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[0.6, 0.8], [0.6, -0.8]])
    >>> round(fit_concentration(x), 2)
    1.52
    """
    matrix = read_documents(documents).astype(np.float64)
    require_unit(sp.linalg.norm(matrix, axis=1), "documents")
    mean = matrix.mean(axis=0)
    cosine = float(np.linalg.norm(mean)) if topics is None else _mean_cosine(matrix, topics)
    # Without a mean direction the resultant length is of the order of one over the root of D.
    if not 0 < cosine < 1 - 1e-12:
        raise ValueError(
            "`fit_concentration` expected documents that differ and have a mean direction, got a "
            f"mean cosine of {cosine:.6g} to their directions. Check the contents of the documents."
        )
    return _inverse_ratio(matrix.shape[1], cosine)


def _mean_cosine(documents: sp.csr_array, topics: ArrayLike) -> float:
    """Average the cosines between documents and the nearest mixtures of topics."""
    topics = np.asarray(topics, dtype=float)
    if topics.ndim != 2 or topics.shape[1] != documents.shape[1]:
        raise ValueError(
            f"`topics` expected a matrix (topics, words) with {documents.shape[1]} columns, like "
            f"the documents, got shape {topics.shape}. Pass one draw, or their mean direction."
        )
    require_unit(np.linalg.norm(topics, axis=1), "topics")
    # In the frame of the topics' span a document has K coordinates.
    factor = cholesky(topics @ topics.T + RIDGE * np.eye(len(topics)), lower=True)
    inner = solve_triangular(factor, (documents @ topics.T).T, lower=True).T
    # The least-squares solution points to the nearest mixture; its residual is the sine.
    squares = [np.sum(row**2) - nnls(factor.T, row)[1] ** 2 for row in inner]
    return float(np.sqrt(np.maximum(squares, 0)).mean())


def _inverse_ratio(n: int, value: float) -> float:
    """Solve A_n(kappa) = value."""
    kappa = pt.dscalar("kappa")
    ratio = Interpreted([kappa], [bessel_ratio(n, kappa)])
    # Within a factor of two for all n and values (Banerjee et al. 2005, equation 4.4).
    guess = value * (n - value**2) / (1 - value**2)
    found = brentq(
        lambda log_kappa: float(ratio(np.exp(log_kappa))[0]) - value,
        np.log(guess) - 1.0,
        np.log(guess) + 1.0,
        xtol=1e-10,
    )
    return float(np.exp(found))

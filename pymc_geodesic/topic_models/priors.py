#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Priors of latent Dirichlet allocation learned from documents."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.special import digamma, gammaln

from pymc_geodesic.topic_models.read import Documents, Draws, read_chains, read_documents
from pymc_geodesic.topic_models.topic_counts import counts_of_rows, read_alpha
from pymc_geodesic.validation import flag, whole

__all__ = ["TopicPriors", "fit_polya", "fit_priors"]


class TopicPriors(NamedTuple):
    """Concentrations of the Dirichlet priors of latent Dirichlet allocation.

    Attributes
    ----------
    alpha : ndarray
        Of the proportions of topics in documents, of shape (K,).
    eta : float
        Of the words in a topic.
    """

    alpha: np.ndarray
    eta: float


def fit_priors(
    topics: Draws,
    *,
    documents: Documents,
    alpha: ArrayLike,
    symmetric: bool = True,
    rounds: int = 40,
    sweeps: int = 10,
    rng: np.random.Generator | int | None = None,
    var_name: str = "topics",
) -> TopicPriors:
    r"""Learn the concentrations of the priors from documents, starting from a draw of the topics.

    Stochastic EM: each round draws the topic of every token by Gibbs sampling, maximises the
    likelihood of the assignments, which is Dirichlet-multinomial, and draws the topics given the
    assignments. With :math:`n_{dk}` tokens of topic k in document d and :math:`n_{kw}` of word w
    in topic k,

    .. math::

        \alpha \leftarrow \arg\max_\alpha \log p(n_{d \cdot} \mid \alpha), \qquad
        \eta \leftarrow \arg\max_\eta \log p(n_{k \cdot} \mid \eta), \qquad
        \pi_k \sim \operatorname{Dirichlet}(\eta + n_{k \cdot}).

    The results are geometric means over the second half of the rounds. Sample the topics again
    with them.

    Parameters
    ----------
    topics : DataTree or array_like of float
        Draws of the topics, word probabilities, as for
        :func:`pymc_geodesic.topic_models.top_words`. The last draw of the first chain is used.
    documents : BagOfWords, sparse matrix or array_like of int
        Counts of words, of shape (D, V): all documents, or some thousand of them.
    alpha : array_like of float
        Concentrations to begin with, positive, one or K of them: those of the model.
    symmetric : bool
        Whether all topics have the same concentration. Otherwise frequent topics have larger ones;
        start the next run from these topics, because other orders would not fit ``alpha``.
    rounds : int
        Number of rounds, each a run of Gibbs sampling over all documents.
    sweeps : int
        Number of sweeps of each run, of which the last is used.
    rng : numpy.random.Generator or int, optional
        Source of the draws, or its seed.
    var_name : str
        Name of the topics in the posterior.

    Returns
    -------
    TopicPriors
        ``alpha`` for :class:`LatentDirichletAllocation` and ``eta`` for
        :class:`SymmetricDirichlet`.

    Raises
    ------
    ValueError
        If shapes do not fit, documents are not counts, or ``alpha`` is not positive.

    Notes
    -----
    These are estimates, without an uncertainty: with more than some hundred documents it is
    negligible. Learned priors matter most for predictions of short documents. The topics are drawn
    anew because alpha is sensitive to them: with topics that have three per cent of their
    probability on words that they lack, as draws of :class:`SGRLD` at large steps may have, the
    estimate was 0.13 instead of 0.2.

    References
    ----------
    Celeux, G. and Diebolt, J. (1985). The SEM algorithm: a probabilistic teacher algorithm derived
    from the EM algorithm for the mixture problem. Computational Statistics Quarterly 2.

    Wallach, H. M., Mimno, D. and McCallum, A. (2009). Rethinking LDA: why priors matter. NIPS.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> topics = np.array([[0.98, 0.01, 0.01], [0.01, 0.01, 0.98]])
    >>> counts = rng.multinomial(50, rng.dirichlet([0.3, 0.3], size=500) @ topics)
    >>> found = fit_priors(topics, documents=counts, alpha=1.0, rng=1)
    >>> bool(np.all(abs(found.alpha - 0.3) < 0.05))
    True
    """
    present = np.asarray(read_chains(topics, var_name)[0, -1], dtype="float64")
    rows = read_documents(documents, present.shape[1])
    rng = np.random.default_rng(rng)
    concentrations = read_alpha(alpha, len(present))
    eta, found = np.full(present.shape[1], 0.1), []
    symmetric, rounds = flag("symmetric", symmetric), whole("rounds", rounds)
    for _ in range(rounds):
        csr = (rows.indptr, rows.indices, rows.data)
        counts = counts_of_rows(
            *csr, present, alpha=concentrations, rng=rng, sweeps=sweeps, discard=sweeps - 1
        )
        by_word, by_document = (np.rint(part).astype("int64") for part in counts)
        concentrations = fit_polya(by_document, start=concentrations, symmetric=symmetric)
        eta = fit_polya(by_word, start=eta, symmetric=True)
        present = np.stack([rng.dirichlet(eta + words) for words in by_word])
        found.append((np.log(concentrations), np.log(eta[0])))
    alphas, etas = zip(*found[rounds // 2 :], strict=True)
    return TopicPriors(np.exp(np.mean(alphas, axis=0)), float(np.exp(np.mean(etas))))


# Logarithms of concentrations: beyond these, rows are one-hot or multinomial to double precision.
_BOUNDS = (-14.0, 14.0)


def fit_polya(counts: np.ndarray, *, start: np.ndarray, symmetric: bool) -> np.ndarray:
    r"""Return the concentrations with the largest likelihood of rows of counts.

    .. math::

        \log p(n \mid \alpha) = \sum_d \log \frac{\Gamma(\alpha_0)}{\Gamma(\alpha_0 + n_d)}
            + \sum_{dk} \log \frac{\Gamma(\alpha_k + n_{dk})}{\Gamma(\alpha_k)},
        \qquad \alpha_0 = \sum_k \alpha_k .

    Parameters
    ----------
    counts : ndarray of int, shape (D, K)
        Rows of counts.
    start : ndarray, shape (K,)
        Positive concentrations to begin with.
    symmetric : bool
        Whether all concentrations are equal.

    Returns
    -------
    ndarray
        Of shape (K,).

    References
    ----------
    Minka, T. P. (2000). Estimating a Dirichlet distribution. Section 3.

    Examples
    --------
    >>> counts = np.random.default_rng(1).multinomial(50, [0.2, 0.8], size=300)
    >>> found = fit_polya(counts, start=np.ones(2), symmetric=False)
    >>> bool(found.sum() > 50)  # The rows differ no more than multinomial ones do.
    True
    """
    n_columns = counts.shape[1]
    totals, rows = np.unique(counts.sum(axis=1), return_counts=True)
    columns = [counts.ravel()] if symmetric else list(counts.T)
    histograms = [np.unique(column[column > 0], return_counts=True) for column in columns]

    def loss(logs: np.ndarray) -> tuple[float, np.ndarray]:
        alpha = np.exp(logs)
        times = n_columns / len(alpha)
        total = times * alpha.sum()
        value = rows @ (gammaln(total) - gammaln(total + totals))
        common = rows @ (digamma(total) - digamma(total + totals))
        gradient = np.full(len(alpha), times * common)
        for k, (numbers, repeats) in enumerate(histograms):
            value += repeats @ (gammaln(alpha[k] + numbers) - gammaln(alpha[k]))
            gradient[k] += repeats @ (digamma(alpha[k] + numbers) - digamma(alpha[k]))
        scale = 1 / max(counts.sum(), 1)
        return -scale * value, -scale * gradient * alpha

    logs = np.log([start.mean()] if symmetric else start)
    bounds = [_BOUNDS] * len(logs)
    found = minimize(loss, logs, jac=True, method="L-BFGS-B", bounds=bounds, tol=1e-12)
    return np.broadcast_to(np.exp(found.x), n_columns).copy()

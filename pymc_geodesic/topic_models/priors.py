#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Priors of latent Dirichlet allocation learned from documents."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numpy.typing import ArrayLike

from pymc_geodesic.topic_models.alignment import require_aligned
from pymc_geodesic.topic_models.polya import fit_polya
from pymc_geodesic.topic_models.read import Documents, Draws, read_chains, read_documents
from pymc_geodesic.topic_models.topic_counts import counts_of_rows, read_alpha
from pymc_geodesic.validation import flag, whole

__all__ = ["TopicPriors", "fit_priors"]


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
    rounds: int = 20,
    sweeps: int = 10,
    rng: np.random.Generator | int | None = None,
    var_name: str = "topics",
) -> TopicPriors:
    r"""Learn the concentrations of the priors from documents, given draws of the topics.

    Stochastic EM: each round takes the next draw of the topics, draws the topic of every token
    by Gibbs sampling with the present :math:`\alpha`, and maximises the likelihood of the
    assignments, which is Dirichlet-multinomial. With :math:`n_{dk}` tokens of topic k in document
    d and :math:`n_{kw}` of word w in topic k,

    .. math::

        \alpha \leftarrow \arg\max_\alpha \log p(n_{d \cdot} \mid \alpha), \qquad
        \eta \leftarrow \arg\max_\eta \log p(n_{k \cdot} \mid \eta).

    The results are geometric means over the second half of the rounds. Sample the topics again
    with them; two or three times are usually enough, because topics depend little on their priors.

    Parameters
    ----------
    topics : DataTree or array_like of float
        Draws of the topics, word probabilities, as for
        :func:`pymc_geodesic.topic_models.top_words`.
    documents : BagOfWords, sparse matrix or array_like of int
        Counts of words, of shape (D, V). Some thousand documents are enough for ``alpha``.
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
        If shapes do not fit, documents are not counts, ``alpha`` is not positive, or the order of
        topics differs between chains.

    Notes
    -----
    These are estimates, without an uncertainty: with more than some hundred documents it is
    negligible. Learned priors matter most for predictions of short documents.

    References
    ----------
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
    chains = read_chains(topics, var_name)
    if not flag("symmetric", symmetric):
        require_aligned(chains, "fit_priors")
    draws = chains.reshape(-1, *chains.shape[-2:])
    rows = read_documents(documents, draws.shape[-1])
    rng = np.random.default_rng(rng)
    present = read_alpha(alpha, draws.shape[1])
    start = np.full(draws.shape[-1], 0.1)
    found = []
    for number in range(whole("rounds", rounds)):
        counts = counts_of_rows(
            *(rows.indptr, rows.indices, rows.data),
            draws[number * len(draws) // rounds],
            alpha=present,
            rng=rng,
            sweeps=sweeps,
            discard=sweeps - 1,
        )
        by_word, by_document = (np.rint(part).astype("int64") for part in counts)
        present = fit_polya(by_document, start=present, symmetric=symmetric)
        start = fit_polya(by_word, start=start, symmetric=True)
        found.append((np.log(present), np.log(start[0])))
    alphas, etas = zip(*found[rounds // 2 :], strict=True)
    return TopicPriors(np.exp(np.mean(alphas, axis=0)), float(np.exp(np.mean(etas))))

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Step sizes for the topics of latent Dirichlet allocation, computed from the corpus."""

from __future__ import annotations

import numpy as np

from numpy.typing import ArrayLike

from pymc_geodesic.schedules import PolynomialSchedule
from pymc_geodesic.topic_models.read import Documents, read_documents
from pymc_geodesic.topic_models.step_size_rule import topic_schedule
from pymc_geodesic.topic_models.topic_counts import read_counts
from pymc_geodesic.validation import whole

__all__ = ["sgrld_schedule"]


def sgrld_schedule(
    documents: Documents, *, n_topics: int, batch_size: int, concentration: ArrayLike
) -> PolynomialSchedule:
    r"""Return step sizes for :class:`SGRLD` to learn topics, from the tokens of the corpus.

    For a model with :class:`LatentDirichletAllocation` these are the default ``step_size`` of
    :class:`SGRLD`. A transition moves a topic's word probabilities by the share
    :math:`\rho = \epsilon T / (2 K \sum_w \beta_w)` of the distance to its word frequencies in the
    batch, where T is the number of tokens of the corpus, K that of topics and :math:`\beta` their
    concentration. A topic is therefore an average over :math:`1 / \rho` batches. With :math:`T_S`
    tokens per batch,

    .. math::

        \rho_t = \rho_0 \left(1 + \frac{\rho_0 t}{10}\right)^{-0.6},
        \qquad \rho_0 = \min\left(0.3, \frac{T_S}{\min(T, 2 \cdot 10^6)}\right),
        \qquad \epsilon_t = \frac{2 K \sum_w \beta_w}{T} \rho_t :

    at first a topic is an average over as many tokens as those from which the start of
    :class:`LatentDirichletAllocation` is found, or over three batches, whichever is more. The
    variance of the batches is then half that of the posterior. Later a topic averages over more.

    Parameters
    ----------
    documents : BagOfWords, sparse matrix or array_like of int
        Counts of words of the corpus, of shape (D, V).
    n_topics : int
        Number of topics K.
    batch_size : int
        Documents per minibatch.
    concentration : array_like of float
        Concentration :math:`\beta` of the topics' Dirichlet prior, positive, one or V of them.

    Returns
    -------
    PolynomialSchedule
        For ``SGRLD(step_size=...)``.

    Raises
    ------
    ValueError
        If documents are not counts, or a number is not positive.

    Examples
    --------
    >>> import numpy as np, pymc_geodesic as pmg
    >>> counts = np.full((1000, 50), 2)
    >>> found = pmg.topics.sgrld_schedule(counts, n_topics=10, batch_size=20, concentration=0.1)
    >>> round(found.a, 6), round(found.b, 1), found.c
    (2e-05, 500.0, 0.6)
    """
    counts = read_documents(documents)
    n_tokens = float(read_counts(counts.data).sum())
    n_topics, batch_size = whole("n_topics", n_topics), whole("batch_size", batch_size)
    concentration = np.broadcast_to(np.asarray(concentration, dtype=float), counts.shape[1])
    if n_tokens == 0 or not np.all((concentration > 0) & np.isfinite(concentration)):
        raise ValueError(
            "`sgrld_schedule` expected documents with words and a positive `concentration`, got "
            f"{n_tokens:.0f} tokens and a smallest concentration of {concentration.min():.4g}. "
            "Pass the data of the model, and the concentration of its prior of topics."
        )
    return topic_schedule(
        n_tokens,
        tokens_per_batch=n_tokens * batch_size / counts.shape[0],
        n_topics=n_topics,
        total_concentration=float(concentration.sum()),
    )

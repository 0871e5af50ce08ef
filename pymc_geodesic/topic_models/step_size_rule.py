#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Step sizes of Riemannian Langevin dynamics for the topics of a corpus.

In the expanded-mean coordinates :math:`\theta` a topic with n tokens in the whole corpus moves, in
a transition with step size :math:`\epsilon`, by :math:`\tfrac{\epsilon}{2} (N/|S|) \sum_{d \in S}
(n_{dw} - \pi_w n_d)`, which is :math:`\tfrac{\epsilon}{2} n (\hat\pi_w - \pi_w)` on average, and
:math:`\pi = \theta / \sum_w \theta_w`. Its probabilities therefore move by the share

.. math::

    \rho = \frac{\epsilon \, n}{2 \sum_w \theta_w}

of the distance to the frequencies :math:`\hat\pi` of the batch: a topic is an average of the words
of about :math:`1 / \rho` batches. The sum of :math:`\theta` is about that of the prior's
concentrations, and n about the tokens of the corpus over the number of topics.
"""

from __future__ import annotations

from pymc_geodesic.schedules import PolynomialSchedule

__all__ = ["START_TOKENS", "topic_schedule"]

# Most tokens from which a start is found: about 70,000 for each of 30 topics, and a few seconds.
START_TOKENS = 2_000_000

# Largest share of the distance to the words of a batch. From one on, entries are reflected at zero
# and the sum of the coordinates grows unnecessarily.
LARGEST_SHARE = 0.3
# Averages at the first step size before the decay sets in.
N_MEMORIES = 10.0
# Between 1/2 and 1, so that the noise of the batches averages out and a poor start is forgotten.
DECAY = 0.6


def topic_schedule(
    n_tokens: float,
    *,
    tokens_per_batch: float,
    n_topics: int,
    total_concentration: float,
) -> PolynomialSchedule:
    r"""Return step sizes at which topics first average over as many tokens as their start.

    The first share is :math:`\rho_0 = \min(0.3, T_S / \min(T, 2 \cdot 10^6))` with :math:`T_S`
    tokens per batch, and

    .. math::

        \epsilon_t = \frac{2 \rho_0 K \sum_w \beta_w}{T}
            \left(1 + \frac{\rho_0 t}{10}\right)^{-0.6}.

    Parameters
    ----------
    n_tokens : float
        Number T of tokens of the corpus.
    tokens_per_batch : float
        Average number of tokens of a minibatch.
    n_topics : int
        Number of topics K.
    total_concentration : float
        Sum of the concentrations of a topic's Dirichlet prior.
    """
    share = min(LARGEST_SHARE, tokens_per_batch / min(n_tokens, START_TOKENS))
    first = 2 * share * n_topics * total_concentration / n_tokens
    return PolynomialSchedule(first, N_MEMORIES / share, DECAY)

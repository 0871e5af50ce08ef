#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Step sizes for the topics of latent Dirichlet allocation, computed from the corpus.

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

from collections.abc import Sequence

import numpy as np

from numpy.typing import ArrayLike
from pymc.model import Model
from pytensor.tensor import TensorVariable

from pymc_geodesic.algorithms.default_schedules import (
    Point,
    register_default_schedule,
    register_default_starts,
)
from pymc_geodesic.distributions.symmetric_dirichlet import known_concentration
from pymc_geodesic.graph_inputs import evaluated
from pymc_geodesic.potential.batch_structure import observed_rv
from pymc_geodesic.potential.packed import corpus_of, corpus_size
from pymc_geodesic.potential.variables import SampledVariable
from pymc_geodesic.schedules import PolynomialSchedule
from pymc_geodesic.stages import log
from pymc_geodesic.topic_models.latent_dirichlet_allocation import (
    LatentDirichletAllocationRV,
    some_documents,
)
from pymc_geodesic.topic_models.read import Documents, read_documents
from pymc_geodesic.topic_models.sample import Assignments
from pymc_geodesic.topic_models.topic_counts import read_counts
from pymc_geodesic.validation import whole

__all__ = [
    "START_TOKENS",
    "schedule_of_topics",
    "sgrld_schedule",
    "starts_of_topics",
    "topic_schedule",
]


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


def schedule_of_topics(
    model: Model, variables: Sequence[SampledVariable]
) -> PolynomialSchedule | None:
    """Return the step sizes for the topics of latent Dirichlet allocation; None for other models.

    Parameters
    ----------
    model : Model
        A model with documents as data.
    variables : sequence of SampledVariable
        The sampled variables: only the topics.
    """
    nodes = [observed_rv(rv).owner for rv in model.observed_RVs]
    allocations = [node for node in nodes if isinstance(node.op, LatentDirichletAllocationRV)]
    if len(allocations) != 1 or len(variables) != 1:
        return None
    [node], [variable] = allocations, variables
    if variable.rv not in node.op.dist_params(node):
        return None
    n_topics, n_words = variable.shape[-2:]
    concentration = known_concentration(variable.rv)
    total = float(n_words)
    if concentration is not None:
        total = float(np.mean(concentration.sum(axis=-1) * n_words / concentration.shape[-1]))
    observed = model.rvs_to_values[model.observed_RVs[nodes.index(node)]]
    n_documents, n_tokens = corpus_size(observed)
    batch_size = observed.type.shape[0] or n_documents
    return topic_schedule(
        n_tokens,
        tokens_per_batch=n_tokens * batch_size / n_documents,
        n_topics=n_topics,
        total_concentration=total,
    )


register_default_schedule(LatentDirichletAllocationRV, schedule_of_topics)


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


SWEEPS = 100


def starts_of_topics(
    model: Model, rv: TensorVariable, points: Sequence[Point], rng: np.random.Generator
) -> Sequence[Point]:
    """Return draws of the topics given the assignments of one run of collapsed Gibbs sampling.

    All chains start in the same solution, so that means over chains have a meaning. A start whose
    topics differ was given and is kept, or is from another corpus with the same topics. One with
    equal topics is none: their gradients are equal.

    Parameters
    ----------
    model : Model
        A model.
    rv : TensorVariable
        Its documents, from :class:`LatentDirichletAllocation`.
    points : sequence of dict of str to ndarray
        PyMC's values of all variables, for each chain.
    rng : Generator
        Source of the draws.

    Returns
    -------
    sequence of dict of str to ndarray
        The points, with other topics of shape (K, V) where these were equal. All are as given if
        the topics are not a variable with a Dirichlet prior of known concentration.
    """
    node = observed_rv(rv).owner
    topics, alpha = node.op.dist_params(node)[:2]
    concentration = known_concentration(topics) if topics in model.free_RVs else None
    if concentration is None:
        return points
    name = model.rvs_to_values[topics].name
    poor = [np.ptp(point[name], axis=0).max(initial=0.0) == 0 for point in points]
    if not any(poor):
        return points
    shape = model.eval_rv_shapes()[topics.name]
    corpus = [array.get_value(borrow=True) for array in corpus_of(model.rvs_to_values[rv])]
    documents = some_documents(corpus, n_words=shape[-1], n_tokens=START_TOKENS)
    log.info(
        f"Finding a start of `{topics.name}` by collapsed Gibbs sampling of "
        f"{documents.shape[0]:,} documents ..."
    )
    beta = np.broadcast_to(concentration, shape).mean(axis=0)
    assignments = Assignments(documents, alpha=evaluated(alpha), beta=beta)
    assignments.sweep(rng, SWEEPS)
    values = np.stack([assignments.draw_topics(rng) for _ in points]).astype(points[0][name].dtype)
    transform = model.rvs_to_transforms[topics]
    if transform is not None:
        values = evaluated(transform.forward(values, *topics.owner.inputs))
    return [
        {**point, name: value} if is_poor else point
        for point, value, is_poor in zip(points, values, poor, strict=True)
    ]


register_default_starts(LatentDirichletAllocationRV, starts_of_topics)

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Step sizes computed from the corpus of a topic model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc.model import Model

from pymc_geodesic.algorithms.default_schedules import node_of, register_default_schedule
from pymc_geodesic.distributions.concentration import known_concentration
from pymc_geodesic.potential.packed import corpus_size
from pymc_geodesic.potential.variables import SampledVariable
from pymc_geodesic.schedules import PolynomialSchedule
from pymc_geodesic.topic_models.latent_dirichlet_allocation import LatentDirichletAllocationRV
from pymc_geodesic.topic_models.step_size_rule import topic_schedule

__all__ = ["schedule_of_topics"]


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
    allocations = [node for node in map(node_of, model.observed_RVs) if _is_allocation(node)]
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
    observed = next(model.rvs_to_values[rv] for rv in model.observed_RVs if node_of(rv) is node)
    n_documents, n_tokens = corpus_size(observed)
    batch_size = observed.type.shape[0] or n_documents
    return topic_schedule(
        n_tokens,
        tokens_per_batch=n_tokens * batch_size / n_documents,
        n_topics=n_topics,
        total_concentration=total,
    )


def _is_allocation(node) -> bool:
    return isinstance(node.op, LatentDirichletAllocationRV)


register_default_schedule(LatentDirichletAllocationRV, schedule_of_topics)

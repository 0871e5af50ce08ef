#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Where chains start for the topics of latent Dirichlet allocation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc.model import Model
from pytensor.tensor import TensorVariable

from pymc_geodesic.algorithms.default_schedules import Point, node_of, register_default_starts
from pymc_geodesic.distributions.concentration import known_concentration
from pymc_geodesic.potential.packed import corpus_of
from pymc_geodesic.sampling.log import log
from pymc_geodesic.topic_models.collapsed_gibbs import Assignments
from pymc_geodesic.topic_models.latent_dirichlet_allocation import LatentDirichletAllocationRV
from pymc_geodesic.topic_models.predicted_corpus import some_documents
from pymc_geodesic.topic_models.schedule import START_TOKENS

__all__ = ["starts_of_topics"]

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
    node = node_of(rv)
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
    assignments = Assignments(documents, alpha=alpha.eval(), beta=beta)
    assignments.sweep(rng, SWEEPS)
    values = np.stack([assignments.draw_topics(rng) for _ in points]).astype(points[0][name].dtype)
    transform = model.rvs_to_transforms[topics]
    if transform is not None:
        values = transform.forward(values, *topics.owner.inputs).eval()
    return [
        {**point, name: value} if is_poor else point
        for point, value, is_poor in zip(points, values, poor, strict=True)
    ]


register_default_starts(LatentDirichletAllocationRV, starts_of_topics)

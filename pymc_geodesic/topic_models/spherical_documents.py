#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Proportions of topics in documents on the sphere, given topics."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor
import scipy.sparse as sp

from numpy.typing import ArrayLike

from pymc_geodesic.distributions import SphericalUniform
from pymc_geodesic.latents.gmc import LocalGMC, LocalSampler
from pymc_geodesic.potential import Potential
from pymc_geodesic.topic_models.bag_of_words import BagOfWords
from pymc_geodesic.topic_models.spherical_admixture import SphericalAdmixture

__all__ = ["spherical_proportions"]

# Number of calls of the sampler, each with some dozens of trajectories per document, to find
# initial step sizes of the documents.
N_ADAPTATIONS = 5


def spherical_proportions(
    topics: np.ndarray,
    documents: sp.csr_array,
    *,
    alpha: ArrayLike,
    kappa: float,
    draws: int,
    tune: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Average the proportions of documents over their draws for every draw of the topics.

    Parameters
    ----------
    topics : ndarray, shape (M, K, V)
        Draws of the topics, unit vectors.
    documents : csr_array, shape (D, V)
        Unit vectors.
    alpha, kappa
        Dirichlet parameters of the proportions and concentration of the documents.
    draws, tune : int
        Number of geodesic Monte Carlo trajectories to average, and number of those before.
    rng : numpy.random.Generator
        Source of the draws.
    """
    shape = (documents.shape[0], topics.shape[1])
    with pm.Model() as model:
        beta = SphericalUniform("topics", shape=topics.shape[1:])
        theta = pm.Dirichlet("theta", np.broadcast_to(alpha, shape[1:]), shape=shape)
        SphericalAdmixture("v", theta, beta, kappa, observed=BagOfWords(documents))
    values = [model.rvs_to_values[rv] for rv in (beta, theta)]
    point = model.initial_point()
    start, local_start = (np.asarray(point[value.name]) for value in values)
    potential = Potential(
        model,
        values[:1],
        initial_point=point,
        local=values[1:],
    )
    sampler = LocalSampler(
        LocalGMC(theta, draws=draws, tune=tune),
        potential,
        position=[start],
        local_values=[local_start],
        restart=True,
    )

    state = sampler.begin()
    given: dict[str, list] = {"conditioned": [], "local_values": [local_start], "rows": []}

    def draw(beta: np.ndarray, *, tune: bool) -> np.ndarray:
        found = sampler.draw(state, rng, tune=tune, position=[beta], **given)
        sampler.learn(state, found, tune=tune)
        return (found.draws[0] ** 2).mean(axis=0)

    topics = np.ascontiguousarray(topics, dtype=pytensor.config.floatX)
    for _ in range(N_ADAPTATIONS):
        draw(topics[0], tune=True)
    return np.mean([draw(beta, tune=False) for beta in topics], axis=0)

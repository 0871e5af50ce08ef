#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Topic models: documents, distributions of their words, and the evaluation of topics."""

from pymc_geodesic.topic_models.alignment import align
from pymc_geodesic.topic_models.bag_of_words import BagOfWords
from pymc_geodesic.topic_models.collapsed_mean_topics import CollapsedMeanTopics
from pymc_geodesic.topic_models.completion import (
    Perplexity,
    document_completion_perplexity,
    split_tokens,
)
from pymc_geodesic.topic_models.concentration import fit_concentration
from pymc_geodesic.topic_models.describe import TopicReport, describe
from pymc_geodesic.topic_models.documents import proportions
from pymc_geodesic.topic_models.hybrid_gibbs import DirichletTopics, fit_hybrid_gibbs
from pymc_geodesic.topic_models.latent_dirichlet_allocation import LatentDirichletAllocation
from pymc_geodesic.topic_models.plot import plot_topics
from pymc_geodesic.topic_models.prevalence import prevalence
from pymc_geodesic.topic_models.priors import TopicPriors, fit_priors
from pymc_geodesic.topic_models.projections import projections
from pymc_geodesic.topic_models.sample import sample
from pymc_geodesic.topic_models.schedule import schedule_of_topics as schedule_of_topics
from pymc_geodesic.topic_models.schedule import sgrld_schedule
from pymc_geodesic.topic_models.schedule import starts_of_topics as starts_of_topics
from pymc_geodesic.topic_models.spherical import log_perplexity
from pymc_geodesic.topic_models.spherical_admixture import SphericalAdmixture
from pymc_geodesic.topic_models.spherical_variational import (
    VariationalAdmixture,
    fit_spherical_admixture,
)
from pymc_geodesic.topic_models.topic_counts import TopicCounts, expected_counts
from pymc_geodesic.topic_models.words import coherence, top_documents, top_words, topic_sizes

__all__ = [
    "BagOfWords",
    "CollapsedMeanTopics",
    "DirichletTopics",
    "LatentDirichletAllocation",
    "Perplexity",
    "SphericalAdmixture",
    "TopicCounts",
    "TopicPriors",
    "TopicReport",
    "VariationalAdmixture",
    "align",
    "coherence",
    "describe",
    "document_completion_perplexity",
    "expected_counts",
    "fit_concentration",
    "fit_hybrid_gibbs",
    "fit_priors",
    "fit_spherical_admixture",
    "log_perplexity",
    "plot_topics",
    "prevalence",
    "projections",
    "proportions",
    "sample",
    "sgrld_schedule",
    "split_tokens",
    "top_documents",
    "top_words",
    "topic_sizes",
]

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The spherical admixture model of a quarter of a million abstracts.

250,000 abstracts of arXiv, less 1,000 that are scored, as tf-idf unit vectors of 5,000 words; 50
topics, batches of 100, and the settings that Liu, Zhu and Song (2016) use for Wikipedia-150K, the
nearest of their data: sigma = 6e3, kappa = 2e4, gamma = 0.1, rho = 0.5, ten transitions a batch.
"""

from __future__ import annotations

import numpy as np
import pymc as pm
import scipy.sparse as sp

import pymc_geodesic as pmg

from benchmarks.harness.data import data_file
from benchmarks.topics.spherical_admixture import (
    model_of,
    read_csr,
)

N_TOPICS, N_WORDS, BATCH_SIZE, N_TEST = 50, 5000, 100, 1000
SIGMA, KAPPA = 6e3, 2e4
# Words in a larger share of the documents are left out, as in the paper.
LARGEST_SHARE = 0.06
# The thermostat changes by no more than the step size a transition, so that at such small ones it
# cannot follow the noise of the batches, which grows on the way from the start. At this step size,
# with twice as much noise injected as the batches have, that does not matter.
HEALTHY_STEP_SIZE, HEALTHY_FRICTION = 2e-7, 0.2


def read_counts() -> sp.csr_array:
    """Read the counts of all words in all documents."""
    with np.load(data_file("arxiv", "arxiv250k.npz")) as z:
        return read_csr(z, "")


def chosen_words(counts: sp.csr_array) -> np.ndarray:
    """Choose words by document frequency, as the paper did: the most frequent below a share."""
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    frequency = np.where(frequency <= LARGEST_SHARE * counts.shape[0], frequency, 0)
    return np.sort(np.argsort(-frequency, kind="stable")[:N_WORDS])


def corpora() -> tuple[pmg.BagOfWords, sp.csr_array]:
    """Unit vectors of all documents but the last, and of these."""
    counts = read_counts()
    counts = counts[:, chosen_words(counts)]
    counts = counts[np.diff(counts.indptr) > 0]
    vectors = pmg.BagOfWords(counts).tf_idf().matrix
    return pmg.BagOfWords(vectors[:-N_TEST]), vectors[-N_TEST:]


def model_for(corpus: pmg.BagOfWords, *, total_size: int) -> pm.Model:
    return model_of(
        corpus,
        n_topics=N_TOPICS,
        batch_size=BATCH_SIZE,
        sigma=SIGMA,
        kappa=KAPPA,
        total_size=total_size,
    )


def at_temperature_one(model: pm.Model):
    """Make a step whose chain is not hot, with a fresh batch for each transition."""
    with model:
        return pmg.gSGNHT(
            ["topics"],
            local=pmg.LocalGMC("theta", draws=10, tune=20),
            step_size=HEALTHY_STEP_SIZE,
            diffusion=HEALTHY_FRICTION / HEALTHY_STEP_SIZE,
            n_steps=5,
        )

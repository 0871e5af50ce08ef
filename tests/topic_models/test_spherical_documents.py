#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Proportions of documents on the sphere."""

import numpy as np

from scipy.stats import vonmises_fisher

import pymc_geodesic as pmg

KAPPA, ALPHA = 30.0, 2.0


def test_proportions_agree_with_integration():
    topics = np.array([[0.9, 0.1, 0.3], [0.1, 0.8, 0.5]])
    topics /= np.linalg.norm(topics, axis=1, keepdims=True)
    documents = np.array([[0.8, 0.4, 0.4], [0.1, 1.0, 0.3], [0.5, 0.5, 0.5]])
    documents /= np.linalg.norm(documents, axis=1, keepdims=True)
    share = (np.arange(2000) + 0.5) / 2000
    means = share[:, None] * topics[0] + (1 - share)[:, None] * topics[1]
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    expected = []
    for document in documents:
        weights = vonmises_fisher.pdf(means, document, KAPPA) * share * (1 - share)
        expected.append(weights @ share / weights.sum())
    found = pmg.topics.proportions(
        np.tile(topics, (20, 1, 1)),
        documents=documents,
        alpha=ALPHA,
        kappa=KAPPA,
        sweeps=300,
        rng=1,
    )
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    # 20 runs of 150 trajectories of a law as wide as 0.1 to 0.2 leave an error of about 0.004.
    np.testing.assert_allclose(found[:, 0], expected, atol=0.02)

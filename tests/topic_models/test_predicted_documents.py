#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The documents by which topics are judged."""

import numpy as np
import scipy.sparse as sp

from pymc_geodesic.topic_models.predicted_corpus import N_TOKENS, _some_documents


def test_documents_without_words_count_for_nothing():
    counts = sp.random_array((5_000, 50), density=0.2, format="csr", rng=1)
    counts.data = np.ceil(20 * counts.data)
    corpus = sp.csr_array(sp.vstack([sp.csr_array((3_000, 50)), counts]))
    chosen = _some_documents([corpus.indptr, corpus.indices, corpus.data], 50)
    longest = counts.sum(axis=1).max()
    assert N_TOKENS <= chosen.sum() <= N_TOKENS + longest

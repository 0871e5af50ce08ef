#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The documents by which topics are judged."""

import numpy as np
import pytest
import scipy.sparse as sp

from pymc_geodesic.topic_models.latent_dirichlet_allocation import N_TOKENS, some_documents


@pytest.mark.parametrize("place", range(4))
def test_documents_without_words_count_for_nothing(place):
    counts = np.zeros((4, 50))
    counts[place] = N_TOKENS
    corpus = sp.csr_array(counts)
    arrays = [corpus.indptr, corpus.indices, corpus.data]
    chosen = some_documents(arrays, n_words=50, n_tokens=N_TOKENS)
    assert chosen.sum() == counts.sum()

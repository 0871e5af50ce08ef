#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Corpora in files: papers, newsgroup posts, news, abstracts, and abstracts as short as titles."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from benchmarks.harness.data import data_file
from pymc_geodesic.topic_models import split_tokens

__all__ = ["CORPORA", "N_TEST", "common_words", "read"]

# File in the folder that PYMC_GEODESIC_DATA names, prefix of its arrays, documents that are read,
# and the share of the tokens that is kept.
CORPORA = {
    "NIPS": ("nips/nips.npz", "", 1500, 1.0),
    "20 Newsgroups": ("20news/20news.npz", "train_", 11269, 1.0),
    "Reuters": ("reuters/reuters21578.npz", "", 21578, 1.0),
    "arXiv": ("arxiv/arxiv250k.npz", "", 40000, 1.0),
    "arXiv, thinned to titles": ("arxiv/arxiv250k.npz", "", 40000, 0.25),
}
# Documents to score.
N_TEST = {
    "NIPS": 150,
    "20 Newsgroups": 500,
    "Reuters": 500,
    "arXiv": 2000,
    "arXiv, thinned to titles": 2000,
}
MOST_WORDS, QUICK_DOCUMENTS = 5000, 2500


def read(name: str, *, quick: bool) -> sp.csr_array:
    """Read counts in random order, of the words that most documents have, save a tenth of them."""
    file, prefix, n_documents, share = CORPORA[name]
    with np.load(data_file(file)) as z:
        data, indices, indptr, shape = (
            z[prefix + part] for part in ("data", "indices", "indptr", "shape")
        )
        parts = (data.astype("int32"), indices.astype("int32"), indptr.astype("int64"))
        counts = sp.csr_array(parts, shape=tuple(map(int, shape)))
    rng = np.random.default_rng(1)
    order = rng.permutation(counts.shape[0])[: QUICK_DOCUMENTS if quick else n_documents]
    counts = common_words(counts[np.sort(order)], MOST_WORDS)
    if share < 1:
        counts = split_tokens(counts, fraction=share, rng=rng)[1]
    counts = counts[counts.sum(axis=1) > 4]
    return counts[rng.permutation(counts.shape[0])]


def common_words(counts: sp.csr_array, n: int) -> sp.csr_array:
    """Keep the words that most documents have, save those that a tenth of them have."""
    containing = np.bincount(counts.indices, minlength=counts.shape[1])
    containing[containing > 0.1 * counts.shape[0]] = 0
    return sp.csr_array(counts[:, np.sort(np.argsort(-containing, kind="stable")[:n])])

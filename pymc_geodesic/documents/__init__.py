#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Corpora as sparse rows of words and weights."""

from pymc_geodesic.documents.bag_of_words import BagOfWords
from pymc_geodesic.documents.packed import (
    corpus_size,
    is_packed,
    require_counts,
    require_unit_vectors,
    take_rows,
    unpack,
)
from pymc_geodesic.documents.projections import projections

__all__ = [
    "BagOfWords",
    "corpus_size",
    "is_packed",
    "projections",
    "require_counts",
    "require_unit_vectors",
    "take_rows",
    "unpack",
]

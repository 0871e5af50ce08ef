#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Reading and judging topics: their words, their documents, and what they predict."""

from pymc_geodesic.topics.alignment import align
from pymc_geodesic.topics.completion import document_completion_perplexity, split_tokens
from pymc_geodesic.topics.concentration import fit_concentration
from pymc_geodesic.topics.documents import proportions
from pymc_geodesic.topics.running import Perplexity
from pymc_geodesic.topics.schedule import sgrld_schedule
from pymc_geodesic.topics.spherical import log_perplexity
from pymc_geodesic.topics.words import top_words

__all__ = [
    "Perplexity",
    "align",
    "document_completion_perplexity",
    "fit_concentration",
    "log_perplexity",
    "proportions",
    "sgrld_schedule",
    "split_tokens",
    "top_words",
]

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Variables that belong to single rows of the data, drawn anew for every minibatch."""

from pymc_geodesic.local.gibbs import TopicCounts, expected_counts, sample_counts

__all__ = ["TopicCounts", "expected_counts", "sample_counts"]

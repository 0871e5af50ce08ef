#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What belongs to the rows of a minibatch and is sampled anew with each."""

from pymc_geodesic.local.expectation import LocalExpectation
from pymc_geodesic.local.gibbs import TopicCounts, expected_counts, sample_counts

__all__ = ["LocalExpectation", "TopicCounts", "expected_counts", "sample_counts"]

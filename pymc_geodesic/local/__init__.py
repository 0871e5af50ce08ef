#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What belongs to the rows of a minibatch and is sampled anew with each."""

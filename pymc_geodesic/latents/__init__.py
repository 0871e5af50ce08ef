#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Variables that belong to the rows of a minibatch, sampled anew with each minibatch."""

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Draws whose means and covariances are corrected with gradients of the log density."""

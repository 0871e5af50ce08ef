#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Runs on disk: their content, the conditions to continue them, and how to read them."""

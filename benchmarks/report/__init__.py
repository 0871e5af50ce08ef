#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Fills the pages with what the records hold: ``python -m benchmarks.report``."""

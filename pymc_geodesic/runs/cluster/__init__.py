#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Runs on many machines: Dask sends segments to workers, and replaces lost workers."""

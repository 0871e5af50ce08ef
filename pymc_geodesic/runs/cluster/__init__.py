#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Runs on many machines: Dask moves segments to workers, and makes up for those that die."""

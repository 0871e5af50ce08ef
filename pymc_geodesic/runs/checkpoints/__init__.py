#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Runs on disk: what is written, who may go on with it, and how it is read."""

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Kernels: compiled loops of transitions, fed with noise and rows from the host."""

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Workarounds for compiling with JAX; see docs/developing/upstream.md."""

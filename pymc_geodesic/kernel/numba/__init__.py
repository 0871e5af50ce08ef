#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Workarounds for compiling with Numba, behind ``lean``; see docs/developing/upstream.md."""

from pymc_geodesic.kernel.numba.lean import lean

__all__ = ["lean"]

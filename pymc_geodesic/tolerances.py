#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How far numbers may be from what they should be."""

__all__ = ["UNIT_NORM_TOLERANCE"]

UNIT_NORM_TOLERANCE = 1e-6
"""Larger than float32 rounding of a unit vector, far below any deliberate scaling; PyMC's own
tolerance for the sum of a probability vector."""

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Which draws have a mean direction that a picture can mark, and how others are named."""

from __future__ import annotations

import numpy as np

from pymc_geodesic.diagnostics.directional import mean_resultant_length

__all__ = ["LONGEST_LEGEND", "has_mean", "without_mean"]

# More names than this are written beside the directions: no legend has room for them.
LONGEST_LEGEND = 12
# A mean of independent draws from everywhere is longer than this, in roots of their number, less
# than once in a thousand pictures.
BY_CHANCE = 3.0


def has_mean(values: np.ndarray) -> bool:
    """Whether the mean of draws, of shape (S, n), is longer than that of draws from everywhere."""
    return bool(mean_resultant_length(values) > BY_CHANCE / np.sqrt(len(values)))


def without_mean(label: str | None) -> str:
    """Name draws that have no mean direction in a legend."""
    return "no mean direction" if label is None else f"{label}: no mean direction"

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Which draws have a mean direction to mark in a plot, and labels of those that do not."""

from __future__ import annotations

import numpy as np

from pymc_geodesic.diagnostics.directional import mean_resultant_length

__all__ = ["LONGEST_LEGEND", "has_mean", "without_mean"]

# With more names than this, they are written beside the directions and not in a legend.
LONGEST_LEGEND = 12
# In units of one over the root of the number of draws. The mean of independent uniform draws is
# longer than this with probability below 0.001.
BY_CHANCE = 3.0


def has_mean(values: np.ndarray) -> bool:
    """Return whether the mean of draws, of shape (S, n), is longer than that of uniform draws."""
    return bool(mean_resultant_length(values) > BY_CHANCE / np.sqrt(len(values)))


def without_mean(label: str | None) -> str:
    """Label of draws without a mean direction, for a legend."""
    return "no mean direction" if label is None else f"{label}: no mean direction"

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The groups of rows, and how many rows tell something of each of their effects."""

from __future__ import annotations

import numpy as np

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.kernel.row_weights import RowWeights

__all__ = ["MANY_ROWS", "rows_for_levels", "share_evenly", "smallest_groups"]

# Rows of an effect, on average, that tell its curvature to a quarter, and to an eighth.
FEW_ROWS, MANY_ROWS = 16, 64
# Levels from which on no more rows are taken: with a million, a search for directions takes a
# minute.
MOST_LEVELS = 2**16


def smallest_groups(gradient: HostGradient) -> np.ndarray | None:
    """Return the groups of rows of the factor with the most levels that have rows in common."""
    [n] = gradient.n_rows
    # Indices of another length, or from the end, tell no group of each row.
    found = [x for x in gradient.groups_of_rows() if x.shape == (n,) and np.min(x) >= 0]
    several = [x for x in found if 2 * (int(np.max(x)) + 1) <= n]
    return max(several, key=np.max).astype("int32") if several else None


def rows_for_levels(gradient: HostGradient, least: int, *, of_each: int = FEW_ROWS) -> int:
    """Return how many rows tell the curvature: ``least``, or more where few concern an effect.

    Parameters
    ----------
    gradient : HostGradient
        Gradients of the model.
    least : int
        Rows that do without groups.
    of_each : int
        Rows of an effect, on average, of the factor with the most levels.
    """
    if gradient.is_stream or len(gradient.n_rows) != 1:
        return least
    groups = smallest_groups(gradient)
    n_levels = 0 if groups is None else int(np.max(groups)) + 1
    return max(least, of_each * min(n_levels, MOST_LEVELS))


def share_evenly(gradient: HostGradient) -> None:
    """Draw batches evenly from the groups of rows, if nothing else says how to draw them.

    Numbers of rows that differ from batch to batch are most of the noise of an effect. It is gone
    where batches hold a row of each group, and so they do while noise is measured, unless levels
    are too many. Where the terms of rows are not known, a few may outweigh all others. These are
    looked for among rows that are drawn independently.
    """
    if gradient.weights is not None or gradient.is_stream or gradient.terms_of_rows is None:
        return
    if (groups := smallest_groups(gradient)) is not None:
        gradient.weights = RowWeights.alike(groups)
        n_levels = min(int(np.max(groups)) + 1, MOST_LEVELS)
        gradient.times = -(-n_levels // gradient.batch_sizes[0])

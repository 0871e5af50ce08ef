#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Means and quantiles of the draws of each row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.diagnostics import rules as rules
from pymc_geodesic.diagnostics.located import located
from pymc_geodesic.manifolds import Manifold

__all__ = ["mean_and_quantiles"]


def mean_and_quantiles(
    draws: np.ndarray, quantiles: Sequence[float], manifold: Manifold | None
) -> np.ndarray:
    """Return the mean of draws, then their quantiles, along a new last axis.

    Parameters
    ----------
    draws : ndarray, shape (S, rows, ...)
        All draws of some rows.
    quantiles : sequence of float
        Probabilities of the quantiles, which are those of the entries. They are interpolated
        linearly, as by NumPy.
    manifold : Manifold, optional
        Where the draws lie; by default flat space. The mean is one of its points.
    """
    center, draws = located(manifold, draws.astype(int) if draws.dtype == bool else draws)
    found = np.empty((*draws.shape[1:], 1 + len(quantiles)))
    found[..., 0] = center
    if not quantiles:
        return found
    # NumPy sorts much faster along the last axis, and as fast as it finds two quantiles.
    ordered = np.sort(np.ascontiguousarray(np.moveaxis(draws, 0, -1)), axis=-1)
    most = ordered.shape[-1] - 1
    for i, probability in enumerate(quantiles):
        place = probability * most
        low = int(place)
        high = min(low + 1, most)
        below, above = ordered[..., low], ordered[..., high]
        found[..., 1 + i] = below + (place - low) * (above - below)
    if ordered.dtype.kind == "f":
        # NaN are sorted to the end.
        found[np.isnan(ordered[..., -1]), 1:] = np.nan
    return found

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Means and quantiles of the draws of each row."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

import numpy as np

from pymc_geodesic.diagnostics.angle_statistics import about_mean
from pymc_geodesic.diagnostics.axial import principal_axes
from pymc_geodesic.diagnostics.directional import mean_direction
from pymc_geodesic.diagnostics.frames import mean_frame
from pymc_geodesic.manifolds import Circle, Manifold, ProjectiveSphere, Sphere, Stiefel
from pymc_geodesic.validation import TURNS

__all__ = ["mean_and_quantiles"]


def mean_and_quantiles(
    draws: np.ndarray, quantiles: Sequence[float], manifold: Manifold
) -> np.ndarray:
    """Return the mean of draws, then their quantiles, along a new last axis.

    Parameters
    ----------
    draws : ndarray, shape (S, rows, ...)
        All draws of some rows.
    quantiles : sequence of float
        Probabilities of the quantiles, which are those of the entries. They are interpolated
        linearly, as by NumPy.
    manifold : Manifold
        Where the draws lie. The mean is one of its points.
    """
    center, draws = _located(manifold, draws.astype(int) if draws.dtype == bool else draws)
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


@singledispatch
def _located(manifold: Manifold, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of draws, and the draws about it."""
    return draws.mean(axis=0, dtype=float), draws


@_located.register
def _(manifold: Circle, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    draws = about_mean(draws, TURNS["radians"])
    # Within half a turn of the mean direction, which need not be their mean.
    angles = np.arctan2(np.sin(draws).mean(axis=0), np.cos(draws).mean(axis=0))
    return angles, draws


@_located.register
def _(manifold: Sphere, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return mean_direction(draws), draws


@_located.register
def _(manifold: ProjectiveSphere, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    axis = principal_axes(draws)[1][..., 0, :]
    along = (draws * axis).sum(axis=-1, keepdims=True)
    return axis, np.where(along < 0, -draws, draws)


@_located.register
def _(manifold: Stiefel, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return mean_frame(draws), draws

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A run whose draws have the means and covariances that gradients of all rows give."""

from __future__ import annotations

import numpy as np
import xarray as xr

from pymc_geodesic.refinement.control_variates import SteinDraws, corrected_moments
from pymc_geodesic.refinement.figures import Figures, largest_changes
from pymc_geodesic.refinement.frame import frame_of
from pymc_geodesic.refinement.moments import correction_of
from pymc_geodesic.runs.deterministics import Traced
from pymc_geodesic.runs.gradients_at_draws import DrawGradients

__all__ = ["RAW", "REFINEMENT", "refined", "sentence_of"]

# Groups of the draws as they were made, and of the figures of their correction.
RAW, REFINEMENT = "raw_posterior", "refinement"


def refined(idata: xr.DataTree, found: DrawGradients, traced: Traced) -> xr.DataTree | None:
    """Return a run with corrected draws; None if nothing can be corrected.

    Parameters
    ----------
    idata : DataTree
        The run as drawn.
    found : DrawGradients
        All its draws as points, and gradients of all rows at some of them.
    traced : Traced
        The variables that the run returns.
    """
    flat = [i for i, variable in enumerate(found.variables) if variable.is_flat]
    raw = idata["posterior"].to_dataset()
    shape = raw.sizes["chain"], raw.sizes["draw"]
    if not flat or found.everywhere[0].shape[:2] != shape:
        return None
    x, at, gradients = (
        _joined([columns[i] for i in flat])
        for columns in (found.everywhere, found.points, found.gradients)
    )
    frame = frame_of(x)
    if frame is None or not np.isfinite(gradients).all():
        return None
    estimates = corrected_moments(SteinDraws(frame.into(at), frame.force(gradients)))
    y = frame.into(x)
    correction = correction_of(y, estimates)
    if not correction.is_moved.any() and not correction.is_scaled.any():
        return None
    moved = list(found.everywhere)
    parts = _split(frame.out_of(correction(y)), [found.everywhere[i] for i in flat])
    for i, part in zip(flat, parts, strict=True):
        moved[i] = part
    names = [str(name) for name in raw.data_vars]
    values = traced.kept(found.maps.values(moved), shape)
    corrected = raw.copy()
    for name in names:
        if name in values:
            array = raw[name].transpose("chain", "draw", ...)
            corrected[name] = array.copy(data=values[name].astype(array.dtype))
    figures = Figures(correction, y).of(raw, corrected)
    figures.attrs["n_draws"] = found.n_draws
    tree = idata.copy(deep=False)
    for name, group in (("posterior", corrected), (RAW, raw), (REFINEMENT, figures)):
        tree[name] = xr.DataTree(group)
    return tree


def sentence_of(idata: xr.DataTree) -> str:
    """Say what was corrected, and by how much at most."""
    figures = idata[REFINEMENT].to_dataset()
    (shift, mean_of), (change, sd_of) = largest_changes(figures)
    return (
        f"Corrected with the gradients of all rows at {figures.attrs['n_draws']} draws: means by "
        f"at most {shift:.2g} sd (`{mean_of}`), standard deviations by at most {change:.0%} "
        f"(`{sd_of}`)."
    ).replace("%", " per cent")


def _joined(columns: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([x.reshape(*x.shape[:2], -1).astype(float) for x in columns], axis=-1)


def _split(x: np.ndarray, like: list[np.ndarray]) -> list[np.ndarray]:
    sizes = [int(np.prod(part.shape[2:])) for part in like]
    ends = np.cumsum(sizes)
    return [
        x[..., end - size : end].reshape(part.shape).astype(part.dtype)
        for end, size, part in zip(ends, sizes, like, strict=True)
    ]

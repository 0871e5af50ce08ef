#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A run whose draws have the means and covariances that gradients of all rows give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from pymc_geodesic.refinement.control_variates import corrected_moments
from pymc_geodesic.refinement.coordinates import Coordinates
from pymc_geodesic.refinement.figures import Figures, largest_changes
from pymc_geodesic.refinement.moments import correction_of
from pymc_geodesic.runs.deterministics import Traced
from pymc_geodesic.runs.gradients_at_draws import DrawGradients

__all__ = [
    "RAW",
    "REFINEMENT",
    "as_drawn",
    "errors_of",
    "has_constant_step",
    "refined",
    "sentence_of",
]

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
    raw = idata["posterior"].to_dataset()
    shape = raw.sizes["chain"], raw.sizes["draw"]
    if found.everywhere[0].shape[:2] != shape:
        return None
    coordinates = Coordinates(found.variables, found.everywhere)
    if not len(coordinates):
        return None
    draws = coordinates.with_forces(found.points, found.gradients)
    if not np.isfinite(draws.force).all():
        return None
    y = coordinates.of_all()
    correction = correction_of(y, corrected_moments(draws))
    if not correction.is_any:
        return None
    moved = coordinates.moved(y, correction)
    names = [str(name) for name in raw.data_vars]
    values = traced.kept(found.maps.values(moved), shape)
    corrected = raw.copy()
    for name in names:
        if name in values:
            array = raw[name].transpose("chain", "draw", ...)
            corrected[name] = array.copy(data=values[name].astype(array.dtype))
    figures = Figures(correction, y).of(raw, corrected)
    figures.attrs |= {"n_draws": found.n_draws, "rows": found.rows}
    figures.attrs["not_corrected"] = ", ".join(coordinates.left_out)
    tree = idata.copy(deep=False)
    for name, group in (("posterior", corrected), (RAW, raw), (REFINEMENT, figures)):
        tree[name] = xr.DataTree(group)
    return tree


def sentence_of(idata: xr.DataTree) -> str:
    """Say what was corrected, and by how much at most."""
    figures = idata[REFINEMENT].to_dataset()
    (shift, mean_of), (change, sd_of) = largest_changes(figures)
    return (
        f"Corrected with the gradients of {figures.attrs['rows']} at {figures.attrs['n_draws']} "
        f"draws: means by at most {shift:.2g} sd (`{mean_of}`), standard deviations by at most "
        f"{100 * change:.0f} per cent (`{sd_of}`)."
    )


def as_drawn(idata: xr.DataTree) -> xr.DataTree:
    """Return a run with the draws as they were made, for what judges the sampler."""
    if RAW not in idata.children:
        return idata
    tree = idata.copy(deep=False)
    tree["posterior"] = xr.DataTree(tree[RAW].to_dataset())
    for name in (RAW, REFINEMENT):
        del tree[name]
    return tree


def errors_of(idata: xr.DataTree, name: str, coords: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return the standard errors of the corrected mean and deviation of a variable, if it has."""
    if REFINEMENT not in idata.children or name not in idata[REFINEMENT].data_vars:
        return {}
    found = idata[REFINEMENT].to_dataset()[name]
    found = found.sel({dim: x for dim, x in coords.items() if dim in found.dims})
    return {figure: found.sel(figure=figure).to_numpy() for figure in ("mcse_mean", "mcse_sd")}


def has_constant_step(idata: xr.DataTree) -> bool:
    """Return whether draws have equal weights, as those of a decreasing step size have not."""
    stats = idata["sample_stats"]
    return "step_size" not in stats or not np.ptp(stats["step_size"].to_numpy(), axis=1).any()

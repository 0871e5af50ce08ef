#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The model that a run has sampled, which may be one with minibatches of the given one."""

from __future__ import annotations

import xarray as xr

from pymc.model import Model

from pymc_geodesic.potential.minibatch import has_minibatch
from pymc_geodesic.rows.convert import minibatch
from pymc_geodesic.run_record import batch_size_of

__all__ = ["sampled_model"]


def sampled_model[T: Model | None](model: T, idata: xr.DataTree) -> T:
    """Return the model that was sampled, given that of all rows or the model itself."""
    batch_size = batch_size_of(idata)
    if model is None or batch_size is None or has_minibatch(model):
        return model
    # What the run has integrated out is not in its result.
    there = [str(name) for name in idata["posterior"].data_vars] if "posterior" in idata else []
    kept = [rv.name for rv in model.free_RVs if rv.name in there]
    return minibatch(model, batch_size=batch_size, var_names=kept)

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The model that a run has sampled, and its data."""

from __future__ import annotations

import warnings

import numpy as np
import xarray as xr

from pymc.model import Model
from pymc.pytensorf import extract_obs_data
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors

from pymc_geodesic.potential.minibatch import has_minibatch
from pymc_geodesic.rows.convert import minibatch
from pymc_geodesic.run_record import batch_size_of

__all__ = ["constants", "observations", "sampled_model"]


def sampled_model[T: Model | None](model: T, idata: xr.DataTree) -> T:
    """Return the model that was sampled, given that of all rows or the model itself."""
    batch_size = batch_size_of(idata)
    if model is None or batch_size is None or has_minibatch(model):
        return model
    # What the run has integrated out is not in its result.
    there = [str(name) for name in idata["posterior"].data_vars] if "posterior" in idata else []
    kept = [rv.name for rv in model.free_RVs if rv.name in there]
    return minibatch(model, batch_size=batch_size, var_names=kept)


def observations(model: Model) -> dict[str, np.ndarray]:
    """Return the observed data, by the names of variables."""
    found = {}
    for rv in model.observed_RVs:
        try:
            found[rv.name] = _array(model.rvs_to_values[rv])
        except TypeError:
            warnings.warn(f"`{rv.name}` has no data that can be stored.", UserWarning, stacklevel=2)
    return found


def constants(model: Model) -> dict[str, np.ndarray]:
    """Return the other data, by their names."""
    used = set(ancestors([*model.basic_RVs, *model.deterministics, *model.potentials]))
    only_observed = set(model.rvs_to_values.values()) - used
    return {x.name: _array(x) for x in model.data_vars if x not in only_observed}


def _array(data: Variable) -> np.ndarray:
    if not isinstance(data, SharedVariable):
        return extract_obs_data(data)
    found = np.asarray(data.get_value(borrow=True)).view()
    # Changes to a result must not change the model.
    found.flags.writeable = False
    return found

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The data of a model, as PyMC stores them with draws, but without copies of ``pm.Data``."""

from __future__ import annotations

import warnings

import numpy as np

from pymc.model import Model
from pymc.pytensorf import extract_obs_data
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors

__all__ = ["constants", "observations"]


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

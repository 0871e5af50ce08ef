#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Functions of the free variables of a model, at the draws of a posterior."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from pymc.model import Model
from pytensor.graph.replace import clone_replace
from pytensor.tensor import TensorVariable

from pymc_geodesic.graph_inputs import graph_input
from pymc_geodesic.kernel.interpreted import Interpreted, for_many

__all__ = ["at_draws", "to_value"]


def at_draws(
    idata: xr.DataTree,
    free: Sequence[TensorVariable],
    outputs: Sequence[TensorVariable],
    *,
    max_draws: int,
) -> list[np.ndarray]:
    """Evaluate graphs of free variables at draws, evenly thinned.

    Parameters
    ----------
    idata : DataTree
        Result of ``pm.sample``.
    free : sequence of TensorVariable
        The free variables on which the graphs depend.
    outputs : sequence of TensorVariable
        The graphs.
    max_draws : int
        Maximum number of draws per chain.

    Returns
    -------
    list of ndarray
        For each graph ``(chain, draw, *shape)``.

    Raises
    ------
    ValueError
        If the posterior lacks a variable, or Bambi has changed one.
    """
    draws = _free_draws(idata, free, max_draws=max_draws)
    values = {rv: graph_input(rv.name, dtype=rv.dtype, shape=rv.type.shape) for rv in free}
    graphs = clone_replace(list(outputs), replace=values, rebuild_strict=False)
    inputs, shape = list(values.values()), draws[0].shape[:2]
    try:
        function = Interpreted(*for_many(inputs, graphs, varying=inputs))
    except NotImplementedError:
        function = Interpreted(inputs, graphs)
        each = [function(*(column[index] for column in draws)) for index in np.ndindex(shape)]
        found = [np.array(part) for part in zip(*each, strict=True)]
    else:
        found = function(*(x.reshape(-1, *x.shape[2:]) for x in draws))
    return [x.reshape(*shape, *x.shape[1:]) for x in found]


def to_value(model: Model, rv: TensorVariable) -> TensorVariable:
    """Write PyMC's value of a free variable."""
    transform = model.rvs_to_transforms[rv]
    return rv if transform is None else transform.forward(rv, *rv.owner.inputs)


def _free_draws(
    idata: xr.DataTree, free: Sequence[TensorVariable], *, max_draws: int
) -> list[np.ndarray]:
    posterior, names = idata["posterior"].to_dataset(), [rv.name for rv in free]
    if posterior.attrs.get("modeling_interface") == "bambi":
        raise ValueError(
            "`idata` expected draws of the variables of the model, got a result of Bambi, whose "
            "intercept is that of its formula. For this, sample `bambi_model.backend.model`."
        )
    if missing := [name for name in names if name not in posterior]:
        raise ValueError(
            f"`idata` expected draws of all free variables of the model, {names}, got no draws of "
            f"{missing}. Pass the model that was sampled, and sample without `var_names`."
        )
    every = -(-posterior.sizes["draw"] // max_draws)
    # If the number is not divisible, the last draws are kept rather than the first.
    start = (posterior.sizes["draw"] - 1) % every
    thinned = posterior.isel(draw=slice(start, None, every))
    return [
        thinned[rv.name].transpose("chain", "draw", ...).to_numpy().astype(rv.dtype) for rv in free
    ]

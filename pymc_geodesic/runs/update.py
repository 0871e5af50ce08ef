#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""``pmg.update``: the posterior of more data, from that of the data before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from numpy.typing import ArrayLike
from pymc.model import Model
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.traversal import ancestors
from pytensor.tensor.variable import TensorConstant

from pymc_geodesic.potential.minibatch import has_minibatch
from pymc_geodesic.potential.variables import sampled_variables
from pymc_geodesic.rows.builders import as_sampled, given_model
from pymc_geodesic.rows.convert import BATCH_SIZE
from pymc_geodesic.run_record import batch_size_of
from pymc_geodesic.runs.at_draws import PosteriorPoints
from pymc_geodesic.runs.choose_step import step_class_for
from pymc_geodesic.runs.sample import sample
from pymc_geodesic.runs.starts import RandomSeed
from pymc_geodesic.stages import log
from pymc_geodesic.tuning.center import FarCenterError, Nearby
from pymc_geodesic.validation import data_tree

__all__ = ["update"]


def update(
    idata: xr.DataTree,
    model: Model | Any | None = None,
    new_rows: Mapping[str, ArrayLike] | None = None,
    *,
    draws: int = 1000,
    tune: int = 300,
    chains: int | None = None,
    random_seed: RandomSeed = None,
    batch_size: int | None = None,
    progressbar: bool = True,
    var_names: Sequence[str] | None = None,
    thin: int = 1,
    compute_convergence_checks: bool = True,
) -> xr.DataTree:
    """Sample the posterior of more data, beginning with the posterior of the data before.

    The mean of the earlier draws is the center of the control variates: no mode is searched among
    starts, and the gradient of all rows is computed once, or a few times if the mean is more than
    1.5 standard deviations off. The tuning phase is shorter. In the same process nothing is
    compiled again, unless the data have grown by an eighth.

    Parameters
    ----------
    idata : DataTree
        Result of :func:`sample` or :func:`update` for the data before, from memory or a file.
    model : pymc.Model, bambi.Model or object, optional
        The model with all data, those before and the new ones; by default that of the context. One
        of other data of the same form is possible too, as long as its posterior is near.
    new_rows : mapping of str to array, optional
        Rows to append to ``pm.Data`` of the model, by their names, in any order. It changes the
        model's data, as ``pm.set_data`` does; leave it out if the model has the new rows. Where
        rows have labels, new ones have those of a table whose labels are all new; otherwise numbers
        that follow the largest.
    draws, tune : int
        Draws of each chain, and draws of its tuning phase.
    chains, batch_size : int, optional
        Number of chains, and rows that a transition reads; by default as before.
    random_seed, progressbar, var_names, thin, compute_convergence_checks
        As for :func:`sample`.

    Returns
    -------
    DataTree
        As of :func:`sample`. The next update begins with it.

    Raises
    ------
    ValueError, TypeError
        As of :func:`sample`; if ``idata`` has not the variables of the model, or ``new_rows`` do
        not fit its data.

    Notes
    -----
    If no center is found near the old mean, this is logged, and the model is sampled as
    :func:`sample` does.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> y = np.random.default_rng(1).normal(2.0, 1.0, 10_000)
    >>> with pm.Model() as model:
    ...     data = pm.Data("data", y[:9_000])
    ...     mean = pm.Normal("mean", 0.0, 10.0)
    ...     _ = pm.Normal("y", mean, 1.0, observed=data)
    ...     idata = pmg.sample(250, tune=500, random_seed=1, progressbar=False)
    >>> idata = pmg.update(
    ...     idata, model, {"data": y[9_000:]}, draws=250, random_seed=1, progressbar=False
    ... )
    >>> bool(abs(idata.posterior["mean"].mean() - y.mean()) < 0.002)
    True
    """
    before, inside = as_sampled(data_tree(idata), model), given_model(model)
    if new_rows is not None:
        _append(inside, new_rows)
    variables = sampled_variables(
        inside,
        [inside.rvs_to_values[rv] for rv in inside.free_RVs if rv.name in before["posterior"]],
        initial_point=inside.initial_point(),
        coordinates={},
    )
    if not variables:
        names = ", ".join(f"`{rv.name}`" for rv in inside.free_RVs)
        raise ValueError(
            f"`idata` expected draws of the variables of the model, which are {names}; got none. "
            "Pass the result of the same model with other data."
        )
    points = PosteriorPoints(inside, variables)
    center = points.values(points.mean(points.of(before)))
    if batch_size is None and not has_minibatch(inside):
        batch_size = batch_size_of(before) or BATCH_SIZE
    again = partial(
        sample,
        draws,
        chains=before["posterior"].sizes["chain"] if chains is None else chains,
        model=inside if model is None else model,
        random_seed=random_seed,
        batch_size=batch_size,
        progressbar=progressbar,
        var_names=var_names,
        thin=thin,
        compute_convergence_checks=compute_convergence_checks,
    )
    make: Any = step_class_for(inside)
    try:
        return again(step=partial(make, center=Nearby(center)), tune=tune)
    except FarCenterError as reason:
        log.info(f"The earlier draws are no start: {reason} The model is sampled without them.")
        return again()


def _append(model: Model, new_rows: Mapping[str, ArrayLike]) -> None:
    """Append rows to the data of a model, and lengthen the dimensions of their rows."""
    before = {str(x.name): x.get_value(borrow=True) for x in model.data_vars}
    if unknown := [name for name in new_rows if name not in before]:
        raise ValueError(
            f"`new_rows` expected names of `pm.Data`, which are {sorted(before)}, got "
            f"{unknown[0]!r}. Write the data as `pm.Data`, or build the model with all rows."
        )
    new = {name: np.asarray(rows, before[name].dtype) for name, rows in new_rows.items()}
    for name, rows in new.items():
        expected = before[name].shape[1:]
        if not before[name].ndim or rows.shape[1:] != expected:
            raise ValueError(
                f"`new_rows` expected rows of shape {expected} for `{name}`, got {rows.shape[1:]}."
            )
        for other, x in before.items():
            if x.shape[:1] == before[name].shape[:1] and len(new.get(other, ())) != len(rows):
                raise ValueError(
                    f"`new_rows` expected {len(rows):,} rows of `{other}`, as of `{name}`, got "
                    f"{len(new.get(other, ())):,}. Pass the same rows of all data."
                )
    _require_no_arrays(model, {len(before[name]) for name in new})
    # Without coordinates, PyMC computes the length of a dimension from the data.
    given = {dim for dim, n in model.dim_lengths.items() if isinstance(n, SharedVariable)}
    dims = {name: next(iter(model.named_vars_to_dims.get(name) or ()), None) for name in new}
    dims = {name: dim for name, dim in dims.items() if dim in given}
    labels = {
        dim: _lengthened(str(dim), model.coords[dim], new_rows[name])
        for name, dim in dims.items()
        if model.coords.get(dim) is not None
    }
    for name, rows in new.items():
        longer = np.concatenate([before[name], rows])
        # `pm.set_data` copies them four times.
        model[name].set_value(longer, borrow=True)
        if (dim := dims.get(name)) is not None:
            model.set_dim(dim, len(longer), coord_values=labels.get(dim))


def _require_no_arrays(model: Model, lengths: set[int]) -> None:
    """Raise an error if rows are in the graph, where none can be appended."""
    for x in model.observed_RVs:
        for array in ancestors([x, model.rvs_to_values[x]]):
            if isinstance(array, TensorConstant) and array.ndim and len(array.data) in lengths:
                raise ValueError(
                    f"`new_rows` expected a model whose rows are all `pm.Data`, got an array of "
                    f"{len(array.data):,} rows on which `{x.name}` depends. Write it as `pm.Data`, "
                    "or build the model with all rows and leave out `new_rows`."
                )


def _lengthened(dim: str, labels: Any, rows: ArrayLike) -> np.ndarray:
    """Return the labels of the rows before and of new ones: those of a table, or numbers."""
    before, n = np.asarray(labels), len(np.asarray(rows))
    if isinstance(rows, pd.DataFrame | pd.Series) and not rows.index.isin(before).any():
        return np.concatenate([before, rows.index.to_numpy()])
    if before.dtype.kind not in "iu":
        raise ValueError(
            f"`new_rows` expected a table with labels of its own for the dimension `{dim}`, whose "
            f"labels are {labels[0]!r} and others, got none. Pass columns of a DataFrame with new "
            "labels as its index; or give all rows and labels with `pm.set_data(..., coords=...)`, "
            "and leave out `new_rows`."
        )
    return np.concatenate([before, before.max(initial=-1) + 1 + np.arange(n)])

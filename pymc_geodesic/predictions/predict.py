#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Predictions of rows, old and new, without a matrix of rows and draws."""

from __future__ import annotations

import os

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from numpy.typing import ArrayLike
from pymc.model import Model

from pymc_geodesic.parquet import ParquetRows
from pymc_geodesic.predictions.evaluation import Evaluation
from pymc_geodesic.predictions.new_data import bambi_quantity, new_data_of, tables_of
from pymc_geodesic.predictions.quantities import Predictor
from pymc_geodesic.predictions.rows_of_model import whole_model
from pymc_geodesic.rows.builders import given_model, is_bambi
from pymc_geodesic.validation import data_tree, flag, one_of

__all__ = ["predict"]

KINDS = "mean", "response"

type NewRowsArgument = (
    pd.DataFrame | Mapping[str, ArrayLike] | ParquetRows | str | os.PathLike[str] | None
)


def predict(
    idata: xr.DataTree,
    model: Model | Any | None = None,
    new_data: NewRowsArgument = None,
    *,
    kind: Literal["mean", "response"] = "mean",
    var_names: str | Sequence[str] | None = None,
    rows: ArrayLike | slice | None = None,
    quantiles: Sequence[float] = (0.05, 0.95),
    draws: bool = False,
    sample_new_groups: bool = False,
    out: str | os.PathLike[str] | None = None,
    random_seed: int | np.random.Generator | None = None,
    progressbar: bool = True,
) -> xr.Dataset:
    r"""Predict rows: their posterior mean and quantiles, or all draws.

    All draws of a few rows are computed at once and summarised, so that memory does not grow with
    rows times draws. All draws are used.

    Parameters
    ----------
    idata : DataTree
        Draws of the free variables, of ``pm.sample`` or ``pmg.sample``.
    model : pymc.Model, bambi.Model or object, optional
        The model that was sampled, with ``pm.Minibatch`` or of all rows; by default that of the
        context. Or the same model of other rows, if its data have no names.
    new_data : DataFrame, mapping, ParquetRows or path, optional
        New rows in place of those of the model. The names of columns, or of arrays, are those of
        the model's ``pm.Data``; a ``pm.Data`` of two axes takes the columns that its second
        dimension names. Others, such as the response, are not needed. A Parquet file or folder is
        read block by block.
    kind : {"mean", "response"}
        What is predicted of an observed variable: its expected value given the parameters, or a
        new observation, drawn once for each draw. The expected value of a category is the
        probability of each, and that of a direction its mean direction. New observations of
        categories, ordered ones too, are summarised category by category, as truth values: the mean
        is the share of draws in it. ``draws`` returns their codes.
    var_names : str or sequence of str, optional
        Observed variables, and Deterministics with an entry for each row; by default all observed
        variables.
    rows : array_like of int or bool, or slice, optional
        Rows to predict; by default all.
    quantiles : sequence of float
        Probabilities of the quantiles of each row.
    draws : bool
        Whether to return all draws instead of mean and quantiles.
    sample_new_groups : bool
        Whether new rows may be of groups that the model does not have. Their effects are drawn from
        the prior, one for each draw. Such groups have numbers from that of the model's groups on.
        Negative numbers, as of labels that pandas does not find, are one new group.
    out : path, optional
        A new place for the result, which may be larger than memory: a folder in the format Zarr;
        or, with a name that ends in ``.parquet``, a file with a line for each row, its label and
        the mean and quantiles of one variable.
    random_seed : int or Generator, optional
        Source of what is drawn.
    progressbar : bool
        Whether to show progress.

    Returns
    -------
    Dataset
        A variable for each name. Its first dimension is that of the rows, its last ``summary`` has
        the labels "mean", "5%" and "95%": ``found["y"].to_pandas()`` is a table of rows. With
        ``draws`` it has the dimensions ``chain`` and ``draw``, as in a group of ``idata``. Empty if
        ``out`` is a Parquet file.

    Raises
    ------
    ValueError
        If rows depend on each other, new rows lack data or are of unknown groups, or the mean is
        not known in closed form.

    Notes
    -----
    Quantiles are those of numbers, entry by entry, and the mean is that of summaries: of
    directions it is a unit vector, of angles it and the quantiles are within half a turn of the
    mean direction, of axes all draws have the sign of the principal axis.

    For new rows each row is computed from its own data. What the model computes from all of its
    data, such as their mean, keeps its value; ``pm.set_data`` would compute it from the new rows.

    See Also
    --------
    full_data : The model that PyMC's own functions for predictions need.
    local_posterior : Effects that sampling has integrated out.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> x = np.linspace(-1.0, 1.0, 1000)
    >>> with pm.Model() as model:
    ...     slope = pm.Normal("slope")
    ...     _ = pm.Normal("y", slope * pm.Data("x", x), observed=2 * x)
    ...     idata = pm.sample(progressbar=False, random_seed=1)
    >>> found = pmg.predict(idata, model, {"x": [0.5, 1.0, 2.0]}, progressbar=False)
    >>> found["y"].sel(summary="mean").round(1).values
    array([1., 2., 4.])
    """
    one_of("kind", kind, KINDS)
    flag("draws", draws)
    flag("sample_new_groups", sample_new_groups)
    rng = np.random.default_rng(random_seed)
    evaluation = Evaluation(
        data_tree(idata)["posterior"].to_dataset(),
        rows=rows,
        quantiles=None if draws else _probabilities(quantiles),
        out=out,
        progressbar=flag("progressbar", progressbar),
    )
    if is_bambi(model):
        one = partial(
            bambi_quantity, model, idata, kind=kind, new_groups=sample_new_groups, rng=rng
        )
        if new_data is None:
            return evaluation.of_all([one(None)])
        tables = tables_of(new_data)
        parts = ([one(table)] for table in tables.parts)
        return evaluation.of_parts(parts, tables.n_rows, labels=tables.labels)
    whole = whole_model(given_model(model))
    predictor = Predictor(whole, idata, kind=kind, new_groups=sample_new_groups, rng=rng)
    names = predictor.names(var_names)
    if new_data is None:
        return evaluation.of_all([predictor.of_model(name) for name in names])
    found = new_data_of(new_data, whole)
    parts = (predictor.all_of_new(names, data) for data in found.parts)
    return evaluation.of_parts(parts, found.n_rows, labels=found.labels)


def _probabilities(quantiles: Sequence[float]) -> tuple[float, ...]:
    found = tuple(np.atleast_1d(np.asarray(quantiles, dtype=float)).tolist())
    if bad := [q for q in found if not 0 <= q <= 1]:
        raise ValueError(f"`quantiles` expected numbers from 0 to 1, got {bad[0]}.")
    return found

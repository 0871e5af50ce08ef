#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Rows of a model of Bambi, which Bambi predicts, block by block."""

from __future__ import annotations

import os
import warnings

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from pymc_geodesic.manifolds import manifold_of
from pymc_geodesic.predictions.new_data import NewData
from pymc_geodesic.predictions.quantities import Quantity

__all__ = ["bambi_quantity", "tables_of"]

# Rows of a block: so many that the time of a call does not count.
LEAST_ROWS = 1_000


def bambi_quantity(
    given: Any,
    idata: xr.DataTree,
    table: pd.DataFrame | None,
    *,
    kind: str,
    new_groups: bool,
    rng: np.random.Generator,
) -> Quantity:
    """Return the response of a model of Bambi, or its mean, for rows of a table.

    Parameters
    ----------
    given : bambi.Model
        The model.
    idata : DataTree
        Its result.
    table : DataFrame, optional
        The rows; by default those of the model.
    kind : {"mean", "response"}
        Whether the parent parameter of the likelihood is returned, or responses.
    new_groups : bool
        Whether Bambi is to draw the effects of new groups.
    rng : Generator
        Source of what is drawn.
    """
    table = given.data if table is None else table
    posterior = idata["posterior"].to_dataset()
    name = given.response_term.alias or given.response_term.name
    parent = given.family.likelihood.parent
    parent = given.conditional_parameters[parent].alias or parent

    def at_rows(rows: np.ndarray) -> np.ndarray:
        tree = xr.DataTree.from_dict({"posterior": posterior})
        with warnings.catch_warnings():
            # Bambi 0.21 announces that new groups will be accepted without being asked for.
            warnings.filterwarnings("ignore", "'sample_new_groups' is deprecated", FutureWarning)
            given.predict(
                tree,
                kind="response_params" if kind == "mean" else "response",
                data=table.iloc[rows],
                sample_new_groups=True if new_groups else None,
                random_seed=rng,
            )
        found = tree["posterior"][parent] if kind == "mean" else tree["posterior_predictive"][name]
        found = found.transpose("chain", "draw", "__obs__", ...)
        return found.values.reshape(-1, *found.shape[2:])

    manifold = manifold_of(given.backend.model[name])
    return Quantity(
        name, len(table), at_rows, ["__obs__"], {}, manifold, lambda rows: None, LEAST_ROWS
    )


def tables_of(new_data: Any) -> NewData[pd.DataFrame]:
    """Return new data as tables with the columns of a formula."""
    if isinstance(new_data, pd.DataFrame):
        return NewData(len(new_data), np.asarray(new_data.index), iter([new_data]))
    if isinstance(new_data, Mapping):
        table = pd.DataFrame(dict(new_data))
        return NewData(len(table), None, iter([table]))
    if not isinstance(new_data, str | os.PathLike):
        raise TypeError(
            "`new_data` expected a DataFrame, a mapping of names to columns, or the path of a "
            f"Parquet file, got {type(new_data).__name__}."
        )
    from pyarrow import dataset

    found = dataset.dataset(os.fspath(new_data), format="parquet", partitioning="hive")
    tables: Iterator[pd.DataFrame] = (x.to_pandas() for x in found.to_batches() if x.num_rows)
    return NewData(found.count_rows(), None, tables)

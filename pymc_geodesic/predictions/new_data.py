#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""New data of rows, by the names of the data of a model, also of Bambi's."""

from __future__ import annotations

import os
import warnings

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from pymc.model import Model

from pymc_geodesic.manifolds import manifold_of
from pymc_geodesic.parquet import ParquetRows
from pymc_geodesic.predictions.expected import probabilities_of
from pymc_geodesic.predictions.quantities import Quantity
from pymc_geodesic.predictions.rows_of_model import blocks

__all__ = ["NewData", "bambi_quantity", "new_data_of", "tables_of"]


# Rows of a table that are taken at once, so that it is not copied as a whole.
PART = 2**16


class NewData[Part](NamedTuple):
    """New data of rows.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    labels : ndarray, optional
        Those of a table.
    parts : iterator
        The data of some rows after the other.
    """

    n_rows: int
    labels: np.ndarray | None
    parts: Iterator[Part]


def new_data_of(given: Any, model: Model) -> NewData[dict[str, np.ndarray]]:
    """Read new data.

    Parameters
    ----------
    given : DataFrame, mapping, ParquetRows or path
        As a user gives it.
    model : Model
        Its ``pm.Data`` have the names that count.
    """
    if isinstance(given, pd.DataFrame):
        parts = (_of_frame(given.iloc[at], model) for at in blocks(len(given), PART))
        return NewData(len(given), np.asarray(given.index), parts)
    if isinstance(given, Mapping):
        arrays = _of_mapping(given, model)
        n = _common_length(arrays)
        every = ({name: x[at] for name, x in arrays.items()} for at in blocks(n, PART))
        return NewData(n, None, every)
    if isinstance(given, str | os.PathLike):
        given = ParquetRows(given, columns=_columns_of(given, model))
    if isinstance(given, ParquetRows):
        return NewData(given.n_rows, None, _of_blocks(given, model))
    raise TypeError(
        "`new_data` expected a DataFrame, a mapping of names to arrays, or the path of a Parquet "
        f"file, got {type(given).__name__}."
    )


def _of_blocks(rows: ParquetRows, model: Model) -> Iterator[dict[str, np.ndarray]]:
    width, known = len(rows.columns), _columns(model)
    # The data of a stream: the columns of its rows have no other names.
    whole = [x for x in model.data_vars if x.ndim == 2 and known[x.name] == [x.name]]
    streams = [x.name for x in whole if x.get_value(borrow=True).shape[1] == width]
    for block in rows:
        if streams:
            yield {name: _typed(name, block, model) for name in streams}
        else:
            yield _of_frame(pd.DataFrame(block, columns=list(rows.columns)), model)


def _columns_of(path: Any, model: Model) -> list[str]:
    from pyarrow import dataset

    there = set(dataset.dataset(path, format="parquet", partitioning="hive").schema.names)
    wanted = [column for names in _columns(model).values() for column in names]
    found = [column for column in dict.fromkeys(wanted) if column in there]
    if not found:
        _refuse_names(model, sorted(there))
    return found


def _columns(model: Model) -> dict[str, list[str]]:
    """Name the columns of a table that each ``pm.Data`` may be made of."""
    found: dict[str, list[str]] = {}
    for data in model.data_vars:
        found[data.name] = [data.name]
        dims = list(model.named_vars_to_dims.get(data.name) or ())
        if data.ndim == 2 and len(dims) == 2 and model.coords.get(dims[-1]) is not None:
            found[data.name] = [str(x) for x in model.coords[dims[-1]]]
    return found


def _of_frame(frame: pd.DataFrame, model: Model) -> dict[str, np.ndarray]:
    there = {str(column): column for column in frame.columns}
    found = {}
    for name, columns in _columns(model).items():
        if all(column in there for column in columns):
            chosen = frame[[there[column] for column in columns]].to_numpy()
            is_one = model[name].ndim == 1
            found[name] = _typed(name, chosen[:, 0] if is_one else chosen, model)
    if not found:
        _refuse_names(model, list(there))
    return found


def _of_mapping(given: Mapping[str, Any], model: Model) -> dict[str, np.ndarray]:
    known = {x.name for x in model.data_vars}
    if unknown := [name for name in given if name not in known]:
        _refuse_names(model, unknown, known)
    return {name: _typed(name, np.asarray(values), model) for name, values in given.items()}


def _common_length(arrays: Mapping[str, np.ndarray]) -> int:
    lengths = {name: len(x) for name, x in arrays.items()}
    if len(set(lengths.values())) != 1:
        listed = ", ".join(f"{n} in `{name}`" for name, n in lengths.items())
        raise ValueError(f"`new_data` expected arrays with one number of rows, got {listed}.")
    return next(iter(lengths.values()))


def _typed(name: str, values: np.ndarray, model: Model) -> np.ndarray:
    """Return values as the data of a model are stored."""
    old = model[name].get_value(borrow=True)
    if values.ndim != old.ndim or values.shape[1:] != old.shape[1:]:
        axes = ", ".join(["rows", *map(str, old.shape[1:])])
        raise ValueError(
            f"`new_data` expected `{name}` with the shape ({axes}), got {values.shape}."
        )
    kinds = "b", "biu", "biuf"
    kind = next((x for x in kinds if old.dtype.kind in x), "biuf")
    if values.dtype.kind == "f" and kind != "biuf" and np.array_equal(values, np.rint(values)):
        # Tables of several types are read as floats.
        return values.astype(old.dtype)
    if values.dtype == object:
        values = _numbers(values)
    if values.dtype.kind not in kind:
        raise ValueError(
            f"`new_data` expected `{name}` to be numbers of type {old.dtype}, as in the model, got "
            f"{values.dtype}. The number of a label is "
            '`pandas.Index(model.coords["..."]).get_indexer(labels)`.'
        )
    return values.astype(old.dtype, copy=False)


def _numbers(values: np.ndarray) -> np.ndarray:
    try:
        return values.astype(float)
    except (TypeError, ValueError):
        return values


def _refuse_names(model: Model, got: Sequence[str], known: Collection[str] = ()) -> None:
    known = sorted(known or {x for names in _columns(model).values() for x in names})
    if not known:
        raise ValueError(
            "`new_data` expected a model with `pm.Data`, got one without. Write "
            '`pm.Data("x", x)` for the data of rows; or build the model with the new rows, and '
            "pass it without `new_data`."
        )
    raise ValueError(f"`new_data` expected names of `pm.Data`, {known}, got {list(got)}.")


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

    rv = given.backend.model[name]
    dims, coords, n_categories = ["__obs__"], {}, 0
    if probabilities_of(rv) is not None:
        levels = list(given.response_term.levels)
        coords = {f"{name}_category": levels}
        if kind == "mean":
            dims += coords
        else:
            n_categories = len(levels)
    return Quantity(
        name,
        len(table),
        at_rows,
        dims,
        coords,
        manifold_of(rv),
        lambda rows: None,
        LEAST_ROWS,
        n_categories,
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

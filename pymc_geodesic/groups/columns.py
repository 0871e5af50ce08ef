#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Columns of a table as arrays of numbers, and its rows by group."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytensor

__all__ = ["Grouping", "column_of", "grouping_of", "numbers"]


class Grouping(NamedTuple):
    """Which rows of a table belong to which group.

    Attributes
    ----------
    labels : ndarray, shape (G,)
        Labels of the groups, in their order.
    starts : ndarray of int, shape (G + 1,)
        Start of each group among the sorted rows, and their number.
    order : ndarray of int or None
        The row of the table at each place; None if the table is sorted.
    """

    labels: np.ndarray
    starts: np.ndarray
    order: np.ndarray | None


def column_of(table: Any, name: str, *, n_rows: int | None = None) -> np.ndarray | pd.Series:
    """Return a column of a DataFrame, or of a mapping of arrays.

    Raises
    ------
    ValueError
        If there is no such column, or it has another number of rows.
    """
    names = [str(known) for known in table]
    if name not in names:
        raise ValueError(f"`GroupedRows` expected one of the columns {names}, got {name!r}.")
    column = table[name]
    column = column if isinstance(column, pd.Series) else np.asarray(column)
    if np.ndim(column) == 0 or (n_rows is not None and len(column) != n_rows):
        raise ValueError(
            f"The column `{name}` expected an entry in each of the {n_rows} rows, got shape "
            f"{np.shape(column)}."
        )
    return column


def grouping_of(labels: np.ndarray | pd.Series, name: str) -> Grouping:
    """Find the groups by their labels; rows may be in any order.

    Raises
    ------
    ValueError
        If there are no rows, or some have no label.
    """
    if np.ndim(labels) != 1 or len(labels) == 0:
        raise ValueError(
            f"`by` expected a column with a label in each row, got `{name}` of shape "
            f"{np.shape(labels)}."
        )
    codes, known = pd.factorize(labels, sort=True)
    if len(missing := np.flatnonzero(codes < 0)):
        raise ValueError(
            f"`by` expected a label in every row of `{name}`, got {len(missing)} rows without, the "
            f"first at row {missing[0]}. Drop these rows, or give them a group."
        )
    starts = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=len(known)))])
    is_sorted = bool(np.all(codes[1:] >= codes[:-1]))
    order = None if is_sorted else np.argsort(codes, kind="stable")
    return Grouping(np.asarray(known), starts.astype("int64"), order)


def numbers(column: np.ndarray | pd.Series, name: str) -> np.ndarray:
    """Return a column as an array that a model computes with.

    Whole numbers and truth values become 32-bit integers, other numbers the floats of PyTensor.

    Raises
    ------
    ValueError
        If there are values missing, or the column does not hold numbers.
    """
    if isinstance(column, pd.Series):
        column = _values_of(column)
    kind = column.dtype.kind
    if kind not in "biuf":
        raise ValueError(
            f"The column `{name}` expected numbers, got {column.dtype}. For categories take their "
            f"codes, such as `table[{name!r}].astype('category').cat.codes`."
        )
    if kind == "f":
        if n_missing := int(np.isnan(column).sum()):
            first = int(np.argwhere(np.isnan(column))[0][0])
            raise ValueError(
                f"The column `{name}` expected a number in every row, got {n_missing} that are "
                f"NaN, the first at row {first}. Drop or impute these rows."
            )
        return column.astype(pytensor.config.floatX)
    least, most = np.iinfo("int32").min, np.iinfo("int32").max
    if kind != "b" and len(column) and not least <= column.min() <= column.max() <= most:
        raise ValueError(
            f"The column `{name}` expected whole numbers of 32 bits, got values from "
            f"{column.min()} to {column.max()}. Convert it: `table[{name!r}].astype(float)`."
        )
    return column.astype("int32")


def _values_of(column: pd.Series) -> np.ndarray:
    """Return the values of a pandas column, whose missing values need not be NaN."""
    if column.dtype.kind in "biuf" and not isinstance(column.dtype, np.dtype):
        if column.isna().any():
            return column.to_numpy(dtype="float64", na_value=np.nan)
        return column.to_numpy(dtype=column.dtype.numpy_dtype)
    return column.to_numpy()

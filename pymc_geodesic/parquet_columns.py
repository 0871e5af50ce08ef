#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Checks that Parquet files can be read, as numbers without missing values, by their metadata."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any

__all__ = ["require_names", "require_numbers", "require_pyarrow"]


def require_pyarrow(name: str) -> None:
    """Raise an error that names an argument or a class if pyarrow is not installed."""
    if find_spec("pyarrow") is None:
        raise ImportError(
            f"`{name}` expected the package pyarrow, which is not installed. Install it with "
            '`pip install "pymc_geodesic[parquet]"`.'
        )


def require_names(columns: Sequence[str]) -> tuple[str, ...]:
    """Return names of columns if they are different strings."""
    names = () if isinstance(columns, str) or not isinstance(columns, Sequence) else tuple(columns)
    if not names or not all(isinstance(name, str) for name in names):
        advice = f" Pass `[{columns!r}]`." if isinstance(columns, str) else ""
        raise ValueError(f"`columns` expected a list of names, got {columns!r}.{advice}")
    if len(set(names)) < len(names):
        raise ValueError(f"`columns` expected different names, got {columns!r}.")
    return names


def require_numbers(file: Any, columns: Sequence[str], *, schema: Any, filter: Any) -> None:
    """Check the columns of a file, without reading them where its metadata count missing values.

    Parameters
    ----------
    file : pyarrow.dataset.ParquetFileFragment
        The file.
    columns : sequence of str
        Names of the columns.
    schema : pyarrow.Schema
        Types of the columns of the dataset, which are those of its first file and of the names of
        folders.
    filter : pyarrow.dataset.Expression or None
        Rows to use.

    Raises
    ------
    ValueError
        If the file has no such columns, or they are not numbers or have missing values.
    """
    from pyarrow.dataset import get_partition_keys

    folders = get_partition_keys(file.partition_expression)
    own = file.physical_schema
    for name in columns:
        # A name that occurs twice is as good as none.
        if (name in folders) + own.names.count(name) != 1 or name not in schema.names:
            raise ValueError(
                f"`columns` expected names of columns of every file, got {name!r}, which is not "
                f"one of {[*own.names, *folders]} in {file.path}."
            )
        _require_kind(name, (schema if name in folders else own).field(name).type, file.path)
    for name, n_missing in _missing(file, columns, schema=schema, filter=filter):
        raise ValueError(
            f"`columns` expected numbers in all rows, got {n_missing} missing values of {name!r} "
            f"in {file.path}. Impute them, or leave out those rows with "
            f"`filter=pyarrow.dataset.field({name!r}).is_valid()`."
        )


def _require_kind(name: str, kind: Any, path: str) -> None:
    from pyarrow import types

    are_numbers = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    if any(is_kind(kind) for is_kind in are_numbers):
        return
    advice = (
        "Store times as numbers, such as days since the first."
        if types.is_temporal(kind)
        else "Store categories as codes that count from 0, and other values as numbers."
    )
    raise ValueError(
        f"`columns` expected columns of numbers, got {name!r} of type {kind} in {path}. {advice}"
    )


def _missing(
    file: Any, columns: Sequence[str], *, schema: Any, filter: Any
) -> Iterator[tuple[str, int]]:
    """Yield columns with missing values in the rows to use, with their number in the file."""
    from pyarrow.dataset import field

    metadata = file.metadata
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    places = {metadata.schema.column(i).path: i for i in range(metadata.num_columns)}
    for name in columns:
        if name not in places:
            continue
        found = [group.column(places[name]).statistics for group in groups]
        n_missing = sum(x.null_count for x in found if x is not None and x.has_null_count)
        if n_missing and filter is not None:
            n_missing = file.scanner(
                schema=schema, filter=filter & field(name).is_null()
            ).count_rows()
        if n_missing:
            yield name, n_missing

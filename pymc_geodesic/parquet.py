#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Rows of a Parquet dataset: one after another, at random, or by parts that add up to all."""

from __future__ import annotations

import os

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from pymc_geodesic.parquet_columns import require_names, require_numbers, require_pyarrow
from pymc_geodesic.validation import flag

__all__ = ["ParquetRows", "Partition"]

# Rows that are converted at once: so many that the cost of a call is negligible.
BLOCK = 2**16
# Row groups of a file are combined up to this number of rows, so that a task takes some tenths of
# a second.
PARTITION = 250_000

type Spread = Callable[[Sequence[int], Sequence[np.ndarray]], Sequence[np.ndarray]]
"""``(partitions, rows of each) -> rows``: reads chosen rows of some partitions."""


@dataclass(frozen=True, eq=False)
class Partition:
    """Row groups of a file, which are read one block after another.

    Attributes
    ----------
    fragments : tuple of pyarrow.dataset.Fragment
        The row groups.
    columns : tuple of str
        Columns of a row.
    schema : pyarrow.Schema
        Types of all columns, with those that the names of folders give.
    filter : pyarrow.dataset.Expression or None
        Rows to use.
    first, n_rows : int
        Index of the first row in the dataset, and the number of rows.
    """

    fragments: tuple[Any, ...]
    columns: tuple[str, ...]
    schema: Any
    filter: Any
    first: int
    n_rows: int

    def __iter__(self) -> Iterator[np.ndarray]:
        """Read the rows in blocks of shape ``(n, columns)``."""
        return (_as_array(batch) for batch in self._batches())

    def rows(self, places: np.ndarray) -> np.ndarray:
        """Read the rows at increasing places in the partition."""
        parts, first = [np.zeros((0, len(self.columns)))], 0
        for batch in self._batches():
            begin, end = np.searchsorted(places, [first, first + batch.num_rows])
            if begin < end:
                parts.append(_as_array(batch.take(places[begin:end] - first)))
            first += batch.num_rows
        return np.concatenate(parts)

    def _batches(self) -> Iterator[Any]:
        for fragment in self.fragments:
            yield from fragment.to_batches(
                schema=self.schema,
                columns=list(self.columns),
                filter=self.filter,
                batch_size=BLOCK,
                batch_readahead=1,
                use_threads=False,
            )


class ParquetRows:
    r"""Rows of a Parquet dataset, for the ``data`` of a step.

    Rows may be stored in any order, such as sorted by the response. They are drawn at random from
    all partitions, in proportion to their numbers of rows. A chain keeps a pool of random rows in
    memory, at most 64 MB, and draws its batches from it; see Notes.

    Parameters
    ----------
    source : path, URL or sequence of paths
        A file, a folder of files, or a URL that fsspec knows, such as ``"s3://bucket/folder"``.
        Every process that reads must see it there.
    columns : sequence of str
        Columns of a row, in this order: numbers without missing values. They may come from the
        names of folders, such as ``year=2001``.
    filter : pyarrow.dataset.Expression, optional
        Rows to use, such as ``pyarrow.dataset.field("year") > 2000``. They are counted by reading
        the columns of the filter once.
    shuffled : bool, default False
        Whether rows are stored in random order. They are then read one after another, and every
        batch has rows that the chain has not seen before in this pass.
    storage_options : mapping, optional
        What fsspec needs to know for a URL.

    Attributes
    ----------
    n_rows : int
        Number of rows in use: the ``total_size`` of the model.
    partitions : tuple of Partition
        Parts of the dataset.

    Raises
    ------
    ImportError
        If pyarrow is not installed.
    ValueError
        If some file has no such columns, or there are no rows, or values that are missing or are
        not numbers.

    Notes
    -----
    With control variates the gradient of a batch is the difference to that at a center, where the
    gradient of all N rows is exact. Using a pool of S random rows in place of all rows then changes
    the curvature of the posterior by about :math:`\sqrt{d / S}`, with d entries. A pool is used
    until ten times N rows have been drawn from it with replacement. Without control variates every
    row of a pool is used once, and each pool costs a pass over the dataset: set ``shuffled=True``
    for data that are stored in random order, or shuffle them first.

    Examples
    --------
    >>> import tempfile, numpy as np, pyarrow as pa, pyarrow.parquet as pq, pymc_geodesic as pmg
    >>> path = tempfile.mkdtemp() + "/rows.parquet"
    >>> pq.write_table(pa.table({"x": np.arange(5.0), "y": np.ones(5)}), path)
    >>> rows = pmg.ParquetRows(path, columns=["x", "y"])
    >>> rows.n_rows, next(iter(rows)).shape
    (5, (5, 2))
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | Sequence[str],
        *,
        columns: Sequence[str],
        filter: Any = None,
        shuffled: bool = False,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.columns, self.shuffled = require_names(columns), flag("shuffled", shuffled)
        dataset = _dataset(source, storage_options or {})
        self.filter = _require_filter(filter, dataset.schema)
        self.partitions = tuple(self._found(dataset))
        self.n_rows = sum(partition.n_rows for partition in self.partitions)
        if not self.n_rows:
            raise ValueError(f"`source` expected rows, got none at {source!r}.")

    def __iter__(self) -> Iterator[np.ndarray]:
        """Read all rows in the order in which they are stored, block by block."""
        for partition in self.partitions:
            yield from partition

    def sample(
        self, rng: np.random.Generator, n_rows: int, *, spread: Spread | None = None
    ) -> np.ndarray:
        """Read different rows, chosen at random from all, in random order.

        Parameters
        ----------
        rng : numpy.random.Generator
            Source of the choice.
        n_rows : int
            Number of rows.
        spread : callable, optional
            Reads rows of several partitions, such as in several processes.
        """
        chosen = np.sort(rng.choice(self.n_rows, n_rows, replace=False, shuffle=False))
        bounds = np.searchsorted(chosen, [*self._firsts, self.n_rows])
        numbers = [i for i in range(len(self.partitions)) if bounds[i] < bounds[i + 1]]
        places = [chosen[bounds[i] : bounds[i + 1]] - self._firsts[i] for i in numbers]
        where = np.argsort(rng.permutation(n_rows))
        # Filled part by part: the parts together would take the same memory again.
        found, first = np.empty((n_rows, len(self.columns))), 0
        for part in (spread or self._read)(numbers, places):
            found[where[first : first + len(part)]] = part
            first += len(part)
        return found

    @cached_property
    def _firsts(self) -> list[int]:
        return [partition.first for partition in self.partitions]

    def _read(self, numbers: Sequence[int], places: Sequence[np.ndarray]) -> Iterator[np.ndarray]:
        return (self.partitions[i].rows(rows) for i, rows in zip(numbers, places, strict=True))

    def _found(self, dataset: Any) -> Iterator[Partition]:
        first = 0
        for file in dataset.get_fragments(filter=self.filter):
            require_numbers(file, self.columns, schema=dataset.schema, filter=self.filter)
            groups = file.split_by_row_group(filter=self.filter, schema=dataset.schema)
            counts = [self._count(group, dataset.schema) for group in groups]
            ends = accumulate(counts)
            numbers = [(end - 1) // PARTITION for end in ends]
            for number in sorted(set(numbers)):
                own = [i for i, n in enumerate(numbers) if n == number and counts[i]]
                fragments = tuple(groups[i] for i in own)
                n_rows = sum(counts[i] for i in own)
                if n_rows:
                    yield Partition(
                        fragments, self.columns, dataset.schema, self.filter, first, n_rows
                    )
                first += n_rows

    def _count(self, group: Any, schema: Any) -> int:
        if self.filter is not None:
            return group.scanner(schema=schema, filter=self.filter).count_rows()
        # Without a filter pyarrow 26 counts the rows of the whole file.
        return sum(info.num_rows for info in group.row_groups)


def _require_filter(given: Any, schema: Any) -> Any:
    """Return a filter if it is an expression of columns of the schema."""
    if given is None:
        return None
    from pyarrow import ArrowException
    from pyarrow.dataset import Expression, Scanner

    example = 'such as `pyarrow.dataset.field("year") > 2000`'
    if not isinstance(given, Expression):
        raise ValueError(
            f"`filter` expected a `pyarrow.dataset.Expression`, {example}, got {given!r}."
        )
    try:
        Scanner.from_batches(iter([]), schema=schema, filter=given).count_rows()
    except ArrowException as error:
        raise ValueError(
            f"`filter` expected an expression of the columns {schema.names}, {example}, got "
            f"{given}. The cause: {error}"
        ) from error
    return given


def _dataset(source: Any, storage_options: Mapping[str, Any]) -> Any:
    require_pyarrow("ParquetRows")
    from pyarrow import dataset

    if isinstance(source, str) and "://" in source:
        # Installed with Dask, and with packages for storage such as s3fs.
        from fsspec.core import url_to_fs

        filesystem, path = url_to_fs(source, **storage_options)
        return dataset.dataset(path, filesystem=filesystem, format="parquet", partitioning="hive")
    paths = [os.fspath(p) for p in source] if isinstance(source, list | tuple) else source
    try:
        return dataset.dataset(paths, format="parquet", partitioning="hive")
    except FileNotFoundError:
        raise FileNotFoundError(
            f"`source` expected a Parquet file or a folder of them, got {source!r}, where there is "
            "none. Check the path."
        ) from None


def _as_array(batch: Any) -> np.ndarray:
    rows = np.empty((batch.num_rows, batch.num_columns))
    for i, column in enumerate(batch.columns):
        rows[:, i] = column.to_numpy(zero_copy_only=False)
    return rows

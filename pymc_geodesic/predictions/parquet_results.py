#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A Parquet file of the mean and the quantiles of rows, which is written block by block."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from pymc_geodesic.parquet_columns import require_pyarrow
from pymc_geodesic.predictions.stored import Form, require_new, rows_of_chunk

__all__ = ["SUFFIX", "ParquetResults"]

SUFFIX = ".parquet"
# Rows that are written at once.
ROW_GROUP = 2**16


class ParquetResults:
    """The summaries of one variable, a line for each row.

    Parameters
    ----------
    forms : mapping of str to Form
        Its form.
    coords : mapping
        Coordinates of its axes: labels of rows are the first column, those of the other axes name
        the others.
    path : Path
        The new file.

    Raises
    ------
    ValueError
        For several variables, or all draws.
    FileExistsError
        If there is something at the path.
    ImportError
        If pyarrow is not installed.
    """

    def __init__(self, forms: Mapping[str, Form], coords: Mapping[str, Any], path: Path) -> None:
        require_pyarrow("out")
        if len(forms) > 1 or "draw" in coords:
            got = "all draws" if "draw" in coords else f"{list(forms)}"
            raise ValueError(
                f"`out` expected the mean and quantiles of one variable for a Parquet file, got "
                f"{got}. Name one in `var_names`, or pass a path that does not end in `{SUFFIX}`."
            )
        require_new(path)
        [self._form] = forms.values()
        self._path = path
        self._writer: Any = None
        self._labels = np.asarray(coords[self._form.dims[0]])
        axes = zip(self._form.dims[1:-1], self._form.shape[1:-1], strict=True)
        entries = product(*(coords.get(dim, range(n)) for dim, n in axes))
        self._names = [
            " ".join(filter(None, [", ".join(map(str, entry)), kind]))
            for entry in entries
            for kind in coords["summary"]
        ]

    def rows_at_once(self, name: str) -> int:
        """Return how many rows are put at once: those of a row group."""
        return min(ROW_GROUP, rows_of_chunk(self._form))

    def put(self, name: str, first: int, block: np.ndarray) -> None:
        """Put the results of some rows, the first of which is given, after those before.

        Parameters
        ----------
        name : str
            The variable.
        first : int
            Number of the first row.
        block : ndarray, shape (rows, ..., summaries)
            Their mean and quantiles.
        """
        import pyarrow as pa

        from pyarrow.parquet import ParquetWriter

        columns = block.reshape(len(block), -1).T
        labels = pa.array(self._labels[first : first + len(block)])
        names = [self._form.dims[0], *self._names]
        lines = pa.table([labels, *map(pa.array, columns)], names=names)
        if self._writer is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # Hardly any number is there twice.
            self._writer = ParquetWriter(self._path, lines.schema, use_dictionary=False)
        self._writer.write_table(lines)

    def dataset(self) -> xr.Dataset:
        """Complete the file; return nothing of it."""
        if self._writer is not None:
            self._writer.close()
        return xr.Dataset()

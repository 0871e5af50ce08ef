#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Where the results of rows are put: in memory, in a folder, or in a Parquet file."""

from __future__ import annotations

import warnings

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from pymc_geodesic.parquet_columns import require_pyarrow
from pymc_geodesic.runs.checkpoints.store import zarr_package

__all__ = ["SUFFIX", "Form", "ParquetResults", "Results", "require_new", "rows_of_chunk"]

# Bytes of a chunk of a folder before compression, and of results that are kept in memory.
CHUNK_BYTES, MOST_BYTES = 2**23, 4e9


class Form(NamedTuple):
    """The form of a result.

    Attributes
    ----------
    dims : tuple of str
        Names of its axes.
    shape : tuple of int
        Their lengths.
    dtype : dtype
        Type of its entries.
    axis : int
        Axis of the rows.
    """

    dims: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: np.dtype
    axis: int

    @property
    def n_bytes(self) -> float:
        """Bytes in memory."""
        return float(np.prod(self.shape, dtype=float)) * self.dtype.itemsize


class Results:
    """Results that are filled block by block.

    Parameters
    ----------
    forms : mapping of str to Form
        The form of each.
    coords : mapping
        Coordinates of their axes.
    out : path, optional
        A new folder for them; by default they are in memory.

    Raises
    ------
    FileExistsError
        If there is something at ``out``.
    MemoryError
        If they are too large for memory.
    """

    def __init__(
        self,
        forms: Mapping[str, Form],
        coords: Mapping[str, Any],
        out: Path | None,
    ) -> None:
        self._forms, self._coords = dict(forms), dict(coords)
        self._path = out
        if self._path is None:
            self._require_space()
            self._arrays: Any = {
                name: np.empty(form.shape, form.dtype) for name, form in self._forms.items()
            }
        else:
            self._arrays = self._begin(self._path)

    def rows_at_once(self, name: str) -> int:
        """Return how many rows are put at once."""
        return rows_of_chunk(self._forms[name])

    def put(self, name: str, first: int, block: np.ndarray) -> None:
        """Put the results of some rows, the first of which is given."""
        axis = self._forms[name].axis
        place = slice(first, first + block.shape[axis])
        self._arrays[name][(slice(None),) * axis + (place,)] = block

    def dataset(self) -> xr.Dataset:
        """Return all; those of a folder are read when they are used."""
        if self._path is not None:
            there = xr.open_zarr(self._path, consolidated=False, chunks=None)
            return there[list(self._forms)].assign_coords(there.coords)
        found = {name: (form.dims, self._arrays[name]) for name, form in self._forms.items()}
        return xr.Dataset(found, coords=self._coords)

    def _require_space(self) -> None:
        n_bytes = sum(form.n_bytes for form in self._forms.values())
        if n_bytes > MOST_BYTES:
            raise MemoryError(
                f"`out` expected a folder, because the results take {n_bytes / 1e9:.0f} GB, got "
                "None. Pass `out=` a new folder, or fewer `rows`, or leave out `draws=True`."
            )

    def _begin(self, path: Path) -> dict[str, Any]:
        zarr = zarr_package("out")
        require_new(path)
        xr.Dataset(coords=self._coords).to_zarr(path, mode="w-", zarr_format=3, consolidated=False)
        root = zarr.open_group(path, mode="r+", zarr_format=3)
        found = {}
        for name, form in self._forms.items():
            chunks = list(form.shape)
            chunks[form.axis] = min(rows_of_chunk(form), max(1, chunks[form.axis]))
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message=".*does not have a Zarr V3 spec")
                found[name] = root.create_array(
                    name,
                    shape=form.shape,
                    chunks=tuple(chunks),
                    dtype=form.dtype,
                    dimension_names=form.dims,
                )
        return found


def require_new(path: Path) -> None:
    """Raise an error if there is something at a path."""
    if path.exists():
        raise FileExistsError(f"`out` expected a new path, got {str(path)!r}, which exists.")


def rows_of_chunk(form: Form) -> int:
    """Return how many rows are put at once."""
    n_rows = max(1, form.shape[form.axis])
    return max(1, min(n_rows, int(CHUNK_BYTES // max(1.0, form.n_bytes / n_rows))))


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

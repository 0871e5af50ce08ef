#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Where the results of rows are put: in memory, or in a folder."""

from __future__ import annotations

import warnings

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from pymc_geodesic.runs.checkpoints.store import zarr_package

__all__ = ["Form", "Results", "require_new", "rows_of_chunk"]

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

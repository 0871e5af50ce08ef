#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A Zarr hierarchy in which draws become valid by a commit.

Zarr writes each file atomically, by renaming a temporary one. Arrays grow file by file, and become
visible together: the consolidated metadata, one file at the root, holds the shapes of all arrays
and the attributes of all groups. After a crash between two commits, arrays can be longer than these
shapes. They are truncated before the next draws are appended.
"""

from __future__ import annotations

import os
import shutil
import warnings

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import numpy as np
import xarray as xr

from pymc_geodesic.runs.checkpoints.folder import (
    CheckpointError,
    busy,
    in_order,
    locked,
    names_of,
    names_on_disk,
)

__all__ = ["RunStore", "has_states", "read_draws", "zarr_package"]

STATES, SLOTS = "chain_states", ("even", "odd")
# Bytes of a chunk before compression. Each commit writes the chunk again until it is full.
CHUNK_BYTES, MOST_DRAWS = 2**22, 1024


class RunStore:
    """Draws that are appended, and a state that is replaced.

    Parameters
    ----------
    path : Path
        A directory that :meth:`create` has created.

    Raises
    ------
    ValueError
        If the directory holds something else.
    CheckpointError
        If another process writes to it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = locked(path)
        try:
            committed = _committed(path)
            with _said(path):
                self._root = _restored(path, committed)
        except BaseException:
            self.close()
            raise
        self.attributes: dict[str, Any] = dict(committed[STATES].attrs)
        self._order = names_on_disk(path)

    @classmethod
    def create(cls, path: Path, attributes: dict[str, Any], state: bytes) -> Self:
        """Create a directory with a first state and no draws."""
        zarr = _zarr()
        made = path.with_name(f".{path.name}.{uuid4().hex}")
        try:
            with _said(path):
                root = zarr.open_group(made, mode="w", zarr_format=3)
                _put_state(root, attributes | {"slot": SLOTS[0]}, state)
                _consolidate(made)
                if path.exists():
                    raise busy(path)
                made.rename(path)
        finally:
            shutil.rmtree(made, ignore_errors=True)
        return cls(path)

    def state(self) -> bytes:
        """Return the state of the last commit."""
        return self._root[STATES][self.attributes["slot"]][:].tobytes()

    def commit(
        self, parts: Iterable[tuple[int, xr.DataTree]], attributes: dict[str, Any], state: bytes
    ) -> None:
        """Append draws and replace attributes and state, or leave all as it was, to try again.

        Parameters
        ----------
        parts : iterable of (int, DataTree)
            The index of the first draw, and the draws.
        attributes : dict
            Attributes, which can be written as JSON.
        state : bytes
            State after the draws.

        Raises
        ------
        CheckpointError
            If writing fails.
        """
        self._require_same_folder()
        # A chunk that is left out could not be told from one that is lost.
        with _said(self.path), _zarr().config.set({"array.write_empty_chunks": True}):
            committed = _committed(self.path)
            slot = SLOTS[1 - SLOTS.index(committed[STATES].attrs["slot"])]
            attributes = attributes | {"slot": slot}
            there = set(committed.group_keys())
            for first, tree in parts:
                for name, child in tree.children.items():
                    if name in there:
                        self._append(name, child.to_dataset(), first)
                    else:
                        self._begin(name, child.to_dataset())
                        there.add(name)
                        self._order += names_of(child)
            _put_state(self._root, attributes, state)
            _consolidate(self.path)
            in_order(self.path, self._order)
        self.attributes = attributes

    def close(self) -> None:
        """Release the lock for other processes."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _require_same_folder(self) -> None:
        """Raise an error if the directory is no longer the one that was opened."""
        opened = None if self._lock is None else os.fstat(self._lock)
        if not self.path.exists() or (opened and not os.path.samestat(opened, self.path.stat())):
            raise CheckpointError(
                f"The checkpoint {str(self.path)!r} expected its directory, got none or another. "
                "It was removed or renamed while the run wrote to it. Do so after the run."
            )

    def _begin(self, name: str, dataset: xr.Dataset) -> None:
        encoding: dict[Any, dict[str, Any]] = {
            variable_name: {"compressors": _integrity().COMPRESSORS}
            | ({"chunks": _chunks(variable)} if variable.size else {})
            for variable_name, variable in dataset.variables.items()
        }
        dataset.to_zarr(
            self.path,
            group=name,
            mode="w",
            zarr_format=3,
            consolidated=False,
            encoding=encoding,
            write_empty_chunks=True,
        )

    def _append(self, name: str, dataset: xr.Dataset, first: int) -> None:
        """Write draws into arrays from an index on."""
        if "draw" not in dataset.dims:
            return
        group = self._root[name]
        group.attrs.update(dataset.attrs)
        dataset = dataset.assign_coords(draw=dataset["draw"] + first)
        end = first + dataset.sizes["draw"]
        for variable_name, array in group.arrays():
            dims = array.metadata.dimension_names
            if "draw" not in dims:
                continue
            axis = dims.index("draw")
            array.resize((*array.shape[:axis], end, *array.shape[axis + 1 :]))
            # A Deterministic that fails for all of these draws.
            values = dataset[variable_name].values if variable_name in dataset else np.nan
            if array.dtype.kind != "f" and np.asarray(values).dtype.kind == "f":
                raise ValueError(f"`{variable_name}` is no whole number in all draws")
            array[(slice(None),) * axis + (slice(first, end),)] = values


def has_states(path: Path) -> bool:
    """Return whether a folder is that of a run, whose states let it continue."""
    return (path / STATES).is_dir()


def read_draws(path: Path) -> tuple[xr.DataTree, dict[str, Any]]:
    """Read the committed draws and the attributes; values are loaded when they are used."""
    committed = _committed(path)
    store = _integrity().CheckedStore(path, read_only=True)
    tree = xr.open_datatree(store, engine="zarr", consolidated=True, zarr_format=3)
    return tree.drop_nodes(STATES), dict(committed[STATES].attrs)


def zarr_package(argument: str) -> Any:
    """Return the package zarr, which an argument needs."""
    if find_spec("zarr") is None:
        raise ImportError(
            f"`{argument}` expected the package zarr, which is not installed. Install it with "
            '`pip install "pymc_geodesic[checkpoint]"`.'
        )
    return import_module("zarr")


def _zarr() -> Any:
    return zarr_package("checkpoint")


def _integrity() -> Any:
    """Return the module that needs Zarr itself."""
    _zarr()
    return import_module("pymc_geodesic.runs.checkpoints.integrity")


def _committed(path: Path) -> Any:
    """Return the hierarchy as of the last commit."""
    if not path.exists():
        raise FileNotFoundError(
            f"Expected a result or the checkpoint of a run at {str(path)!r}, got nothing. "
            "`pmg.save` writes the former, `pmg.sample(..., checkpoint=...)` the latter before the "
            "first draw."
        )
    zarr = _zarr()
    if (path / "zarr.json").is_file():
        _integrity().require_whole(path)
        store = _integrity().CheckedStore(path, read_only=True)
        root = zarr.open_group(store, mode="r", use_consolidated=True, zarr_format=3)
        if STATES in root:
            return root
    raise ValueError(
        f"Expected the checkpoint of a run at {str(path)!r}, got something else. Pass a path "
        "that does not exist."
    )


def _restored(path: Path, committed: Any) -> Any:
    """Remove uncommitted draws; return the hierarchy for writing."""
    for partial in path.rglob("*.partial"):
        # A variable may have such a name; what it has on disk is a folder.
        if partial.is_file():
            partial.unlink()
    # With the metadata of each array, which may be ahead of the last commit.
    store = _integrity().CheckedStore(path)
    root = _zarr().open_group(store, mode="r+", use_consolidated=False, zarr_format=3)
    for name, group in list(root.groups()):
        if name not in committed:
            del root[name]
        elif name != STATES:
            for array_name, array in list(group.arrays()):
                shape = committed[name][array_name].shape
                if array.shape != shape:
                    array.resize(shape)
    return root


def _put_state(root: Any, attributes: dict[str, Any], state: bytes) -> None:
    """Write a new state next to the committed one."""
    group, slot = root.require_group(STATES), attributes["slot"]
    group.create_array(
        slot,
        data=np.frombuffer(state, dtype="uint8"),
        dimension_names=[f"{slot}_byte"],
        compressors=_integrity().COMPRESSORS,
        config={"write_empty_chunks": True},
        overwrite=True,
    )
    group.attrs.put(attributes)


def _consolidate(path: Path) -> None:
    with warnings.catch_warnings():
        # Readers without consolidated metadata read each array separately.
        warnings.filterwarnings("ignore", message="Consolidated metadata is currently not part")
        _zarr().consolidate_metadata(path, zarr_format=3)


def _chunks(variable: xr.Variable) -> tuple[int, ...]:
    if "draw" not in variable.dims:
        return variable.shape
    bytes_per_draw = max(1, variable.nbytes // variable.sizes["draw"])
    n_draws = min(MOST_DRAWS, max(1, CHUNK_BYTES // bytes_per_draw))
    return tuple(n_draws if d == "draw" else n for d, n in variable.sizes.items())


@contextmanager
def _said(path: Path) -> Iterator[None]:
    """Return the error about what cannot be written; nothing is lost."""
    try:
        yield
    except CheckpointError:
        raise
    except (OSError, ValueError, KeyError) as error:
        reason = getattr(error, "strerror", None) or error
        raise CheckpointError(
            f"The checkpoint {str(path)!r} could not be written: {reason}. Its "
            "previous content can be read with `pmg.read`, and the same call continues from there."
        ) from error

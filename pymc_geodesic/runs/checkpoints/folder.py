#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The folder of a checkpoint, its lock, the order of its groups, and the error about it."""

from __future__ import annotations

import json
import os
import re

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import xarray as xr

__all__ = [
    "CheckpointError",
    "busy",
    "folder_of",
    "in_order",
    "locked",
    "names_of",
    "names_on_disk",
]


class CheckpointError(OSError):
    """A checkpoint could not be written, or is damaged. Previous draws are not lost."""


def folder_of(path: str | os.PathLike[str], *, argument: str = "checkpoint") -> Path:
    """Return the absolute path of a checkpoint, which stays the same if the process moves.

    Parameters
    ----------
    path : path
        As a user gives it; ``~`` is the home directory.
    argument : str
        Name of the argument.

    Raises
    ------
    ValueError
        If it is a URL, or empty.

    Examples
    --------
    >>> from pymc_geodesic.runs.checkpoints.folder import folder_of
    >>> folder_of("~/run.zarr").is_absolute()
    True
    """
    text = os.fspath(path)
    if not text or re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", text):
        raise ValueError(
            f"`{argument}` expected a folder of this machine, got {text!r}. Pass a local path, and "
            "copy the folder afterwards."
        )
    return Path(text).expanduser().absolute()


def locked(path: Path) -> int | None:
    """Lock out other processes, if the system can; the lock ends with the process."""
    if find_spec("fcntl") is None or not path.exists():
        return None
    fcntl = import_module("fcntl")
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise busy(path) from None
    return descriptor


def busy(path: Path) -> CheckpointError:
    """Return the error of a folder to which another process writes."""
    return CheckpointError(
        f"The checkpoint {str(path)!r} expected no other process that writes to it, got one. "
        "Wait until it ends, or read the draws so far with `pmg.read`."
    )


FILE = "zarr.json"


def names_of(tree: xr.DataTree) -> list[str]:
    """Return the names of groups and variables of a tree below the root, in their order."""
    found = []
    for node in tree.subtree:
        group = node.path.strip("/")
        found += [group, *(f"{group}/{name}" for name in node.to_dataset(inherit=False).variables)]
    return found


def names_on_disk(path: Path) -> list[str]:
    """Return the names in the metadata of a hierarchy, in their order."""
    root = json.loads((path / FILE).read_text(encoding="utf-8"))
    return list(root["consolidated_metadata"]["metadata"])


def in_order(path: Path, names: Sequence[str]) -> None:
    """Write the metadata of a hierarchy in the order of names; others come last.

    Readers return variables as they stand there, so that tables and plots of a result that is read
    are those of the result before.
    """
    place = {name: i for i, name in enumerate(names)}
    root = json.loads((path / FILE).read_text(encoding="utf-8"))
    found = root["consolidated_metadata"]["metadata"]
    by_place = sorted(found, key=lambda name: place.get(name, len(place)))
    root["consolidated_metadata"]["metadata"] = {name: found[name] for name in by_place}
    # A file that is replaced is there as a whole at any time.
    new = path / f"{FILE}.partial"
    new.write_text(json.dumps(root, indent=2), encoding="utf-8")
    new.replace(path / FILE)

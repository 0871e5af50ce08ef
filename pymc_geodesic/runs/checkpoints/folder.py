#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The folder of a checkpoint, its lock, and the error about what is in it."""

from __future__ import annotations

import os
import re

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

__all__ = ["CheckpointError", "busy", "folder_of", "locked"]


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

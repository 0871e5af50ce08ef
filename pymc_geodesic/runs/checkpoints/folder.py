#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The folder of a checkpoint, and the error about what is in it."""

from __future__ import annotations

import os
import re

from pathlib import Path

__all__ = ["CheckpointError", "folder_of"]


class CheckpointError(OSError):
    """A checkpoint could not be written, or is damaged. Previous draws are not lost."""


def folder_of(path: str | os.PathLike[str]) -> Path:
    """Return the absolute path of a checkpoint, which stays the same if the process moves.

    Parameters
    ----------
    path : path
        As a user gives it; ``~`` is the home directory.

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
            f"`checkpoint` expected a folder of this machine, got {text!r}. Pass a local path, and "
            "copy the folder when the run has ended."
        )
    return Path(text).expanduser().absolute()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The folder of a checkpoint: its lock, the error about it, whether its files are whole.

Each chunk of an array ends with its CRC-32C checksum, which Zarr's codec of this name writes.
"""

from __future__ import annotations

import json
import os
import re

from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from math import ceil
from pathlib import Path
from typing import Any

import google_crc32c

from zarr.abc.store import ByteRequest
from zarr.codecs import Crc32cCodec, ZstdCodec
from zarr.core.buffer import Buffer, BufferPrototype
from zarr.storage import LocalStore

__all__ = [
    "COMPRESSORS",
    "CheckedStore",
    "CheckpointError",
    "busy",
    "folder_of",
    "locked",
    "require_whole",
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


COMPRESSORS = (ZstdCodec(), Crc32cCodec())
# Codecs of Zarr 3 that turn bytes into numbers and text, and nothing else. Others can run code.
CODECS = frozenset({"bytes", "crc32c", "transpose", "vlen-utf8", "zstd"})
CHECKSUM_BYTES = 4


class CheckedStore(LocalStore):
    """A folder whose chunks are compared with their checksums whenever they are read."""

    def get_sync(
        self,
        key: str,
        *,
        prototype: BufferPrototype | None = None,
        byte_range: ByteRequest | None = None,
    ) -> Buffer | None:
        """Read a file; see :class:`zarr.storage.LocalStore`."""
        found = super().get_sync(key, prototype=prototype, byte_range=byte_range)
        return self._checked(key, found)

    async def get(
        self,
        key: str,
        prototype: BufferPrototype | None = None,
        byte_range: ByteRequest | None = None,
    ) -> Buffer | None:
        """Read a file; see :class:`zarr.storage.LocalStore`."""
        return self._checked(key, await super().get(key, prototype, byte_range))

    def _checked(self, key: str, found: Buffer | None) -> Buffer | None:
        if found is None or key.endswith("zarr.json"):
            return found
        content = found.to_bytes()
        computed = google_crc32c.value(content[:-CHECKSUM_BYTES])
        if computed.to_bytes(CHECKSUM_BYTES, "little") != content[-CHECKSUM_BYTES:]:
            raise _damaged(self.root, f"the content of its file {key!r} has changed")
        return found


def require_whole(path: Path) -> None:
    """Raise an error unless a checkpoint can be read safely and completely.

    Parameters
    ----------
    path : Path
        A folder with the metadata of a Zarr hierarchy.

    Raises
    ------
    ValueError
        If it is not of Zarr 3, or has a codec that a run does not write.
    CheckpointError
        If the metadata cannot be read, or a chunk is missing.
    """
    for name, array in _arrays(path):
        codecs = {codec["name"] for codec in array["codecs"]}
        if unknown := sorted(codecs - CODECS):
            raise ValueError(
                f"The checkpoint {str(path)!r} expected the codecs {', '.join(sorted(CODECS))}, "
                f"got {unknown[0]!r} in {name!r}. It was not written by `pmg.sample`: do not use "
                "it."
            )
        for chunk in _chunks(array):
            if not (path / name / chunk).is_file():
                raise _damaged(path, f"its file {f'{name}/{chunk}'!r} is missing")


def _arrays(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the name and the metadata of each array of the last commit."""
    try:
        root = json.loads((path / "zarr.json").read_text(encoding="utf-8"))
        nodes = root["consolidated_metadata"]["metadata"].items()
        is_current = all(node["zarr_format"] == 3 for node in (root, *(x for _, x in nodes)))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise _damaged(path, "its file 'zarr.json' cannot be read") from None
    if not is_current:
        raise ValueError(
            f"The checkpoint {str(path)!r} expected Zarr 3, got another format. It was not written "
            "by `pmg.sample`: do not use it."
        )
    yield from ((name, node) for name, node in nodes if node["node_type"] == "array")


def _chunks(array: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the chunks of an array."""
    sizes = array["chunk_grid"]["configuration"]["chunk_shape"]
    counts = [ceil(n / size) for n, size in zip(array["shape"], sizes, strict=True)]
    yield from ("/".join(("c", *map(str, index))) for index in product(*map(range, counts)))


def _damaged(path: Path, what: str) -> CheckpointError:
    return CheckpointError(
        f"The checkpoint {str(path)!r} is damaged: {what}. Restore it from a copy, or begin the "
        "run again with another `checkpoint`."
    )

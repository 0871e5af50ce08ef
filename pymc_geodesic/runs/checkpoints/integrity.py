#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What a checkpoint's files must be before they are used: plain, complete and undamaged.

Each chunk of an array ends with its CRC-32C checksum, which Zarr's codec of this name writes.
"""

from __future__ import annotations

import json

from collections.abc import Iterator, Mapping
from itertools import product
from math import ceil
from pathlib import Path
from typing import Any

import google_crc32c

from zarr.abc.store import ByteRequest
from zarr.codecs import Crc32cCodec, ZstdCodec
from zarr.core.buffer import Buffer, BufferPrototype
from zarr.storage import LocalStore

from pymc_geodesic.runs.checkpoints.folder import CheckpointError

__all__ = ["COMPRESSORS", "CheckedStore", "require_whole"]

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

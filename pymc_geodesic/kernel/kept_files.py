#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Files in which a process keeps its results for the next, and what these depend on."""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import tempfile

from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pymc
import pytensor

from pytensor.configdefaults import config

__all__ = ["KeptFiles", "flags_of_pytensor", "key_of", "versions"]

N_CHECKSUM = hashlib.sha256().digest_size
# Where sources are that may be edited: of PyMC, of PyTensor, and of this package.
SOURCES = (Path(pymc.__file__).parent, Path(pytensor.__file__).parent, Path(__file__).parents[1])
# Flags of PyTensor that change what a graph is rewritten to.
FLAGS = (
    "floatX",
    "cast_policy",
    "mode",
    "optimizer",
    "optimizer_including",
    "optimizer_excluding",
    "optimizer_requiring",
)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class KeptFiles:
    """Files of a folder, with checksums; those that have not been used for longest are removed.

    Parameters
    ----------
    folder : Path
        The folder, which is made when something is written.
    suffix : str
        End of their names.
    most : int
        How many are kept.
    """

    folder: Path
    suffix: str
    most: int

    def read(self, key: str) -> bytes | None:
        """Return the content of a file, or None if there is none or it is damaged."""
        path = self._path(key)
        try:
            content = path.read_bytes()
            # The time of the last use, by which files are removed.
            os.utime(path)
        except OSError:
            return None
        checksum, content = content[:N_CHECKSUM], content[N_CHECKSUM:]
        if checksum != hashlib.sha256(content).digest():
            log.debug("%s is damaged.", path)
            return None
        return content

    def write(self, key: str, content: bytes) -> None:
        """Write a file at once, so that no process reads half of it; a full disk is no error."""
        path = self._path(key)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self.folder) as folder:
                written = Path(folder, path.name)
                written.write_bytes(hashlib.sha256(content).digest() + content)
                written.replace(path)
            files = list(self.folder.glob(f"*{self.suffix}"))
            if len(files) > self.most:
                for old in sorted(files, key=os.path.getmtime)[: -self.most]:
                    old.unlink(missing_ok=True)
        except OSError as reason:
            log.debug("%s cannot be written: %s", path, reason)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{self.suffix}"


def key_of(*parts: Any) -> str:
    """Return a short name for values that have the same text in every process."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def flags_of_pytensor() -> tuple[tuple[str, Any], ...]:
    """List the flags of PyTensor that change what a graph is rewritten to."""
    return tuple((name, getattr(config, name)) for name in FLAGS if hasattr(config, name))


@cache
def versions(packages: tuple[str, ...]) -> tuple[Any, ...]:
    """List versions and, since sources may have been edited, their times and sizes."""
    hashed = hashlib.sha256()
    for folder in SOURCES:
        for path in sorted(folder.rglob("*.py")):
            found = path.stat()
            hashed.update(f"{path} {found.st_mtime_ns} {found.st_size}\n".encode())
    numbers = tuple((name, version(name)) for name in packages)
    return sys.version_info[:3], numbers, hashed.hexdigest()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Functions that JAX has traced, kept on disk for the next process.

PyTensor takes a second to rewrite the graph of a kernel, and JAX another half to trace it. JAX's
own cache saves neither: it is asked only afterwards. What is kept is the portable form that JAX
would compile, under a name that holds everything on which it depends.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import tempfile

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pymc
import pytensor

from pytensor.configdefaults import config

from pymc_geodesic.kernel.graph_names import is_known
from pymc_geodesic.kernel.jax.resident import default_device

__all__ = ["KeptFiles", "flags_of_pytensor", "key_of", "traced", "versions"]

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


FOLDER, SUFFIX = "pymc_geodesic_traced", ".stablehlo"
# Each takes some hundred kilobytes.
MOST_FILES = 500
PACKAGES = ("jax", "jaxlib", "numpy", "pymc", "pytensor")


def traced(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    *,
    name: str | None,
) -> Callable[..., Any]:
    """Return a function of JAX, not traced again if that was done in an earlier process.

    Parameters
    ----------
    function : callable
        Function that JAX can trace. It is not called if its traced form is found.
    arguments : sequence of jax.ShapeDtypeStruct
        Shapes and dtypes of what it will be called with.
    name : str, optional
        Name of what it computes, apart from shapes. Without one, nothing is kept.

    Returns
    -------
    callable
        A jitted function.
    """
    import jax

    from jax import export

    folder = _folder()
    if name is None or folder is None or _is_overridden():
        return jax.jit(function)
    files = KeptFiles(folder, SUFFIX, MOST_FILES)
    shapes = [(x.shape, str(x.dtype)) for x in arguments]
    key = key_of(name, shapes, _circumstances())
    # JAX does not check what it reads.
    if (content := files.read(key)) is not None:
        found = export.deserialize(bytearray(content))
    else:
        try:
            platforms = ("cpu",) if default_device().platform == "cpu" else None
            found = export.export(jax.jit(function), platforms=platforms)(*arguments)
        except (ValueError, NotImplementedError) as reason:
            # Some operations of JAX have no portable form.
            log.debug("Not kept on disk: %s", reason)
            return jax.jit(function)
        files.write(key, found.serialize())
    return jax.jit(found.call)


def _folder() -> Path | None:
    """Return the folder, inside the one in which JAX keeps what it has compiled."""
    import jax

    chosen = jax.config.jax_compilation_cache_dir
    if chosen is None or not jax.config.jax_enable_compilation_cache or "://" in str(chosen):
        return None
    return Path(chosen) / FOLDER


def _is_overridden() -> bool:
    """Return whether a program has told PyTensor in its own way what an operation is in JAX."""
    from pytensor.link.jax.dispatch import jax_funcify

    pairs = jax_funcify.registry.items()
    return any(is_known(op) and not is_known(written) for op, written in pairs)


def _circumstances() -> tuple[Any, ...]:
    """List what the traced form depends on, beside the function: versions and settings."""
    import jax

    # By attribute, which knows of settings for a part of a program. Those of caches do not matter.
    settings = sorted(
        (name, repr(getattr(jax.config, name, value)))
        for name, value in jax.config.values.items()
        if "cache" not in name
    )
    return versions(PACKAGES), flags_of_pytensor(), settings, default_device().platform

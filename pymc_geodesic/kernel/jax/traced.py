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
import tempfile

from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pymc
import pytensor

from pytensor.configdefaults import config

from pymc_geodesic.kernel.graph_names import is_known

__all__ = ["traced"]

FOLDER, SUFFIX = "pymc_geodesic_traced", ".stablehlo"
N_CHECKSUM = hashlib.sha256().digest_size
# Each takes some hundred kilobytes. Those that have not been used for longest are removed.
MOST_FILES = 500
PACKAGES = ("jax", "jaxlib", "numpy", "pymc", "pytensor")
# Where sources are that may be edited: of PyMC, of PyTensor, and of this package.
SOURCES = (Path(pymc.__file__).parent, Path(pytensor.__file__).parent, Path(__file__).parents[2])
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


def traced(
    function: Callable[..., Any], arguments: Sequence[Any], *, name: str | None
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
    # JAX writes with flatbuffers, which comes with it only on request.
    if name is None or folder is None or _is_overridden() or find_spec("flatbuffers") is None:
        return jax.jit(function)
    shapes = [(x.shape, str(x.dtype)) for x in arguments]
    key = hashlib.sha256(repr((name, shapes, _circumstances())).encode()).hexdigest()
    path = folder / f"{key}{SUFFIX}"
    found = _read(path)
    if found is None:
        try:
            found = export.export(jax.jit(function))(*arguments)
        except (ValueError, NotImplementedError) as reason:
            # Some operations of JAX have no portable form.
            log.debug("Not kept on disk: %s", reason)
            return jax.jit(function)
        _write(path, found.serialize())
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

    flags = tuple((name, getattr(config, name)) for name in FLAGS if hasattr(config, name))
    # By attribute, which knows of settings for a part of a program. Those of caches do not matter.
    settings = sorted(
        (name, repr(getattr(jax.config, name, value)))
        for name, value in jax.config.values.items()
        if "cache" not in name
    )
    return _versions(), flags, settings, jax.default_backend()


@cache
def _versions() -> tuple[Any, ...]:
    """List versions and, since sources may have been edited, their times and sizes."""
    hashed = hashlib.sha256()
    for folder in SOURCES:
        for path in sorted(folder.rglob("*.py")):
            found = path.stat()
            hashed.update(f"{path} {found.st_mtime_ns} {found.st_size}\n".encode())
    return tuple((name, version(name)) for name in PACKAGES), hashed.hexdigest()


def _read(path: Path) -> Any | None:
    """Read a traced function, or return None."""
    from jax import export

    try:
        content = path.read_bytes()
        # The time of the last use, by which files are removed.
        os.utime(path)
    except OSError:
        return None
    # JAX does not check what it reads.
    checksum, content = content[:N_CHECKSUM], content[N_CHECKSUM:]
    if checksum != hashlib.sha256(content).digest():
        log.debug("%s is damaged.", path)
        return None
    return export.deserialize(bytearray(content))


def _write(path: Path, content: bytes) -> None:
    """Write a file at once, so that no other process reads half of it; a full disk is no error."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            written = Path(folder, path.name)
            written.write_bytes(hashlib.sha256(content).digest() + content)
            written.replace(path)
        files = sorted(path.parent.glob(f"*{SUFFIX}"), key=os.path.getmtime, reverse=True)
        for old in files[MOST_FILES:]:
            old.unlink(missing_ok=True)
    except OSError as reason:
        log.debug("%s cannot be written: %s", path, reason)

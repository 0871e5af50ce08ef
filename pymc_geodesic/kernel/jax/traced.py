#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Functions that JAX has traced, kept on disk for the next process.

PyTensor takes a second to rewrite the graph of a kernel, and JAX another half to trace it. JAX's
own cache saves neither: it is asked only afterwards. What is kept is the portable form that JAX
would compile, under a name that holds everything on which it depends.
"""

from __future__ import annotations

import logging

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pymc_geodesic.kernel.graph_names import is_known
from pymc_geodesic.kernel.jax.devices import default_device
from pymc_geodesic.kernel.kept_files import KeptFiles, flags_of_pytensor, key_of, versions

__all__ = ["traced"]

FOLDER, SUFFIX = "pymc_geodesic_traced", ".stablehlo"
# Each takes some hundred kilobytes.
MOST_FILES = 500
PACKAGES = ("jax", "jaxlib", "numpy", "pymc", "pytensor")

log = logging.getLogger(__name__)


def traced(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    *,
    name: str | None,
    options: Mapping[str, str] | None = None,
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
    options : mapping, optional
        How XLA compiles it.

    Returns
    -------
    callable
        A jitted function.
    """
    import jax

    from jax import export

    jit, folder = partial(jax.jit, compiler_options=options), _folder()
    if name is None or folder is None or _is_overridden():
        return jit(function)
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
            return jit(function)
        files.write(key, found.serialize())
    return jit(found.call)


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

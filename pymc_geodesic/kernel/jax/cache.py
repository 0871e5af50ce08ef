#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""JAX's compiled functions, kept on disk for the next process."""

from __future__ import annotations

from pathlib import Path

from pytensor.configdefaults import config

__all__ = ["keep_compiled"]

# By default JAX keeps what took at least a second; the several small kernels take less.
LEAST_SECONDS = 0.1


def keep_compiled() -> None:
    """Keep JAX's compiled functions on disk, next to PyTensor's cache.

    A folder that the user has chosen for JAX, or ``JAX_ENABLE_COMPILATION_CACHE=0``, is respected.
    """
    import jax

    if jax.config.jax_compilation_cache_dir is not None:
        return
    folder = Path(config.base_compiledir) / "pymc_geodesic_jax"
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", LEAST_SECONDS)

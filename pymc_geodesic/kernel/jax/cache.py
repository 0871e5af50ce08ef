#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What JAX compiles, kept on disk for the next process."""

from __future__ import annotations

from pathlib import Path

from pytensor.configdefaults import config

__all__ = ["keep_compiled"]

# JAX keeps by default what has taken a second; small kernels take less, and there are several.
LEAST_SECONDS = 0.1


def keep_compiled() -> None:
    """Let JAX keep what it compiles, next to what PyTensor keeps of Numba's functions.

    Whoever has chosen a folder for JAX, or ``JAX_ENABLE_COMPILATION_CACHE=0``, keeps that choice.
    """
    import jax

    if jax.config.jax_compilation_cache_dir is not None:
        return
    folder = Path(config.base_compiledir) / "pymc_geodesic_jax"
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", LEAST_SECONDS)

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The compiler XLA: its options for a processor, its files on disk, the memory it leaves."""

from __future__ import annotations

import ctypes
import gc
import logging
import math
import os
import sys

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from pytensor.configdefaults import config

from pymc_geodesic.kernel.jax.resident import default_device, on_processor

__all__ = ["compiler_options", "keep_compiled", "return_free_memory"]

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


def return_free_memory() -> None:
    """Give the system back what is free, for a large array to be allocated next.

    The C library of Linux keeps freed memory for small allocations, which a large array cannot use.
    After a compilation that is a hundred megabytes, and takes a fifth of a second to return.
    """
    gc.collect()
    if sys.platform == "linux" and hasattr(library := ctypes.CDLL(None), "malloc_trim"):
        library.malloc_trim(0)


# XLA leaves products of matrices to a library, and sums with what is around them. For the sums of a
# batch of some hundred rows the library takes three times as long as loops that XLA writes itself.
OPTIONS = {"xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_DOT"}
# For sums over more numbers, in single precision, it takes two thirds of the time of such loops.
MANY = 2**20


log = logging.getLogger(__name__)


def compiler_options(arguments: Sequence[Any]) -> dict[str, str]:
    """Return options of :func:`jax.jit` for a kernel of these arguments, not counting its data.

    None for large variables, for accelerators, for a version of XLA that does not know them, and
    where the user has chosen in ``XLA_FLAGS``.
    """
    is_large = any(math.prod(x.shape) >= MANY for x in arguments)
    is_elsewhere = default_device().platform != "cpu"
    return {} if is_large or is_elsewhere else _for_few_rows()


@cache
def _for_few_rows() -> dict[str, str]:
    """Return the options, if this version of XLA accepts them."""
    import jax

    is_chosen = any(name in os.environ.get("XLA_FLAGS", "") for name in OPTIONS)
    if is_chosen:
        return {}
    try:
        with on_processor():
            jax.jit(lambda x: x, compiler_options=OPTIONS).lower(np.float32(0)).compile()
    except jax.errors.JaxRuntimeError as reason:
        log.debug("XLA compiles with its own options: %s", reason)
        return {}
    return OPTIONS

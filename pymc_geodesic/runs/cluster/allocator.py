#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The memory allocator of a worker."""

from __future__ import annotations

import ctypes
import os

__all__ = ["keep_freed_memory"]

# What Dask sets for its workers, unless their owner has chosen something else.
DASK_TRIM_THRESHOLD = "65536"
# Names of the options in glibc's malloc.h.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
MEGABYTE = 2**20


def keep_freed_memory() -> bool:
    """Let a worker reuse the buffers of its last transition; return whether that was needed.

    Dask makes glibc give freed memory back to the system at once. XLA allocates buffers of some
    hundred kilobytes in every gradient, so that a worker would spend a sixth of its time on the
    pages of new ones. The limits here keep at most some 16 MB.
    """
    if os.environ.get("MALLOC_TRIM_THRESHOLD_") != DASK_TRIM_THRESHOLD:
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, TypeError, AttributeError):
        # Another C library, which does not read Dask's setting either.
        return False
    mallopt(M_MMAP_THRESHOLD, 4 * MEGABYTE)
    mallopt(M_TRIM_THRESHOLD, 16 * MEGABYTE)
    return True

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Arrays that JAX uses where they are."""

from __future__ import annotations

import math

import numpy as np

__all__ = ["aligned_empty"]

# JAX does not copy arrays whose address is a multiple of this number of bytes.
ALIGNMENT = 64


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return an array without values whose address JAX accepts; NumPy aligns to 16 bytes only."""
    n_bytes = math.prod(shape) * dtype.itemsize
    memory = np.empty(n_bytes + ALIGNMENT, dtype="uint8")
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + n_bytes].view(dtype).reshape(shape)

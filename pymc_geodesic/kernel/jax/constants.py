#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Constants of a graph as arrays of JAX."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["register_constants_with_jax"]


def register_constants_with_jax() -> None:
    """Register the conversion of constant arrays with PyTensor; JAX is imported on first use.

    PyTensor's own calls ``jnp.array``, which compiles a function for each new shape and dtype. It
    takes 30 ms each time, and is too fast for JAX to keep on disk.
    """
    from pytensor.link.jax.dispatch import jax_typify

    if jax_typify.registry[np.ndarray] is not _array_of:
        jax_typify.register(np.ndarray, _array_of)


def _array_of(data: np.ndarray, dtype: Any = None, **kwargs: Any) -> Any:
    import jax

    if data.ndim == 0:
        return data.item()
    return jax.device_put(data if dtype is None else data.astype(dtype))

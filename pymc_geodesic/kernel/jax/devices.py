#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Where JAX computes: on the processor, or on an accelerator.

A call of an accelerator takes as long as a hundred gradients of a small batch on the processor. So
what is decided step by step, as in a tuning phase, is computed on the processor, and many draws of
all chains, which are one call, on the accelerator.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

__all__ = ["default_device", "has_accelerator", "on_accelerator", "on_processor"]


def has_accelerator() -> bool:
    """Return whether JAX has another device than the processor, and would use it."""
    import jax

    return jax.default_backend() != "cpu"


def default_device() -> Any:
    """Return the device on which JAX computes now."""
    import jax

    chosen = jax.config.jax_default_device
    return jax.devices()[0] if chosen is None or isinstance(chosen, str) else chosen


def on_processor() -> AbstractContextManager[Any]:
    """Compute on the processor."""
    import jax

    return jax.default_device(jax.devices("cpu")[0]) if has_accelerator() else nullcontext()


def on_accelerator() -> AbstractContextManager[Any]:
    """Compute on the accelerator, if there is one."""
    import jax

    return jax.default_device(jax.devices()[0]) if has_accelerator() else nullcontext()

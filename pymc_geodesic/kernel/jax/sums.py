#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Sums in JAX that accumulate in the type that PyTensor says, and have the type of its output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytensor.graph.basic import Apply
from pytensor.tensor.math import Sum

__all__ = ["register_sums_with_jax"]


def register_sums_with_jax() -> None:
    """Register the conversion of sums with PyTensor; JAX is imported on first use.

    PyTensor's own accumulates in the type of the terms, and returns the type in which it should
    have accumulated: in double precision a model in single precision does not compile.
    """
    from pytensor.link.jax.dispatch import jax_funcify

    if jax_funcify.registry.get(Sum) is not _in_jax:
        jax_funcify.register(Sum)(_in_jax)


def _in_jax(op: Sum, node: Apply, **kwargs: Any) -> Callable[[Any], Any]:
    import jax.numpy as jnp

    dtype = node.outputs[0].type.dtype
    return lambda x: jnp.sum(x, axis=op.axis, dtype=op.acc_dtype or dtype).astype(dtype)

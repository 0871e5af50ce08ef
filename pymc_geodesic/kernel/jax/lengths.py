#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Lengths that are computed from lengths stay numbers while JAX traces a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytensor.graph.basic import Apply
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.type import discrete_dtypes

__all__ = ["register_lengths_with_jax"]


def register_lengths_with_jax() -> None:
    """Register the conversion of operations on single integers with PyTensor.

    JAX traces all operations in a function that it compiles, those of known lengths too, and then
    knows the shapes that they determine no more.
    """
    from pytensor.link.jax.dispatch import jax_funcify

    if jax_funcify.registry.get(Elemwise) is not _in_jax:
        jax_funcify.register(Elemwise)(_in_jax)


def _in_jax(op: Elemwise, node: Apply, **kwargs: Any) -> Callable[..., Any]:
    from pytensor.link.jax.dispatch.elemwise import jax_funcify_Elemwise

    function = jax_funcify_Elemwise(op, node=node, **kwargs)
    is_of_lengths = all(not x.type.ndim and x.dtype in discrete_dtypes for x in node.inputs)
    return _of_lengths(function) if is_of_lengths else function


def _of_lengths(function: Callable[..., Any]) -> Callable[..., Any]:
    import jax

    def of_lengths(*lengths: Any) -> Any:
        if any(isinstance(x, jax.core.Tracer) for x in lengths):
            return function(*lengths)
        with jax.ensure_compile_time_eval():
            return function(*lengths)

    return of_lengths

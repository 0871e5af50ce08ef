#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Loops over numbers in JAX: PyTensor's derivatives of incomplete gamma and beta functions.

They are in the log densities of truncated and censored distributions, hurdle models among them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytensor.scalar.loop import ScalarLoop

__all__ = ["register_loops_with_jax"]


def register_loops_with_jax() -> None:
    """Register the conversion of these loops with PyTensor, which has none for JAX."""
    from pytensor.link.jax.dispatch import jax_funcify

    if ScalarLoop not in jax_funcify.registry:
        jax_funcify.register(ScalarLoop)(_in_jax)


def _in_jax(op: ScalarLoop, **kwargs: Any) -> Callable[..., Any]:
    import jax
    import jax.numpy as jnp

    from pytensor.link.jax.dispatch import jax_funcify

    once = jax_funcify(op.fgraph.unfreeze())
    n_states = op.nout - op.is_while
    dtypes = [x.dtype for x in op.inputs_type]

    def looped(n_steps: Any, *inputs: Any) -> Any:
        n_steps, *arrays = jnp.broadcast_arrays(n_steps, *inputs)
        arrays = [x.astype(dtype) for x, dtype in zip(arrays, dtypes, strict=True)]
        first, constant = arrays[:n_states], arrays[n_states:]

        def is_left(carry: Any) -> Any:
            i, done, *_ = carry
            return jnp.any(~done & (i < n_steps))

        def step(carry: Any) -> Any:
            i, done, *states = carry
            left = ~done & (i < n_steps)
            found = once(*states, *constant)
            if op.is_while:
                *found, until = found
                done = done | (left & until)
            # An entry that is done stays as it is until all are.
            pairs = zip(found, states, strict=True)
            return i + 1, done, *(jnp.where(left, x, y).astype(y.dtype) for x, y in pairs)

        begin = (0, jnp.zeros(n_steps.shape, bool), *first)
        _, done, *states = jax.lax.while_loop(is_left, step, begin)
        found = (*states, done | (n_steps <= 0)) if op.is_while else tuple(states)
        return found if len(found) > 1 else found[0]

    return looped

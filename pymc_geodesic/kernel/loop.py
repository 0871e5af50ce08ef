#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The loop of the transitions of a call, which undoes those to states that are not finite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pymc_geodesic.kernel.interface import Inputs
from pymc_geodesic.kernel.trees import leaves_of, rebuilt
from pymc_geodesic.kernel.undo import undo_if_not_finite
from pymc_geodesic.manifolds import Product

__all__ = ["Totals", "loop"]

IN_BOUNDS = "promise_in_bounds"


class Totals(NamedTuple):
    """Sums over the transitions that were made.

    Attributes
    ----------
    kinetic, configurational : array
        Of the temperatures; of configurational ones over fresh transitions.
    n_fresh : array of int
        Number of these.
    finite : array of bool
        Whether all states were finite.
    """

    kinetic: Any
    configurational: Any
    n_fresh: Any
    finite: Any


def loop(
    manifold: Product, one_transition: Callable, state: Any, inputs: Inputs, *, shares_rows: bool
) -> tuple[Any, Any, Totals]:
    """Make the transitions; return the last state and memory, and totals."""
    import jax
    import jax.numpy as jnp

    begin = state, tuple(inputs.memory)

    def step(i, carried):
        old, memory = carried
        noise, rows = [_at(x, i) for x in inputs.noise], list(inputs.rows)
        step_size = _at(inputs.step_sizes, i) if inputs.step_sizes.ndim else inputs.step_sizes
        if not shares_rows:
            rows = [_at(x, i) for x in rows]
        new, new_memory, positional = one_transition(old, memory, tuple(noise), rows, step_size)
        (new, new_memory), temperatures, finite = undo_if_not_finite(
            manifold, (old, memory), (new, new_memory), tuple(noise), step_size
        )
        pairs = zip(leaves_of((new, new_memory)), leaves_of(carried), strict=True)
        kept = rebuilt(begin, [jnp.asarray(x, y.dtype) for x, y in pairs])
        is_fresh = _at(inputs.fresh, i) & finite
        positional = jnp.where(is_fresh, _joined(positional), 0)
        return kept, Totals(_joined(temperatures), positional, is_fresh.astype("int32"), finite)

    def iterate(i, carried):
        (state, before) = carried
        state, one = step(i, state)
        sums = [a + b for a, b in zip(before[:-1], one[:-1], strict=True)]
        return state, Totals._make([*sums, before.finite & one.finite])

    shapes = jax.eval_shape(lambda: step(0, begin)[1])
    zeros = [jnp.zeros(x.shape, x.dtype) for x in shapes[:-1]]
    n = len(inputs.fresh) if inputs.made is None else inputs.made.sum()
    begun = begin, Totals._make([*zeros, jnp.array(True)])
    (last, memory), totals = jax.lax.fori_loop(0, n, iterate, begun)
    return last, memory, totals._replace(kinetic=totals.kinetic / n)


def _joined(numbers: Sequence[Any]) -> Any:
    """Put numbers and vectors into one vector: each costs as much as a small operation."""
    import jax.numpy as jnp

    return jnp.concatenate([jnp.ravel(x) for x in numbers]) if numbers else jnp.zeros(0)


def _at(x: Any, i: Any) -> Any:
    # JAX would compile a test of the index, which is in bounds.
    return x.at[i].get(mode=IN_BOUNDS, wrap_negative_indices=False)

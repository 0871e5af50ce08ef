#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Many draws of many chains by one compiled call, whose random numbers are made where it runs.

A draw is a function of the key of its chain and of the number of its first transition, so that it
does not depend on the other chains, nor on how a run is divided into calls.
"""

from __future__ import annotations

import math

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from pymc_geodesic.kernel.jax.resident import Placement
from pymc_geodesic.kernel.row_weights import systematic

__all__ = ["DrawnRows", "Places", "ensemble_of", "one_call_of"]

SQRT_2 = math.sqrt(2.0)
# The error function is one or minus one at the ends.
LEAST = math.nextafter(-1.0, 0.0)


class Places(NamedTuple):
    """Where the arguments of a kernel and its results stand among its leaves.

    Attributes
    ----------
    carried : tuple of (int, int)
        Inputs that are an output of the call before, with the index of that output.
    of_chain : tuple of int
        Other inputs that each chain has for itself.
    noise : tuple of int
        Standard normals, with the transition as first axis.
    rows : tuple of int
        Rows of each source of batches, with the transition as first axis.
    counter : int or None
        Input that tells how many of the transitions are made, if a kernel has room for more.
    averaged, observed, last : tuple of int
        Outputs that are averaged over the calls of a draw, as far as they are numbers; that are
        true for a draw if they are for one of its calls; and of which the last call has the value.
    """

    carried: tuple[tuple[int, int], ...]
    of_chain: tuple[int, ...]
    noise: tuple[int, ...]
    rows: tuple[int, ...]
    counter: int | None
    averaged: tuple[int, ...]
    observed: tuple[int, ...]
    last: tuple[int, ...]


class DrawnRows(NamedTuple):
    """From which rows those of a batch are drawn.

    Attributes
    ----------
    n_rows : int
        Rows of the data.
    listed : ndarray of int or None
        The row at each place of the list of :class:`RowWeights`, where rows are drawn by it.
    """

    n_rows: int
    listed: Any = None

    def placed(self, where: Placement) -> DrawnRows:
        """Return the same, copied to the devices."""
        return self if self.listed is None else self._replace(listed=where.common(self.listed))


def one_call_of(
    function: Callable[..., Any],
    places: Places,
    *,
    n_steps: int,
    are_listed: Sequence[bool],
) -> Callable[..., Any]:
    """Return the function of one chain that draws random numbers and calls the kernel.

    Parameters
    ----------
    function : callable
        The kernel: a function of its leaves and its data, which JAX traces.
    places : Places
        Where its arguments and results stand.
    n_steps : int
        Transitions of a call; the kernel may have room for more.
    are_listed : sequence of bool
        Whether the rows of each source are drawn from such a list.

    Returns
    -------
    callable
        ``(key, transition, carried, of_chain, others) -> (carried, results)``, for the key of the
        chain and the number of the first transition.
    """
    import jax
    import jax.numpy as jnp

    def padded(drawn, like):
        """Fill up with the last: a kernel may have room for more transitions than are made."""
        empty = [(0, 0)] * (like.ndim - 1)
        return jnp.pad(drawn, [(0, like.shape[0] - n_steps), *empty], mode="edge")

    def normals(numbers, like):
        return padded(SQRT_2 * jax.lax.erf_inv(numbers).astype(like.dtype), like)

    def indices(numbers, like, n_rows, listed):
        shares = 0.5 * (numbers + 1)
        if listed is None:
            found = jnp.minimum((n_rows * shares).astype("int64"), n_rows - 1)
        else:
            found = listed[systematic(shares, like.shape[-1], listed.shape[0], jnp)]
        return padded(found.astype(like.dtype), like)

    def uniform(key, shapes):
        """Draw from (-1, 1): one array for all, which takes half of the time of one for each."""
        sizes = [math.prod(shape) for shape in shapes]
        numbers = jax.random.uniform(key, (sum(sizes),), "float64", minval=LEAST, maxval=1.0)
        return [x.reshape(shape) for x, shape in zip(_cut(numbers, sizes), shapes, strict=False)]

    def call(key, transition, carried, of_chain, others):
        common, sizes, lists, data = others
        now, remaining = list(common), iter(lists)
        for (i, _), x in zip(places.carried, carried, strict=True):
            now[i] = x
        for i, x in zip(places.of_chain, of_chain, strict=True):
            now[i] = x
        if places.counter is not None:
            # A number that is known when the loop is compiled: an accelerator need not ask for it.
            now[places.counter] = jnp.arange(common[places.counter].shape[0]) < n_steps
        drawn = zip(places.rows, are_listed, strict=True)
        shapes = [common[i].shape[1:] for i in places.noise]
        shapes += [(2,) if is_listed else common[i].shape[1:] for i, is_listed in drawn]
        shapes = [(n_steps, *shape) for shape in shapes]
        numbers = iter(uniform(jax.random.fold_in(key, transition), shapes))
        for i in places.noise:
            now[i] = normals(next(numbers), common[i])
        for i, n_rows, is_listed in zip(places.rows, sizes, are_listed, strict=True):
            listed = next(remaining) if is_listed else None
            now[i] = indices(next(numbers), common[i], n_rows, listed)
        found = function(*now, *data)
        results = places.averaged, places.observed, places.last
        kept = [[found[i] for i in some] for some in results]
        return [found[i] for _, i in places.carried], kept

    return call


def _cut(items: Any, sizes: Sequence[int]) -> list[Any]:
    """Divide a sequence or an array into parts of these sizes, and the rest."""
    ends = [*accumulate(sizes, initial=0), len(items)]
    return [items[a:b] for a, b in pairwise(ends)]


def ensemble_of(
    call: Callable[..., Any], parts: Sequence[int], *, n_steps: int, n_calls: int, most: int
) -> Callable[..., Any]:
    """Return the function of all chains and draws.

    Parameters
    ----------
    call : callable
        That of one chain, from :func:`one_call_of`.
    parts : sequence of int
        Numbers of its lists of rows, of carried inputs, of others of each chain, and of all inputs.
    n_steps, n_calls : int
        Transitions of a call, and calls of each draw.
    most : int
        Kept draws for which there is room.

    Returns
    -------
    callable
        ``((n_kept, thin), transition, keys, n_rows, *lists, *carried, *of_chain, *common, *data)
        -> (carried, results)``, with the axes ``(chain, kept draw, ...)``.
    """
    import jax
    import jax.numpy as jnp

    def run(numbers, first, keys, sizes, *rest):
        lists, begin, of_chain, common, data = map(list, _cut(rest, parts))
        keys = jax.random.wrap_key_data(keys, impl="threefry2x32")
        (n_kept, thin), others = numbers, (common, tuple(sizes), lists, data)

        def one_call(transition, carried):
            chain = lambda key, state, own: call(key, transition, state, own, others)  # noqa: E731
            return jax.vmap(chain)(keys, carried, of_chain)

        def one_draw(number, carried):
            """Make the calls of a draw, and average what is known of each."""
            start = first + number * (n_calls * n_steps)
            if n_calls == 1:
                return one_call(start, carried)

            def again(i, before):
                carried, counts, (sums, seen, _) = before
                carried, (means, now, last) = one_call(start + i * n_steps, carried)
                known = [jnp.isfinite(x) for x in means]
                sums = [s + jnp.where(k, x, 0) for s, k, x in zip(sums, known, means, strict=True)]
                counts = [n + k for n, k in zip(counts, known, strict=True)]
                return carried, counts, [sums, _either(seen, now), last]

            empty = _zeros(jax.eval_shape(one_call, start, carried)[1])
            before = carried, _zeros(empty[0]), empty
            carried, counts, (sums, seen, last) = jax.lax.fori_loop(0, n_calls, again, before)
            return carried, [[s / n for s, n in zip(sums, counts, strict=True)], seen, last]

        def kept_draw(i, before):
            def again(j, before):
                carried, (_, seen, _) = before
                carried, (means, now, last) = one_draw(i * thin + j, carried)
                return carried, [means, _either(seen, now), last]

            carried, kept = before
            empty = _zeros(jax.eval_shape(one_draw, first, carried)[1])
            carried, found = jax.lax.fori_loop(0, thin, again, (carried, empty))
            flat = [x for part in found for x in part]
            put = partial(jax.lax.dynamic_update_index_in_dim, index=i, axis=1)
            return carried, [put(x, y) for x, y in zip(kept, flat, strict=True)]

        shapes = jax.eval_shape(one_draw, first, begin)[1]
        kept = [
            jnp.zeros((x.shape[0], most, *x.shape[1:]), x.dtype) for part in shapes for x in part
        ]
        return jax.lax.fori_loop(0, n_kept, kept_draw, (begin, kept))

    return run


def _zeros(shapes: Any) -> Any:
    import jax
    import jax.numpy as jnp

    return jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)


def _either(some: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    return [a | b for a, b in zip(some, others, strict=True)]

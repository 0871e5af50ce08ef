#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Many draws of many chains by one compiled call, whose random numbers are made where it runs.

A draw is a function of the key of its chain and of the number of its first transition, so that it
does not depend on the other chains, nor on how a run is divided into calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pymc_geodesic.kernel.jax.function import JAXFunction
from pymc_geodesic.kernel.jax.random_inputs import DrawnRows, Places, cut, one_call_of
from pymc_geodesic.kernel.jax.resident import in_double_precision

__all__ = ["Drawn", "DrawnRows", "EnsembleCalls", "Places"]


class Drawn(NamedTuple):
    """Results of a call.

    Attributes
    ----------
    carried : list of jax.Array, shape (chain, ...)
        The inputs with which the next call begins.
    outputs : dict of int to ndarray, shape (draw, chain, ...)
        The kernel's outputs for each kept draw, by their index.
    """

    carried: list[Any]
    outputs: dict[int, np.ndarray]


class EnsembleCalls:
    """Call a kernel for many draws of many chains.

    Parameters
    ----------
    function : JAXFunction
        The kernel of one chain.
    places : Places
        Where its arguments and results stand.
    n_steps : int
        Transitions of one call of the kernel; it may have room for more.
    n_calls : int
        Calls of the kernel for each draw.
    most : int
        Kept draws for which a call has room.

    Attributes
    ----------
    n_transitions : int
        Transitions of a draw.
    """

    def __init__(
        self,
        function: JAXFunction,
        places: Places,
        *,
        n_steps: int,
        n_calls: int,
        most: int,
    ) -> None:
        self._function, self._places, self.most = function, places, most
        self._n_steps, self._n_calls = n_steps, n_calls
        self.n_transitions = n_steps * n_calls
        self._run: Callable[..., Any] | None = None

    def __call__(
        self,
        keys: Any,
        carried: Sequence[Any],
        of_chain: Sequence[Any],
        common: Sequence[Any],
        rows: Sequence[DrawnRows],
        *,
        first: int,
        n_kept: int,
        thin: int,
    ) -> Drawn:
        """Make draws.

        Parameters
        ----------
        keys : array of uint32, shape (chain, 2)
            Key of each chain.
        carried, of_chain : sequence of array, shape (chain, ...)
            The inputs of these places.
        common : sequence of array
            All inputs of the kernel, of which the other places are used.
        rows : sequence of DrawnRows
            One for each source of batches.
        first : int
            Number of the first transition.
        n_kept, thin : int
            Draws to keep, and the interval between them.
        """
        numbers = [np.array([n_kept, thin], "int32"), np.array(first, "int64")]
        sizes = np.array([source.n_rows for source in rows], "int64")
        lists = [source.listed for source in rows if source.listed is not None]
        arguments = [*numbers, keys, sizes, *lists, *carried, *of_chain, *common]
        with in_double_precision():
            if self._run is None:
                are_listed = tuple(source.listed is not None for source in rows)
                self._run = self._made(arguments, are_listed, n_common=len(common))
            run = self._run
            last, kept = run(*arguments, *self._function.data(run, arguments))
            kept = [np.asarray(x)[:n_kept] for x in kept]
        places = self._places
        order = [*places.averaged, *places.observed, *places.last]
        return Drawn(list(last), dict(zip(order, kept, strict=True)))

    def _made(
        self, arguments: Sequence[Any], are_listed: tuple[bool, ...], *, n_common: int
    ) -> Callable[..., Any]:
        form = self._n_steps, self._n_calls, self.most
        how = "ensemble", self._places, form, are_listed, n_common

        def change(function: Callable[..., Any]) -> Callable[..., Any]:
            places = self._places
            call = one_call_of(function, places, n_steps=self._n_steps, are_listed=are_listed)
            sizes = sum(are_listed), len(places.carried), len(places.of_chain), n_common
            return _ensemble(call, sizes, *form)

        return self._function.changed(change, arguments, how=how)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is compiled: another process compiles its own."""
        return self.__dict__ | {"_run": None}


def _ensemble(
    call: Callable[..., Any], parts: Sequence[int], n_steps: int, n_calls: int, most: int
) -> Callable[..., Any]:
    """Return the function of all chains and draws, whose arguments are parts of these lengths."""
    import jax
    import jax.numpy as jnp

    def run(numbers, first, keys, sizes, *rest):
        lists, begin, of_chain, common, data = map(list, cut(rest, parts))
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
            return carried, [x.at[i].set(y) for x, y in zip(kept, flat, strict=True)]

        shapes = jax.eval_shape(one_draw, first, begin)[1]
        kept = [jnp.zeros((most, *x.shape), x.dtype) for part in shapes for x in part]
        return jax.lax.fori_loop(0, n_kept, kept_draw, (begin, kept))

    return run


def _zeros(shapes: Any) -> Any:
    import jax
    import jax.numpy as jnp

    return jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)


def _either(some: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    return [a | b for a, b in zip(some, others, strict=True)]

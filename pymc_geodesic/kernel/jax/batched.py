#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A compiled function of JAX that is called for some chains at once, and some times in turn.

A call for 16 chains of a small model takes four times as long as a call for one chain. What
happens on the host between two calls takes as long as the call.
"""

from __future__ import annotations

import math

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pymc_geodesic.kernel.jax.function import JAXFunction
from pymc_geodesic.kernel.jax.resident import aligned_empty

__all__ = ["BatchedCalls", "Chunk"]

# Bytes of inputs of one call. Chains with more inputs are moved in blocks; in a block of this size
# the cost of a call is negligible.
MOST_BYTES = 2**28
IN_BOUNDS = "promise_in_bounds"

Arguments = Sequence[Any]
"""The arguments of one call of the function."""


@dataclass(frozen=True)
class Chunk:
    """How several calls of a chain follow one another.

    Attributes
    ----------
    most : int
        The largest number of calls. Any smaller number uses the same compiled function.
    varying : tuple of int
        Inputs that each call has for itself; the others are those of the first call.
    carried : tuple of (int, int)
        Inputs that are an output of the call before, with the index of that output.
    """

    most: int
    varying: tuple[int, ...]
    carried: tuple[tuple[int, int], ...]


class BatchedCalls:
    """Call a function for several lists of arguments at once.

    Parameters
    ----------
    function : JAXFunction
        The function. Its data are the same for all calls.
    chunk : Chunk
        How the calls of a chain follow one another.
    """

    def __init__(self, function: JAXFunction, chunk: Chunk) -> None:
        self._function, self._chunk = function, chunk
        self._sizes: dict[int, int] = {}
        # By which arguments are common, and the size of a block.
        self._runs: dict[tuple[tuple[bool, ...], int], Callable[..., Any]] = {}

    def __call__(
        self, chains: Sequence[Sequence[Arguments]], *, is_common: Sequence[bool]
    ) -> list[list[list[np.ndarray]]]:
        """Return the outputs of each call of each chain.

        Parameters
        ----------
        chains : sequence of sequence of sequence of array
            Arguments of the calls of each chain, of which all have equally many.
        is_common : sequence of bool
            Whether each argument is the same for all calls; then that of the first call is used.
        """
        outputs: list[list[list[np.ndarray]]] = []
        # The shapes are always the same, and JAX takes long to tell the size of an array.
        if (size := self._sizes.get(len(chains))) is None:
            first = [calls[0] for calls in chains]
            size = self._sizes[len(chains)] = _block_size(first, self._chunk)
        for start in range(0, len(chains), size):
            block = list(chains[start : start + size])
            # All blocks have one size, because JAX compiles anew for another.
            filled = block + [block[-1]] * (size - len(block))
            columns = zip(*(calls[0] for calls in filled), strict=True)
            pairs = zip(columns, is_common, strict=True)
            arguments = [column[0] if same else _side_by_side(column) for column, same in pairs]
            for i in self._chunk.varying:
                arguments[i] = _stacked([[x[i] for x in calls] for calls in filled], self._chunk)
            arguments.insert(0, np.int32(len(block[0])))
            run = self._of(tuple(is_common), size, arguments)
            # JAX returns before it has finished.
            found = run(*arguments, *self._function.data(run, arguments))
            results = [np.asarray(x) for x in found]
            # With an ellipsis an entry is an array without axes, and not a number.
            outputs += [
                [[x[turn, i, ...] for x in results] for turn in range(len(calls))]
                for i, calls in enumerate(block)
            ]
        return outputs

    def _of(
        self, is_common: tuple[bool, ...], size: int, arguments: Sequence[Any]
    ) -> Callable[..., Any]:
        """Return the function of a block of chains."""
        if (is_common, size) not in self._runs:
            change = partial(_vectorized, is_common=is_common, chunk=self._chunk)
            self._runs[is_common, size] = self._function.changed(
                change, arguments, how=(is_common, self._chunk)
            )
        return self._runs[is_common, size]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is compiled: another process compiles its own."""
        return self.__dict__ | {"_runs": {}}


def _side_by_side(arrays: Sequence[Any]) -> np.ndarray:
    """Stack arrays; a large one, which is alone in its block, is not copied."""
    return np.stack(arrays) if len(arrays) > 1 else np.asarray(arrays[0])[None]


def _stacked(arrays: Sequence[Sequence[np.ndarray]], chunk: Chunk) -> np.ndarray:
    """Put arrays of ``(chain, call)`` side by side, with room for the largest number of calls."""
    first = arrays[0][0]
    if chunk.most == len(arrays) == 1:
        # It may be large, and need not be copied.
        return first[None, None]
    # JAX uses this memory as it is, so that the empty room costs nothing.
    stacked = aligned_empty((chunk.most, len(arrays), *np.shape(first)), first.dtype)
    for chain, calls in enumerate(arrays):
        for turn, array in enumerate(calls):
            stacked[turn, chain] = array
    return stacked


def _vectorized(
    function: Callable[..., Any], *, is_common: tuple[bool, ...], chunk: Chunk
) -> Callable[..., Any]:
    """Return the function of a number of calls, and of the inputs of all of them for all chains."""
    import jax
    import jax.numpy as jnp

    def many(*arguments):
        # Data are common to all.
        n_data = len(arguments) - len(is_common)
        axes = [None if same else 0 for same in is_common] + [None] * n_data
        return jax.vmap(function, in_axes=axes)(*arguments)

    def at(turn, carried, arguments):
        now = list(arguments)
        for i in chunk.varying:
            now[i] = now[i].at[turn].get(mode=IN_BOUNDS, wrap_negative_indices=False)
        for (i, _), x in zip(chunk.carried, carried, strict=True):
            now[i] = x
        return now

    def run(n_calls, *arguments):
        def one(turn, before):
            carried, kept = before
            found = many(*at(turn, carried, arguments))
            pairs = zip(kept, found, strict=True)
            kept = [
                x.at[turn].set(y, mode=IN_BOUNDS, wrap_negative_indices=False) for x, y in pairs
            ]
            return [found[i] for _, i in chunk.carried], kept

        begin = [arguments[i] for i, _ in chunk.carried]
        if chunk.most == 1:
            return [x[None] for x in many(*at(0, begin, arguments))]
        shapes = jax.eval_shape(lambda: many(*at(0, begin, arguments)))
        kept = [jnp.zeros((chunk.most, *x.shape), x.dtype) for x in shapes]
        return jax.lax.fori_loop(0, n_calls, one, (begin, kept))[1]

    return run


def _block_size(calls: Sequence[Arguments], chunk: Chunk) -> int:
    """Size of the blocks, for the smallest number of equal blocks that are small enough."""
    n_bytes = sum(x.nbytes for x in calls[0])
    n_bytes += (chunk.most - 1) * sum(calls[0][i].nbytes for i in chunk.varying)
    n_blocks = max(1, math.ceil(n_bytes * len(calls) / MOST_BYTES))
    return max(1, math.ceil(len(calls) / n_blocks))

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Compiled functions of trees of arrays, called for some chains at once, and some times in turn.

Kernels are written as maps of named trees. Only this module knows in which order a function takes
its arrays, and which of them it may keep. A call for 16 chains of a small model takes four times as
long as a call for one chain. What happens on the host between two calls takes as long as the call.
"""

from __future__ import annotations

import math

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pymc_geodesic.kernel.interface import leaves_of, rebuilt
from pymc_geodesic.kernel.jax.function import JAXFunction
from pymc_geodesic.kernel.jax.resident import (
    aligned_empty,
    copied_to_device,
    in_double_precision,
)

__all__ = ["Chunk", "CompiledMap"]

# Bytes of inputs of one call. Chains with more inputs are moved in blocks; in a block of this size
# the cost of a call is negligible.
MOST_BYTES = 2**28
IN_BOUNDS = "promise_in_bounds"

type Arguments = Sequence[Any]
"""The arguments of one call of the function."""


class Chunk(NamedTuple):
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


class CompiledMap:
    """A compiled map from one named tuple of trees of arrays to another, for chains of calls.

    Parameters
    ----------
    inputs, outputs : NamedTuple
        Trees of anything. A call continues with those fields of its inputs that the outputs of the
        call before have, too.
    function : JAXFunction
        The function of the leaves of the inputs whose results are the leaves of the outputs.
    shareable : collection of str
        Fields whose arrays several chains may share, and which are never written to. If they are
        identical objects, a call for all chains receives only one, and JAX one copy as long as it
        stays the same: a copy takes ten microseconds, as long as several small transitions.
    varying : collection of str
        Fields that consecutive calls of a chain have each for itself; others are those of the
        first call.
    most : int, default 1
        The largest number of consecutive calls of a chain that are made at once.
    """

    def __init__(
        self,
        inputs: Any,
        outputs: Any,
        *,
        function: JAXFunction,
        shareable: Collection[str] = (),
        varying: Collection[str] = (),
        most: int = 1,
    ) -> None:
        self.function = function
        ins, outs = self.places = _numbered(inputs), _numbered(outputs)
        common = [name for name in outs._fields if name in ins._fields]
        ends = [leaves_of([getattr(tree, name) for name in common]) for tree in (ins, outs)]
        carried = tuple(zip(*ends, strict=True))
        self.chunk = Chunk(most, tuple(leaves_of([getattr(ins, x) for x in varying])), carried)
        self._shareable = [leaves_of(getattr(ins, name)) for name in shareable]
        self._copies: dict[int, tuple[np.ndarray, Any]] = {}
        self._sizes: dict[int, int] = {}
        # By which arguments are common, and the size of a block.
        self._runs: dict[tuple[tuple[bool, ...], int], Callable[..., Any]] = {}

    def __call__(self, inputs: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """Call the function for some chains, some times in turn for each.

        A call continues where the one before has ended.

        Parameters
        ----------
        inputs : sequence of sequence of NamedTuple
            Trees of NumPy arrays, for each chain those of each call. All have equally many.

        Returns
        -------
        list of list of NamedTuple
            Trees of NumPy arrays, in the same order.
        """
        chains = [[leaves_of(tree) for tree in trees] for trees in inputs]
        # The shapes are always the same, and JAX takes long to tell the size of an array.
        if (size := self._sizes.get(len(chains))) is None:
            size = self._sizes[len(chains)] = _block_size([x[0] for x in chains], self.chunk)
        is_common = self._find_common([calls[0] for calls in chains])
        found = []
        with in_double_precision():
            for start in range(0, len(chains), size):
                found += self._of_block(chains[start : start + size], size, is_common)
        return [[rebuilt(self.places[1], results) for results in calls] for calls in found]

    def _find_common(self, calls: Sequence[list[Any]]) -> tuple[bool, ...]:
        """Return which arguments are the same for all chains, and replace the first by copies."""
        first, *others = calls
        common = [
            i
            for places in self._shareable
            if all(other[i] is first[i] for other in others for i in places)
            for i in places
        ]
        self._copy(first, common)
        if others:
            return tuple(i in common for i in range(len(first)))
        apart = {*self.chunk.varying, *(i for i, _ in self.chunk.carried)}
        return tuple(i not in apart for i in range(len(first)))

    def _of_block(
        self, block: Sequence[Sequence[Arguments]], size: int, is_common: tuple[bool, ...]
    ) -> list[list[list[np.ndarray]]]:
        """Return the outputs of each call of each of at most so many chains."""
        # All blocks have one size, because JAX compiles anew for another.
        filled = [*block, *[block[-1]] * (size - len(block))]
        columns = zip(*(calls[0] for calls in filled), strict=True)
        pairs = zip(columns, is_common, strict=True)
        arguments = [column[0] if same else _side_by_side(column) for column, same in pairs]
        for i in self.chunk.varying:
            arguments[i] = _stacked([[x[i] for x in calls] for calls in filled], self.chunk.most)
        arguments.insert(0, np.int32(len(block[0])))
        if (run := self._runs.get((is_common, size))) is None:
            how = is_common, self.chunk
            change = partial(_repeated, is_common=is_common, chunk=self.chunk)
            run = self._runs[is_common, size] = self.function.changed(change, arguments, how=how)
        # JAX returns before it has finished.
        results = [np.asarray(x) for x in run(*arguments, *self.function.data(run, arguments))]
        # With an ellipsis an entry is an array without axes, and not a number.
        return [
            [[x[turn, i, ...] for x in results] for turn in range(len(calls))]
            for i, calls in enumerate(block)
        ]

    def _copy(self, arguments: list[Any], places: Sequence[int]) -> None:
        """Replace some arrays by JAX's copies of them."""
        copies: dict[int, tuple[np.ndarray, Any]] = {}
        for i in places:
            array = arguments[i]
            held = self._copies.get(id(array))
            if held is None or held[0] is not array:
                with in_double_precision():
                    held = array, copied_to_device(array)
            copies[id(array)] = held
            arguments[i] = held[1]
        # Only the copies of the last call, so that the changing mass does not fill the memory.
        self._copies = copies

    def __getstate__(self) -> dict[str, Any]:
        """Leave out copies and what is compiled: another process creates its own."""
        return self.__dict__ | {"_copies": {}, "_runs": {}}


def _numbered(tree: Any) -> Any:
    """Return a tree with the index of each leaf in its place."""
    return rebuilt(tree, range(len(leaves_of(tree))))


def _side_by_side(arrays: Sequence[Any]) -> np.ndarray:
    """Stack arrays; a large one, which is alone in its block, is not copied."""
    return np.stack(arrays) if len(arrays) > 1 else np.asarray(arrays[0])[None]


def _stacked(arrays: Sequence[Sequence[np.ndarray]], most: int) -> np.ndarray:
    """Put arrays of ``(chain, call)`` side by side, with room for the largest number of calls."""
    first = arrays[0][0]
    if most == len(arrays) == 1:
        # It may be large, and need not be copied.
        return first[None, None]
    # JAX uses this memory as it is, so that the empty room costs nothing.
    stacked = aligned_empty((most, len(arrays), *np.shape(first)), first.dtype)
    for chain, calls in enumerate(arrays):
        for turn, array in enumerate(calls):
            stacked[turn, chain] = array
    return stacked


def _repeated(
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

    # Traced once, for the shapes of results and for the loop.
    many = jax.jit(many)

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

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Compiled functions of trees of tensors.

Kernels are written as maps of named trees. Only this module knows in which order a function takes
its arrays, and which of them it may keep.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from pymc_geodesic.graph_inputs import graph_input
from pymc_geodesic.kernel.jax.batched import BatchedCalls, Chunk
from pymc_geodesic.kernel.jax.function import JAXFunction
from pymc_geodesic.kernel.jax.resident import copied_to_device, in_double_precision
from pymc_geodesic.kernel.trees import Tree, flattener, leaves_of, map_leaves, rebuilder, rebuilt

__all__ = ["CompiledMap", "inputs_like"]


def inputs_like(name: str, arrays: Tree) -> Tree:
    """Make inputs with the dtypes and static shapes of a tree of arrays."""
    return map_leaves(lambda x: graph_input(name, dtype=x.dtype, shape=np.shape(x)), arrays)


class CompiledMap:
    """A compiled map from one named tuple of trees of arrays to another, for chains of calls.

    Parameters
    ----------
    inputs : NamedTuple
        Trees of tensors; of anything if a function is given.
    outputs : NamedTuple
        Trees of tensors that depend on the inputs.
    function : JAXFunction, optional
        The function of the leaves of the inputs whose results are the leaves of the outputs; by
        default that of the graph.
    shareable : collection of str
        Fields whose arrays several chains may share, and which are never written to. If they are
        identical objects, a call for all chains receives only one, and JAX one copy as long as it
        stays the same: a copy takes ten microseconds, as long as several small transitions.
    varying : collection of str
        Fields that consecutive calls of a chain have each for itself; the others are those of the
        first call, except for fields of the outputs of the same name.
    chunk_length : int, default 1
        The largest number of consecutive calls of a chain that are made at once.
    """

    def __init__(
        self,
        inputs: Any,
        outputs: Any,
        *,
        function: JAXFunction | None = None,
        shareable: Collection[str] = (),
        varying: Collection[str] = (),
        chunk_length: int = 1,
    ) -> None:
        # PyMC's value of a flat variable is its position: it is one array, computed once.
        found = leaves_of(outputs)
        different = list(dict.fromkeys(found)) if function is None else found
        self._output_places = [*range(len(found))]
        if function is None:
            self._output_places = [different.index(x) for x in found]
            function = JAXFunction(leaves_of(inputs), different)
        self.function = function
        self._forms = map_leaves(lambda _: 0, inputs), map_leaves(lambda _: 0, outputs)
        self._flatten, self._rebuild = flattener(self._forms[0]), rebuilder(self._forms[1])
        places = _places_of_fields(inputs)
        # By leaf and by field, because they are read once per call.
        self._shareable = [places[name] for name in shareable]
        self._copies: dict[int, tuple[np.ndarray, Any]] = {}
        self.chunk_length = chunk_length
        ends = _places_of_fields(outputs)
        fields = [zip(places[name], ends[name], strict=True) for name in ends if name in places]
        carried = tuple((i, self._output_places[end]) for field in fields for i, end in field)
        chunk = Chunk(chunk_length, tuple(i for name in varying for i in places[name]), carried)
        # Of a single chain all but these.
        apart = {*chunk.varying, *(i for i, _ in carried)}
        self._others = [i for i in range(len(leaves_of(inputs))) if i not in apart]
        self._many = BatchedCalls(self.function, chunk)

    def __call__(self, inputs: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """Call the function for some chains at once, some times in turn for each.

        At most :attr:`chunk_length` times. A call continues where the one before has ended.

        Parameters
        ----------
        inputs : sequence of sequence of NamedTuple
            Trees of NumPy arrays, for each chain those of each call.

        Returns
        -------
        list of list of NamedTuple
            Trees of NumPy arrays, in the same order.
        """
        calls = [[self._arguments(tree) for tree in trees] for trees in inputs]
        first, *others = [arguments[0] for arguments in calls]
        common = [
            i
            for places in self._shareable
            if all(other[i] is first[i] for other in others for i in places)
            for i in places
        ]
        is_common = [False] * len(first)
        for i in common if others else self._others:
            is_common[i] = True
        with in_double_precision():
            self._copy(first, common)
            found = self._many(calls, is_common=is_common)
        return [[self._outputs(x) for x in results] for results in found]

    @property
    def places(self) -> tuple[Any, Any]:
        """Trees of inputs and outputs, with the index of each leaf among those of the function."""
        n_inputs = len(leaves_of(self._forms[0]))
        return rebuilt(self._forms[0], range(n_inputs)), self._rebuild(self._output_places)

    def leaves(self, inputs: Any) -> list[Any]:
        """Return the arguments of the function."""
        return self._arguments(inputs)

    def _outputs(self, different: Sequence[np.ndarray]) -> Any:
        return self._rebuild([different[i] for i in self._output_places])

    def _arguments(self, inputs: Any) -> list[Any]:
        arguments: list[Any] = []
        self._flatten(inputs, arguments)
        return arguments

    def _copy(self, arguments: list[Any], places: Sequence[int]) -> None:
        """Replace some arrays by JAX's copies of them."""
        copies: dict[int, tuple[np.ndarray, Any]] = {}
        for i in places:
            array = arguments[i]
            held = self._copies.get(id(array))
            if held is None or held[0] is not array:
                held = array, copied_to_device(array)
            copies[id(array)] = held
            arguments[i] = held[1]
        # Only the copies of the last call, so that the changing mass does not fill the memory.
        self._copies = copies

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the copies and what cannot be pickled: another process creates its own."""
        return self.__dict__ | {"_copies": {}, "_flatten": None, "_rebuild": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Recreate the functions for trees of this structure."""
        self.__dict__.update(state)
        self._flatten, self._rebuild = flattener(self._forms[0]), rebuilder(self._forms[1])


def _places_of_fields(inputs: Any) -> dict[str, range]:
    """Return the indices of the leaves of each field."""
    counts = [len(leaves_of(getattr(inputs, name))) for name in inputs._fields]
    starts = accumulate(counts, initial=0)
    return {
        name: range(start, start + n)
        for name, start, n in zip(inputs._fields, starts, counts, strict=False)
    }

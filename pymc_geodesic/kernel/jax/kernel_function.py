#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A function of arrays and of the graphs of a model, compiled once for all data of one form."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any
from weakref import ref

from pytensor.compile.sharedvalue import SharedVariable

from pymc_geodesic.kernel.graph_names import name_of_value
from pymc_geodesic.kernel.jax.function import MEMO, Change, Compiled, JAXFunction
from pymc_geodesic.kernel.jax.graphs import Graphs
from pymc_geodesic.kernel.jax.resident import load_jax
from pymc_geodesic.kernel.jax.traced import key_of
from pymc_geodesic.kernel.trees import Tree, leaves_of, map_leaves, rebuilt

__all__ = ["KernelFunction"]


class _Latest:
    """Calls the function of its kind that was asked for last, without keeping its data alive."""

    function: Callable[[], Any]

    def __call__(self, *values: Any) -> list[Any]:
        return self.function().of_leaves(*values)


class KernelFunction(JAXFunction):
    """A function that its first call compiles, of the leaves of a tree.

    Parameters
    ----------
    run : callable
        ``(inputs, data) -> outputs``, which JAX traces: trees of arrays, and a list of arrays.
    example : tree of array
        Inputs of the structure with which it is called.
    graphs : Graphs
        Has the data, and names what the function takes from the model.
    settings : object
        All that determines what it does, apart from the graphs and the shapes of arguments.
    """

    def __init__(
        self,
        run: Callable[[Tree, Sequence[Any]], Tree],
        *,
        example: Tree,
        graphs: Graphs,
        settings: Any,
    ) -> None:
        load_jax()
        self._run, self._graphs, self._settings = run, graphs, settings
        self._form = map_leaves(lambda _: 0, example)
        self._ready: tuple[Compiled, list[SharedVariable]] | None = None
        self._on_device: dict[Any, list[Any]] = {}
        self._by_shapes: dict[tuple[tuple[int, ...], ...], Callable[..., Any]] = {}

    def _found(self) -> tuple[Compiled, list[SharedVariable]]:
        settings = name_of_value((self._settings, self._form))
        # A function that has no name equals no other. The memo must not keep its data alive.
        key = self._graphs.key, object() if settings is None else settings
        if (compiled := MEMO.get(key)) is None:
            graph = self._graphs.name
            name = None if graph is None or settings is None else key_of(graph, settings)
            compiled = Compiled(_Latest, name=name)
            MEMO.put(key, compiled)
        return compiled, self._graphs.data

    def changed(
        self, change: Change, arguments: Sequence[Any], *, how: Hashable
    ) -> Callable[..., Any]:
        """Return a function made of this one; see :class:`JAXFunction`."""
        self._be_latest()
        return super().changed(change, arguments, how=how)

    def data(self, run: Any, arguments: Sequence[Any]) -> list[Any]:
        """Return the data on the device; see :class:`JAXFunction`."""
        # JAX may trace again what another of the same kind, which is gone, was traced for.
        self._be_latest()
        return super().data(run, arguments)

    def _be_latest(self) -> None:
        latest = self.ready()[0].run
        assert isinstance(latest, _Latest), "graphs of kernels have keys of their own"
        latest.function = ref(self)

    def of_leaves(self, *values: Any) -> list[Any]:
        """Call it with the leaves of its inputs, then its data; JAX traces it."""
        n = len(values) - len(self._graphs.data)
        return leaves_of(self._run(rebuilt(self._form, values[:n]), values[n:]))

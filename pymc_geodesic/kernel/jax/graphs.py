#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Graphs of PyTensor as functions of JAX, by the structure that graphs of other data share."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import io_toposort
from pytensor.tensor import TensorVariable

from pymc_geodesic.graph_inputs import graph_input
from pymc_geodesic.kernel.graph_names import name_of_graph
from pymc_geodesic.kernel.interface import Tree, leaves_of, map_leaves
from pymc_geodesic.kernel.jax.written import lacking, rewritten, unknown_to_jax, written

__all__ = ["WRITTEN", "Graphs", "Memo", "Structure", "structure_of"]


@dataclass(frozen=True)
class Structure:
    """A graph without the values of its data.

    Attributes
    ----------
    key : hashable
        The same for graphs that differ only in data.
    data : list of SharedVariable
        The data, in an order that is the same for such graphs.
    """

    key: Hashable
    data: list[SharedVariable]

    def with_data_as_inputs(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable]
    ) -> tuple[list[Variable], list[Variable]]:
        """Write the graph with the data as its last inputs, so that it does not keep them."""
        places = [x.type() for x in self.data]
        replacements = dict(zip(self.data, places, strict=True))
        written = clone_replace(list(outputs), replace=replacements, rebuild_strict=False)
        return [*inputs, *places], written


def structure_of(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> Structure:
    """Describe a graph; two with the same key compute the same from inputs and data."""
    names: dict[Variable, Hashable] = {x: ("input", i) for i, x in enumerate(inputs)}
    data: list[SharedVariable] = []

    def name(x: Variable) -> Hashable:
        if x in names:
            return names[x]
        if isinstance(x, Constant):
            return ("constant", x.type, x.signature())
        if not isinstance(x, SharedVariable):
            # A variable that is not an input equals no other.
            return ("free", id(x))
        names[x] = ("data", len(data), x.type)
        data.append(x)
        return names[x]

    nodes = []
    for number, node in enumerate(io_toposort(list(inputs), list(outputs))):
        nodes.append((node.op, tuple(name(x) for x in node.inputs)))
        names |= {x: ("node", number, i) for i, x in enumerate(node.outputs)}
    # A function checks also the inputs that its outputs do not depend on.
    types = tuple(x.type for x in inputs)
    return Structure((types, tuple(nodes), tuple(name(x) for x in outputs)), data)


class Memo[Function]:
    """The most recently used functions.

    Parameters
    ----------
    most : int
        How many are kept.
    """

    def __init__(self, most: int) -> None:
        self._most, self._kept = most, OrderedDict[Hashable, Function]()

    def get(self, key: Hashable) -> Function | None:
        """Return a function, or None."""
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def put(self, key: Hashable, function: Function) -> None:
        """Keep a function."""
        self._kept[key] = function
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)


# Of the same graphs with other data, such as those of the next fold of a cross-validation.
WRITTEN = Memo[dict[Hashable, Callable[..., Any]]](32)


class Graphs:
    """Functions that PyTensor writes when something that calls them is traced.

    Parameters
    ----------
    inputs, outputs : sequence of Variable
        A graph from which all functions follow. Graphs with the same name or structure mean that
        all functions are the same.
    conditioned : sequence of TensorVariable
        Inputs on which functions depend, beside their arguments.

    Attributes
    ----------
    data : list of SharedVariable
        Shared variables on which they depend.

    Raises
    ------
    NotImplementedError
        If PyTensor cannot write an operation for JAX.
    """

    def __init__(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        *,
        conditioned: Sequence[TensorVariable],
    ) -> None:
        self._inputs, self._outputs = list(inputs), list(outputs)
        self._structure, self._conditioned = structure_of(inputs, outputs), list(conditioned)
        # Rewrites may replace what is unknown.
        if unknown_to_jax(self._outputs):
            graph = rewritten(*self._structure.with_data_as_inputs(inputs, outputs))
            if names := unknown_to_jax(graph.outputs):
                raise lacking(", ".join(names))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what follows from the graph, and grows with what PyTensor notes on it."""
        return {name: x for name, x in self.__dict__.items() if name != "_structure"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Find it again."""
        self.__dict__.update(state)
        self._structure = structure_of(self._inputs, self._outputs)

    @property
    def data(self) -> list[SharedVariable]:  # noqa: D102
        return self._structure.data

    @property
    def key(self) -> Hashable:
        """The same for graphs that differ only in data, in this process."""
        return self._structure.key

    @property
    def name(self) -> str | None:
        """The same for such graphs in every process, if that can be told."""
        return name_of_graph(*self._structure.with_data_as_inputs(self._inputs, self._outputs))

    def call(
        self, name: str, write: Callable[..., Tree], given: Sequence[Any], *arguments: Tree
    ) -> list[Any]:
        """Call a function, which is written unless it was called with arrays of these forms.

        Parameters
        ----------
        name : str
            Name of the function.
        write : callable
            Writes its graph: a tree of tensors, given trees of tensors.
        given : sequence of array
            Values of the conditioned inputs, then of the data.
        *arguments : trees of array
            Its arguments.

        Returns
        -------
        list of array
            The leaves of what was written.
        """
        arrays = leaves_of(arguments)
        key = name, *((x.shape, str(x.dtype)) for x in arrays)
        if (made := WRITTEN.get(self.key)) is None:
            WRITTEN.put(self.key, made := {})
        if key not in made:
            made[key] = self._write(write, arguments)
        return made[key](*arrays, *given)

    def _write(
        self, write: Callable[..., Tree], arguments: tuple[Tree, ...]
    ) -> Callable[..., Sequence[Any]]:
        import jax

        # It is written while a function that calls it is traced, and has constants of its own.
        with jax.ensure_compile_time_eval():
            inputs = map_leaves(
                lambda x: graph_input("argument", dtype=str(x.dtype), shape=x.shape), arguments
            )
            data = {x: x.type() for x in self.data}
            outputs = clone_replace(leaves_of(write(*inputs)), replace=data, rebuild_strict=False)
            function = written([*leaves_of(inputs), *self._conditioned, *data.values()], outputs)
            types = [x.dtype for x in outputs]

        def run(*values: Any) -> list[Any]:
            # Constants are numbers of Python.
            pairs = zip(function(*values), types, strict=True)
            return [jax.numpy.asarray(x, dtype) for x, dtype in pairs]

        return run

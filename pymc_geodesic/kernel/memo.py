#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Functions made in this process, by the structure of their graphs.

The next fold of a cross-validation, or the next data set of a simulation, has the same graph
except for the values of its data. The data are inputs, so the function is reused.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import io_toposort

__all__ = ["Memo", "Structure", "structure_of"]


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

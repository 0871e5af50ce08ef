#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Functions compiled in this process, by the structure of their graphs.

The next fold of a cross-validation, or the next data set of a simulation, has the same graph
except for the values of its data. The data are inputs, so the compiled function is reused.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import io_toposort

__all__ = ["MEMO", "Compiled", "Structure", "structure_of"]

# Each function takes several megabytes.
MOST_KEPT = 32


@dataclass
class Compiled:
    """A function of JAX.

    Attributes
    ----------
    run : callable
        Takes the inputs, then the data in the order of :attr:`Structure.data`.
    vectorized : dict
        The same for several lists of inputs, by which inputs are common to all and by how calls
        follow one another.
    """

    run: Callable[..., Any]
    vectorized: dict[Hashable, Callable[..., Any]] = field(default_factory=dict)


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


def structure_of(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> Structure:
    """Describe a graph; two with the same key compute the same from inputs and data."""
    names: dict[Variable, Hashable] = {x: ("input", i, x.type) for i, x in enumerate(inputs)}
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
    return Structure((tuple(nodes), tuple(name(x) for x in outputs)), data)


class Memo:
    """The most recently used compiled functions."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, Compiled] = OrderedDict()

    def get(self, key: Hashable) -> Compiled | None:
        """Return a function, or None."""
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def put(self, key: Hashable, compiled: Compiled) -> None:
        """Keep a function."""
        self._kept[key] = compiled
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)


MEMO = Memo()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Interpreted functions as one function of Python, with a line for each operation.

Between two operations PyTensor's own loop takes as long as NumPy for a thousand numbers: it reads
the inputs from where they are stored, sets NumPy's handling of errors and stores the result. The
gradient of a mixture has two hundred operations, and the search for its mode calls it two thousand
times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.link.basic import Container, PerformLinker
from pytensor.link.utils import gc_helper, map_storage

from pymc_geodesic.kernel.direct_calls import as_array, call_of

__all__ = ["StraightLine"]


class StraightLine(PerformLinker):
    """Write a graph as a function of Python, for :class:`pytensor.compile.mode.Mode`."""

    def make_all(
        self,
        input_storage: Sequence[list[Any]] | None = None,
        output_storage: Sequence[list[Any]] | None = None,
        storage_map: dict[Variable, list[Any]] | None = None,
    ):
        """Return what runs the graph, as PyTensor's other linkers do."""
        graph = self.fgraph
        order = self.schedule(graph)
        inputs, outputs, storage = map_storage(
            graph, order, input_storage, output_storage, storage_map
        )
        run = Run(written(graph, order), inputs, outputs, storage, allow_gc=self.allow_gc)
        into = [Container(x, cell) for x, cell in zip(graph.inputs, inputs, strict=True)]
        pairs = zip(graph.outputs, outputs, strict=True)
        return run, into, [Container(x, cell, readonly=True) for x, cell in pairs], [run], order


class Run:
    """Call a function with what is stored, and store what it returns.

    Parameters
    ----------
    function : callable
        Takes the inputs and returns the outputs.
    inputs, outputs : sequence of list
        Where they are stored.
    storage_map : dict of Variable to list
        Where all variables are stored, for PyTensor.
    allow_gc : bool
        Whether PyTensor releases the inputs after a call.
    """

    def __init__(
        self,
        function: Callable[..., tuple[Any, ...]],
        inputs: Sequence[list[Any]],
        outputs: Sequence[list[Any]],
        storage_map: dict[Variable, list[Any]],
        *,
        allow_gc: bool,
    ) -> None:
        self._function, self._inputs, self._outputs = function, inputs, outputs
        self.storage_map, self.allow_gc = storage_map, allow_gc

    def __call__(self) -> None:
        """Call the function."""
        found = self._function(*[cell[0] for cell in self._inputs])
        for cell, x in zip(self._outputs, found, strict=True):
            cell[0] = x


def written(graph: FunctionGraph, order: Sequence[Apply]) -> Callable[..., tuple[Any, ...]]:
    """Write a function of the inputs of a graph that returns its outputs.

    What is no longer needed is deleted after the line that needed it last, so that its memory,
    which the processor still has in its cache, serves the next operation.
    """
    names: dict[Variable, str] = {}
    known: dict[str, Any] = {"errstate": np.errstate, "output": _output}

    def name(x: Variable) -> str:
        if x not in names:
            names[x] = f"x{len(names)}"
            if isinstance(x, Constant):
                known[names[x]] = x.data
        return names[x]

    lines = [f"def straight({', '.join(map(name, graph.inputs))}):"]
    lines.append("    with errstate(all='ignore'):")
    # A graph that returns its inputs has no operations.
    lines.append("        pass")
    computed, last_user = gc_helper(list(order))
    for i, node in enumerate(order):
        known[f"f{i}"] = call_of(node.op, node)
        given = ", ".join(map(name, node.inputs))
        lines.append(f"        {', '.join(map(name, node.outputs))} = f{i}({given})")
        done = dict.fromkeys(x for x in node.inputs if x in computed and last_user[x] is node)
        if dead := [name(x) for x in done if x not in graph.outputs]:
            lines.append(f"        del {', '.join(dead)}")
    returned = "".join(f"output({name(x)}), " for x in graph.outputs)
    lines.append(f"    return ({returned})")
    exec("\n".join(lines), known)
    return known["straight"]


def _output(x: Any) -> Any:
    """Return an array of its own for a repeated value, of which all entries have one place."""
    x = as_array(x)
    return x.copy() if isinstance(x, np.ndarray) and not x.flags.writeable else x

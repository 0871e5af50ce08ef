#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Constants that do not remember where they were written."""

from __future__ import annotations

from collections.abc import Iterable

from pytensor.graph.basic import Constant, Variable
from pytensor.graph.op import HasMultipleInnerGraph
from pytensor.graph.traversal import ancestors, apply_ancestors

__all__ = ["forget_lines_of_constants"]


def forget_lines_of_constants(outputs: Iterable[Variable]) -> None:
    """Forget the lines of code that PyTensor remembers of the constants of a graph.

    What remains of ``switch(condition, x, x)`` gets the lines of all its inputs, so those of x
    triple. A constant is not copied with its graph, and those within operations are shared by all
    models: without this, their lines fill the memory after some twenty functions.

    Parameters
    ----------
    outputs : iterable of Variable
        The graph.
    """
    graphs = [list(outputs)]
    while graphs:
        graph = graphs.pop()
        for x in ancestors(graph):
            if isinstance(x, Constant):
                x.tag.trace = []
        for node in apply_ancestors(graph):
            if isinstance(node.op, HasMultipleInnerGraph):
                graphs += [inner.outputs for inner in node.op.inner_graphs.values()]

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
    """Forget the lines of code where the constants of a graph were written.

    PyTensor keeps these lines for its error messages. When it replaces ``switch(condition, x, x)``
    by x, it adds the lines of all inputs to those of x, which triples them. Constants are not
    copied with a graph, and constants within operations are shared by all models, so without this
    function their lines would fill the memory after about twenty functions.

    Parameters
    ----------
    outputs : iterable of Variable
        The graph. The tags of its constants, and of those within its operations, are changed.
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

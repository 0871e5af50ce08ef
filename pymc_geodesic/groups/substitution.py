#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Graphs written for other inputs, which share what does not depend on these."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pytensor.graph.basic import Constant, Variable
from pytensor.graph.rewriting.utils import rewrite_graph
from pytensor.graph.traversal import applys_between, io_toposort
from pytensor.tensor import TensorVariable
from pytensor.tensor.shape import Shape_i

__all__ = ["frontier", "substituted", "with_length_of"]


def substituted(graphs: Sequence[Variable], new: Mapping[Variable, Variable]) -> list[Variable]:
    """Replace variables in graphs; nodes that do not depend on them are not copied.

    PyTensor's ``clone_replace`` copies all nodes, including those of the replacements: repeated
    replacements take exponentially long, and random variables of a model are no longer the same.
    Its ``graph_replace`` keeps the types of nodes, and with them the static shapes of one batch.
    """
    made = dict(new)
    for node in io_toposort(list(new), graphs):
        if made.keys().isdisjoint(node.inputs):
            continue
        inputs = [made.get(x, x) for x in node.inputs]
        made |= zip(
            node.outputs, node.clone_with_new_inputs(inputs, strict=False).outputs, strict=True
        )
    return [made.get(graph, graph) for graph in graphs]


def frontier(graphs: Sequence[Variable], inner: Collection[Variable]) -> list[Variable]:
    """List the variables on which graphs depend besides inner ones, as late as possible.

    No variable in the list depends on an inner variable or is computed from constants alone. Each
    is one of the graphs, or an input of a node that depends on an inner variable.
    """
    inside, constant = set(inner), set()
    found: dict[Variable, None] = {}
    for node in io_toposort(list(inner), graphs):
        outer = [x for x in node.inputs if not (x in constant or isinstance(x, Constant))]
        if not outer:
            constant.update(node.outputs)
        elif not inside.isdisjoint(outer):
            # Nodes are in order, so that whatever is not inside by now never will be.
            found |= dict.fromkeys(x for x in outer if x not in inside)
            inside.update(node.outputs)
    known = inside | constant
    found |= dict.fromkeys(x for x in graphs if not (x in known or isinstance(x, Constant)))
    return list(found)


def with_length_of(
    start: TensorVariable, graphs: Sequence[TensorVariable], variables: Sequence[TensorVariable]
) -> list[TensorVariable]:
    """Simplify functions of variables, and take the length of their first axis from ``start``.

    Where such graphs are substituted in one another, PyTensor looks for the length of each array in
    all that came before, time and again. Ten Newton steps took it a minute.
    """
    outer = frontier(graphs, variables)
    inputs = [x.type() for x in outer]
    alone = substituted(graphs, dict(zip(outer, inputs, strict=True)))
    simple = rewrite_graph(alone, include=("ShapeOpt", "canonicalize"), clone=False)
    lengths = [
        node.outputs[0]
        for node in applys_between([*variables, *inputs], simple)
        if isinstance(node.op, Shape_i) and node.op.i == 0 and node.inputs[0] in variables
    ]
    new = dict.fromkeys(lengths, start.shape[0])
    return substituted(simple, new | dict(zip(inputs, outer, strict=True)))

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Graphs rebuilt for inputs of other shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pytensor.compile.builders import OpFromGraph, SymbolicOp
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.type import Type
from pytensor.scan.op import Scan
from pytensor.tensor import TensorType

__all__ = ["renew", "renewed_outputs"]

Rewrite = Callable[[Apply, Sequence[Variable]], Sequence[Variable] | None]
"""A rule for special nodes; ``None`` leaves a node to :func:`renewed_outputs`."""


def renew(nodes: Iterable[Apply], new: dict[Variable, Variable], rewrite: Rewrite) -> None:
    """Rebuild nodes on other inputs, whose shapes may differ from those of the old inputs.

    Parameters
    ----------
    nodes : iterable of Apply
        The nodes of a graph, inputs first.
    new : dict
        Replacements of variables. The outputs of all nodes that change are added.
    rewrite : callable
        Special rule, applied to a node before the general one.
    """
    for node in nodes:
        inputs = [new.get(variable, variable) for variable in node.inputs]
        outputs = rewrite(node, inputs)
        if outputs is None:
            if inputs == node.inputs:
                continue
            outputs = renewed_outputs(node, inputs)
        for old, replacement in zip(node.outputs, outputs, strict=True):
            new[old] = replacement
            replacement.name = replacement.name or old.name


def renewed_outputs(node: Apply, inputs: Sequence[Variable]) -> Sequence[Variable]:
    """Apply a node's operation to other inputs.

    PyTensor's own cloning keeps and asserts the original shapes of an inner graph.
    """
    op = node.op
    if isinstance(op, SymbolicOp):
        return op(*inputs, return_list=True)
    if isinstance(op, OpFromGraph):
        op = _for_inputs(op, inputs)
        return Apply(op, list(inputs), [kind() for kind in op.output_types]).outputs
    if isinstance(op, Scan):
        return _loop_for_inputs(op, inputs).make_node(*inputs).outputs
    return node.clone_with_new_inputs(list(inputs), strict=False).outputs


def _for_inputs(op: OpFromGraph, inputs: Sequence[Variable]) -> OpFromGraph:
    """Rebuild the inner graph of an operation for inputs of these types."""
    inputs, outputs = _inner_graph(op, [x.type for x in inputs])
    return op.clone_with_inner_graph(FunctionGraph(inputs, outputs, clone=False))


def _loop_for_inputs(op: Scan, inputs: Sequence[Variable]) -> Scan:
    outer = op.get_oinp_iinp_iout_oout_mappings()["outer_inp_from_inner_inp"]
    kinds = []
    for i, inner in enumerate(op.inner_inputs):
        kind = inputs[outer[i]].type
        # Only outside the loop do sequences and states have the axis of the steps.
        if isinstance(kind, TensorType) and kind.ndim > inner.type.ndim:
            kind = kind.clone(shape=kind.shape[1:])
        kinds.append(kind)
    return Scan(
        *_inner_graph(op, kinds),
        op.info,
        mode=op.mode,
        truncate_gradient=op.truncate_gradient,
        name=op.name,
        profile=op.profile,
        allow_gc=op.allow_gc,
    )


def _inner_graph(op: OpFromGraph | Scan, kinds: Sequence[Type]) -> tuple[list, list]:
    inner = op.fgraph.unfreeze()
    inputs = [kind() for kind in kinds]
    new: dict[Variable, Variable] = dict(zip(inner.inputs, inputs, strict=True))
    renew(inner.toposort(), new, rewrite=lambda node, inputs: None)
    return inputs, [new.get(out, out) for out in inner.outputs]

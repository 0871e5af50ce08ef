#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Functions of the parameters of a few groups, computed once per group instead of once per row.

In ``kappa[group]`` with four groups and a batch of 400 rows, the log normalizer of every row is one
of four numbers. Functions of such rows are rewritten: ``f(kappa[group])`` becomes
``f(kappa)[group]``, and the gradient follows. The values are the same, but their gradient is summed
in another order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pytensor import scalar
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.replace import clone_replace
from pytensor.tensor import TensorVariable
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.subtensor import AdvancedSubtensor

from pymc_geodesic.distributions.bessel import RowwiseGraph
from pymc_geodesic.potential.model_graphs import renewed_outputs

__all__ = ["per_group"]

# With fewer rows per group, computing for each row costs little more.
FEWEST_ROWS = 2

# Cheaper than taking their results by row.
CHEAP = (
    scalar.Abs,
    scalar.Add,
    scalar.Cast,
    scalar.Identity,
    scalar.LogicalComparison,
    scalar.Mul,
    scalar.Neg,
    scalar.ScalarMaximum,
    scalar.ScalarMinimum,
    scalar.Second,
    scalar.Sqr,
    scalar.Sub,
    scalar.Switch,
    scalar.TrueDiv,
)


class Lifted(NamedTuple):
    """A variable that is ``groups[index]``, and whether computing ``groups`` is expensive."""

    groups: TensorVariable
    index: TensorVariable
    is_costly: bool


def per_group(
    outputs: Sequence[TensorVariable], *, batches: Mapping[TensorVariable, TensorVariable]
) -> list[TensorVariable]:
    """Compute expensive functions of ``parameter[group]`` for each group, where groups are fewer.

    Parameters
    ----------
    outputs : sequence of TensorVariable
        The graph; it does not change.
    batches : mapping
        For each input with the rows of a batch, one with the number of rows in its type.

    Returns
    -------
    list of TensorVariable
        A graph of the same values.
    """
    graph = FunctionGraph(outputs=clone_replace(list(outputs), replace={}), clone=False)
    lengths: dict[TensorVariable, int | None] = {}
    found: dict[Variable, Lifted] = {}
    for node in graph.toposort():
        found |= _taken(node, batches, lengths) or _lifted(node, found)
    for old in _last(graph, found):
        new = found[old].groups[found[old].index]
        if old.type.is_super(new.type):
            graph.replace(old, new, reason="per_group")
    return list(graph.outputs)


def _taken(
    node: Apply,
    batches: Mapping[TensorVariable, TensorVariable],
    lengths: dict[TensorVariable, int | None],
) -> dict[Variable, Lifted]:
    """Recognize the rows ``groups[index]`` of an array with fewer groups than rows."""
    if not isinstance(node.op, AdvancedSubtensor) or node.op.idx_list != (0,):
        return {}
    groups, index = node.inputs
    n_groups = groups.type.shape[0]
    if n_groups is None or index.type.ndim != 1 or index.type.dtype == "bool":
        return {}
    if index not in lengths:
        [sized] = clone_replace([index], replace=batches, rebuild_strict=False)
        lengths[index] = sized.type.shape[0]
    n_rows = lengths[index]
    if n_rows is None or n_rows < FEWEST_ROWS * n_groups:
        return {}
    return {node.outputs[0]: Lifted(groups, index, is_costly=False)}


def _lifted(node: Apply, found: Mapping[Variable, Lifted]) -> dict[Variable, Lifted]:
    """Apply an operation on the rows to the groups, if it treats each row separately."""
    rows = [found[x] for x in node.inputs if x in found]
    if not rows or not _is_rowwise(node, [x for x in node.inputs if x in found]):
        return {}
    shapes = {(row.index, row.groups.type.shape[0]) for row in rows}
    others = [x for x in node.inputs if x not in found]
    if len(shapes) > 1 or not all(_is_common(x, node) for x in others):
        return {}
    inputs = [found[x].groups if x in found else x for x in node.inputs]
    is_costly = _is_costly(node) or any(row.is_costly for row in rows)
    made = renewed_outputs(node, inputs)
    return {
        old: Lifted(new, rows[0].index, is_costly)
        for old, new in zip(node.outputs, made, strict=True)
    }


def _is_rowwise(node: Apply, rows: Sequence[Variable]) -> bool:
    """Return whether the first axis of these inputs becomes that of the outputs, row by row."""
    op = node.op
    match op:
        case Elemwise():
            return True
        case DimShuffle():
            return op.new_order[:1] == (0,)
        case CAReduce():
            return op.axis is not None and 0 not in op.axis
        case Blockwise():
            return op.batch_ndim(node) > 0
        case RowwiseGraph():
            return all(x.type.ndim > op.core_ndim for x in rows)
        case _:
            return False


def _is_common(x: Variable, node: Apply) -> bool:
    """Return whether an input of an operation is the same for all rows."""
    if isinstance(node.op, RowwiseGraph):
        return x.type.ndim == 0
    return x.type.broadcastable[0]


def _is_costly(node: Apply) -> bool:
    if isinstance(node.op, Elemwise):
        return not isinstance(node.op.scalar_op, CHEAP)
    return isinstance(node.op, Blockwise | CAReduce | RowwiseGraph)


def _last(graph: FunctionGraph, found: Mapping[Variable, Lifted]) -> list[Variable]:
    """List the expensive functions of groups whose values other operations use by row."""
    last: dict[Variable, None] = {}
    for variable in found:
        # The clients of outputs of the graph have no outputs.
        users = [client.outputs for client, _ in graph.clients[variable]]
        if not all(user and user[0] in found for user in users):
            last[_within_exponentials(variable)] = None
    return [variable for variable in last if variable in found and found[variable].is_costly]


def _within_exponentials(variable: Variable) -> Variable:
    """Return the argument of an exponential, which stays where PyTensor looks for it.

    The logarithm of a sum of exponentials, for example, is rewritten so that it cannot overflow.
    """
    while variable.owner and isinstance(variable.owner.op, Elemwise):
        if not isinstance(variable.owner.op.scalar_op, scalar.Exp):
            break
        [variable] = variable.owner.inputs
    return variable

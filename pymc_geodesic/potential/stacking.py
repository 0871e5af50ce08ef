#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Replace operations that a graph repeats for each entry of an array by one operation on the array.

A model with 100 scalar variables has 100 products with columns of its data and 100 gradients. XLA
puts the transitions of a small loop into one function, and LLVM takes 16 times as long to compile
it for 100 scalars as for 30. After stacking, the graph is that of one vector.

The logarithm of a sum of exponentials with its gradient in closed form, the softmax.

PyTensor differentiates it step by step, through the largest entry that it subtracts for stability
too, although the contributions of that entry cancel.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
import pytensor.tensor as pt

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op
from pytensor.graph.replace import clone_replace
from pytensor.graph.rewriting.basic import GraphRewriter, in2out, node_rewriter
from pytensor.scalar.basic import Add
from pytensor.tensor import TensorVariable
from pytensor.tensor.basic import MakeVector
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.special import LogSumExp
from pytensor.tensor.subtensor import Subtensor, indices_from_subtensor

__all__ = ["Stacking", "with_softmax_gradients"]


# Fewer operations compile equally fast separately.
FEWEST = 6


class Member(NamedTuple):
    """A variable that is ``stack[..., place]``."""

    stack: TensorVariable
    place: int


Members = dict[Variable, Member]


class Stacking(GraphRewriter):
    """Replace similar operations on entries of one array by one operation on the array.

    Sums and vectors of entries become sums and slices of the array. Entries with other users remain
    available, so no value is lost.
    """

    def apply(self, fgraph: FunctionGraph) -> None:
        """Go through the operations from inputs to outputs, one depth at a time."""
        members: Members = {}
        for level in _levels(fgraph):
            for node in level:
                _collect(fgraph, node, members)
            members |= _entries(level)
            members |= _alike(level, members)


def _levels(fgraph: FunctionGraph) -> list[list[Apply]]:
    """Sort operations by depth: operations of one level do not depend on each other."""
    depth: dict[Apply, int] = {}
    levels: dict[int, list[Apply]] = defaultdict(list)
    for node in fgraph.toposort():
        depth[node] = 1 + max((depth[x.owner] for x in node.inputs if x.owner), default=0)
        levels[depth[node]].append(node)
    return [levels[i] for i in sorted(levels)]


def _entries(nodes: Sequence[Apply]) -> Members:
    """Find the entries of arrays along one axis, ``array[:, i]`` for several i."""
    groups: dict[tuple[TensorVariable, Op, int, Hashable], list[tuple[Apply, int]]]
    groups = defaultdict(list)
    for node in nodes:
        for axis, place, others in _places(node):
            groups[node.inputs[0], node.op, axis, others].append((node, place))
    members: Members = {}
    for (array, _, axis, _), group in groups.items():
        if len(group) >= FEWEST:
            stack = _along(array, group[0][0], axis)
            members |= {node.outputs[0]: Member(stack, place) for node, place in group}
    return members


def _places(node: Apply) -> Iterator[tuple[int, int, Hashable]]:
    """Yield each axis with a constant index, the index, and the indices of the other axes."""
    if not isinstance(node.op, Subtensor):
        return
    array, *numbers = node.inputs
    if not all(isinstance(number, Constant) for number in numbers):
        return
    values = [int(number.data) for number in numbers]
    for axis, position in enumerate(node.op.idx_list):
        size = array.type.shape[axis]
        if isinstance(position, int) and size is not None:
            others = tuple(v for i, v in enumerate(values) if i != position)
            yield axis, values[position] % size, others


def _along(array: TensorVariable, node: Apply, axis: int) -> TensorVariable:
    """Take all entries along an axis, which becomes the last one."""
    index = list(indices_from_subtensor(node.inputs[1:], node.op.idx_list))
    index[axis] = slice(None)
    is_whole = all(isinstance(i, slice) and i == slice(None) for i in index)
    stack = array if is_whole else array[tuple(index)]
    kept = sum(isinstance(i, slice) for i in index[:axis])
    return pt.moveaxis(stack, kept, -1) if kept < stack.ndim - 1 else stack


def _alike(nodes: Sequence[Apply], members: Members) -> Members:
    """Find operations that differ only in the entries and constants among their inputs."""
    groups: dict[Hashable, list[Apply]] = defaultdict(list)
    for node in nodes:
        can_stack = isinstance(node.op, Elemwise | DimShuffle | CAReduce) and len(node.outputs) == 1
        if can_stack and any(x in members for x in node.inputs):
            groups[node.op, *(_kind(x, members) for x in node.inputs)].append(node)
    found: Members = {}
    for group in groups.values():
        if len(group) >= FEWEST:
            # In the order of the array, which then need not be sorted.
            group.sort(key=lambda node: next(members[x].place for x in node.inputs if x in members))
            inputs = [_stacked(xs, members) for xs in zip(*(n.inputs for n in group), strict=True)]
            stack = _applied(group[0].op, inputs)
            found |= {node.outputs[0]: Member(stack, i) for i, node in enumerate(group)}
    return found


def _kind(x: Variable, members: Members) -> Hashable:
    if x in members:
        return members[x].stack
    return x.type if _is_number(x) else x


def _is_number(x: Variable) -> bool:
    return isinstance(x, Constant) and np.size(x.data) == 1


def _stacked(variables: Sequence[Variable], members: Members) -> TensorVariable:
    """Put one input of similar operations side by side, along a last axis."""
    first = variables[0]
    if first in members:
        return _taken(members[first].stack, [members[x].place for x in variables])
    if not _is_number(first) or len({x.data.item() for x in variables}) == 1:
        return pt.expand_dims(first, -1)
    return pt.constant(np.stack([x.data for x in variables], axis=-1))


def _taken(stack: TensorVariable, places: Sequence[int]) -> TensorVariable:
    first, n = places[0], len(places)
    if list(places) != list(range(first, first + n)):
        return stack[..., np.array(places)]
    return stack if n == stack.type.shape[-1] else stack[..., first : first + n]


def _applied(op: Elemwise | DimShuffle | CAReduce, inputs: list[TensorVariable]) -> TensorVariable:
    """Apply to arrays with an additional last axis, which the result keeps."""
    if isinstance(op, Elemwise):
        return op(*inputs)
    [x] = inputs
    if isinstance(op, DimShuffle):
        return x.dimshuffle(*op.new_order, x.ndim - 1)
    axes = range(x.ndim - 1) if op.axis is None else op.axis
    return op.clone(axis=tuple(axes))(x) if axes else x


def _collect(fgraph: FunctionGraph, node: Apply, members: Members) -> None:
    """Write a sum or a vector of many entries in terms of their array."""
    [old, *_] = node.outputs
    if isinstance(node.op, MakeVector):
        new = _vector(node, members)
    elif isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, Add):
        new = _sum(node, members)
    else:
        return
    if new is not None and old.type.is_super(new.type):
        fgraph.replace(old, new, reason="Stacking")


def _runs(variables: Sequence[Variable], members: Members) -> list[tuple[bool, list[Variable]]]:
    """Cut into runs of many entries of one array, and the terms between them."""
    by_stack = groupby(variables, lambda x: members[x].stack if x in members else None)
    runs = [(stack, list(run)) for stack, run in by_stack]
    marked = [(stack is not None and len(run) >= FEWEST, run) for stack, run in runs]
    return [
        part
        for is_many, same in groupby(marked, lambda run: run[0])
        for part in (list(same) if is_many else [(False, [x for _, run in same for x in run])])
    ]


def _sorted(variables: Sequence[Variable], members: Members) -> list[Variable]:
    """Put the entries of each array side by side, in its order."""
    stacks: dict[TensorVariable | None, list[Variable]] = defaultdict(list)
    for x in variables:
        stacks[members[x].stack if x in members else None].append(x)
    return [
        x
        for stack, xs in stacks.items()
        for x in (xs if stack is None else sorted(xs, key=lambda x: members[x].place))
    ]


def _vector(node: Apply, members: Members) -> TensorVariable | None:
    runs = _runs(node.inputs, members)
    if not any(is_many for is_many, _ in runs):
        return None
    parts = [_stacked(run, members) if many else node.op(*run) for many, run in runs]
    return pt.concatenate(parts) if len(parts) > 1 else parts[0]


def _sum(node: Apply, members: Members) -> TensorVariable | None:
    # Integers would be summed in another type.
    dtype = node.outputs[0].type.dtype
    runs = _runs(_sorted(node.inputs, members), members)
    if not any(is_many for is_many, _ in runs) or not dtype.startswith("float"):
        return None
    terms = []
    for is_many, run in runs:
        summed = {"axis": -1, "dtype": dtype, "acc_dtype": dtype}
        terms += [_stacked(run, members).sum(**summed)] if is_many else run
    return node.op(*terms) if len(terms) > 1 else terms[0]


class WithSoftmax(LogSumExp):
    """A logarithm of a sum of exponentials whose gradient is the softmax."""

    def pullback(self, inputs, outputs, cotangents):
        """Return the softmax times the cotangents."""
        [x], [cotangent] = inputs, cotangents
        return [pt.special.softmax(x, axis=self.axis) * pt.expand_dims(cotangent, self.axis)]


@node_rewriter([LogSumExp])
def local_softmax_gradient(fgraph, node):
    """Replace the operation by one with another gradient."""
    return (
        None if isinstance(node.op, WithSoftmax) else [WithSoftmax(axis=node.op.axis)(*node.inputs)]
    )


def with_softmax_gradients(outputs: Sequence[TensorVariable]) -> list[TensorVariable]:
    """Return a graph of the same values that is differentiated in closed form."""
    graph = FunctionGraph(outputs=clone_replace(list(outputs), replace={}), clone=False)
    in2out(local_softmax_gradient).rewrite(graph)
    return list(graph.outputs)

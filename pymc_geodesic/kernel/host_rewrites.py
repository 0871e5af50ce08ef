#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Rewrites of graphs that NumPy interprets: operations that it has, and few of them."""

from __future__ import annotations

import pytensor.tensor as pt

from pytensor.compile.builders import OpFromGraph, SymbolicOp
from pytensor.compile.rewriting import inline_ofg_node
from pytensor.graph.basic import Apply
from pytensor.graph.rewriting.basic import node_rewriter
from pytensor.graph.rewriting.unify import OpPattern
from pytensor.scalar.basic import Add, Clip, Mul
from pytensor.scalar.math import Log1mexp, Softplus
from pytensor.tensor import TensorVariable
from pytensor.tensor.basic import Alloc
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.linalg.solvers.core import SolveBase
from pytensor.tensor.rewriting.blockwise import blockwise_of
from pytensor.tensor.shape import Shape_i

__all__ = ["allocate_together", "expand_without_ufunc", "solve_together", "write_out"]

# NumPy's limit for the operands of a function.
MOST_OPERANDS = 31


@node_rewriter([OpFromGraph])
def write_out(fgraph, node):
    """Replace an operation of PyTensor that consists of others by them."""
    is_plain = node.op.is_inline or isinstance(node.op, SymbolicOp)
    return inline_ofg_node(node) if is_plain else None


@node_rewriter([Elemwise])
def expand_without_ufunc(fgraph, node):
    """Replace operations for which NumPy has no function by operations for which it has one."""
    scalar_op = node.op.scalar_op
    if isinstance(scalar_op, Add | Mul) and len(node.inputs) > MOST_OPERANDS:
        half = len(node.inputs) // 2
        return [node.op(node.op(*node.inputs[:half]), node.op(*node.inputs[half:]))]
    if isinstance(scalar_op, Softplus):
        [x] = node.inputs
        return [pt.maximum(x, 0) + pt.log1p(pt.exp(-pt.abs(x)))]
    if isinstance(scalar_op, Clip):
        x, low, high = node.inputs
        return [pt.minimum(pt.maximum(x, low), high)]
    if isinstance(scalar_op, Log1mexp):
        [x] = node.inputs
        # The two forms meet at log 2, where both lose the same precision.
        return [pt.switch(x < -0.6931, pt.log1p(-pt.exp(x)), pt.log(-pt.expm1(x)))]
    return None


@node_rewriter([blockwise_of(OpPattern(SolveBase, b_ndim=1))])
def solve_together(fgraph, node):
    """Solve equations of one matrix for all their right sides at once, at each of many points.

    PyTensor does so for a single matrix, and otherwise calls LAPACK for one right side after
    another: for the rows of a multivariate normal distribution, at several points.
    """
    matrix, side = node.inputs
    shared = matrix.type.broadcastable[:-2]
    if not shared or not shared[-1] or side.type.broadcastable[-2]:
        return None
    props = node.op.core_op._props_dict() | {"b_ndim": 2}
    solve = Blockwise(type(node.op.core_op)(**props))
    return [solve(matrix.squeeze(-3), side.mT).mT]


@node_rewriter([blockwise_of(Alloc)])
def allocate_together(fgraph, node):
    """Repeat a value at all of many points at once, where the shape is the same at all of them.

    PyTensor repeats it at one point after another, and asks for the length of each.
    """
    n_batch = node.op.batch_ndim(node)
    value, *lengths = node.inputs
    found = [pair for x in lengths if (pair := _length(x, n_batch)) is not None]
    if len(found) < len(lengths):
        return None
    sources = [value, *(source for _, source in found)]
    batch = [_longest(sources, axis) for axis in range(n_batch)]
    n_new = n_batch + len(lengths) - value.ndim
    order = [*range(n_batch), *["x"] * n_new, *range(n_batch, value.ndim)]
    return [pt.alloc(value.dimshuffle(order), *batch, *(length for length, _ in found))]


def _length(x: TensorVariable, n_batch: int) -> tuple[TensorVariable, TensorVariable] | None:
    """Return a length that is the same at all points, and an array with an axis for the points."""
    if x.owner is not None and _is_length(x.owner):
        [array] = x.owner.inputs
        axis = x.owner.op.batch_ndim(x.owner) + x.owner.op.core_op.i
        return Shape_i(axis)(array), array
    if all(x.type.broadcastable[:n_batch]):
        return x.squeeze(tuple(range(n_batch))), x
    return None


def _is_length(node: Apply) -> bool:
    return isinstance(node.op, Blockwise) and isinstance(node.op.core_op, Shape_i)


def _longest(arrays: list[TensorVariable], axis: int) -> TensorVariable | int:
    """Return the length of an axis: of the first array that is not broadcast along it."""
    several = [x for x in arrays if not x.type.broadcastable[axis]]
    return Shape_i(axis)(several[0]) if several else 1

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Rules of operations whose rows are those of their inputs: arithmetic, reductions, products."""

from __future__ import annotations

from typing import Any

import numpy as np

from pytensor.sparse.math import Dot as SparseDot
from pytensor.sparse.math import StructuredDot
from pytensor.tensor import TensorVariable
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.extra_ops import CumOp
from pytensor.tensor.math import Argmax, Dot
from pytensor.tensor.sort import SortOp
from pytensor.tensor.special import LogSoftmax, LogSumExp, Softmax

from pymc_geodesic.rows.selection import Positions, Rows, rule

__all__: list[str] = []


@rule.register
def _elemwise(
    op: Elemwise, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    i = var.owner.outputs.index(var)
    return op.make_node(*rows.each(var.owner, axis, positions)).outputs[i]


@rule.register
def _dim_shuffle(
    op: DimShuffle, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    return op(rows.of(var.owner.inputs[0], op.new_order[axis], positions))


@rule.register(CAReduce)
@rule.register(Argmax)
def _c_a_reduce(
    op: Any, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    [x] = var.owner.inputs
    if op.axis is None:
        return None
    kept = [i for i in range(x.ndim) if i not in op.axis]
    return op(rows.of(x, kept[axis], positions))


@rule.register(Softmax)
@rule.register(LogSoftmax)
@rule.register(CumOp)
@rule.register(SortOp)
def _softmax(
    op: Any, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    along = (op.axis,) if isinstance(op.axis, int) else op.axis
    if along is None or axis in along:
        return None
    return op(rows.of(var.owner.inputs[0], axis, positions))


@rule.register
def _log_sum_exp(
    op: LogSumExp, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    return rows.inlined(op, var, axis, positions)


@rule.register
def _dot(
    op: Dot, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    x, y = var.owner.inputs
    if axis == 0:
        return op(rows.of(x, 0, positions), y)
    return op(x, rows.of(y, 1, positions))


@rule.register(StructuredDot)
@rule.register(SparseDot)
def _structured_dot(
    op: Any, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    x, y = var.owner.inputs
    if axis != 0 or rows.facts.is_random(x) or not isinstance(y, TensorVariable):
        return None
    matrix: Any = rows.facts.array(x)
    columns, entries = _padded(matrix.tocsr())
    columns, entries = rows.leaf(columns, 0, positions), rows.leaf(entries, 0, positions)
    return (entries[:, :, None] * y[columns]).sum(axis=1)


@rule.register
def _blockwise(
    op: Blockwise, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    node = var.owner
    n_batch = op.batch_ndim(node)
    if axis < n_batch:
        inputs = rows.each(node, axis, positions)
    elif isinstance(op.core_op, Dot):
        which = axis - n_batch  # rows of the first matrix, or columns of the second
        inputs = list(node.inputs)
        inputs[which] = rows.of(node.inputs[which], axis, positions)
    else:
        return None
    return op.make_node(*inputs).outputs[node.outputs.index(var)]


def _padded(matrix: Any) -> tuple[np.ndarray, np.ndarray]:
    """Columns and entries of each row of a sparse matrix, as wide as its longest row."""
    counts = np.diff(matrix.indptr)
    inside = np.arange(counts.max())[None, :] < counts[:, None]
    columns = np.zeros(inside.shape, dtype="int64")
    entries = np.zeros(inside.shape, dtype=matrix.dtype)
    columns[inside], entries[inside] = matrix.indices, matrix.data
    return columns, entries

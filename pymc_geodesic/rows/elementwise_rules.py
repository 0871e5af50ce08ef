#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Rules of arithmetic, reductions, products and random variables: rows are those of inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytensor.tensor as pt

from pymc.distributions.distribution import SymbolicRandomVariable
from pymc.distributions.mixture import MixtureRV
from pymc.distributions.truncated import TruncatedRV
from pymc.model.fgraph import ModelObservedRV, ModelVar
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import ancestors
from pytensor.raise_op import CheckAndRaise
from pytensor.sparse.math import Dot as SparseDot
from pytensor.sparse.math import StructuredDot
from pytensor.sparse.type import SparseTensorType
from pytensor.tensor import TensorVariable
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.extra_ops import CumOp, SearchsortedOp
from pytensor.tensor.math import All, Argmax, Dot
from pytensor.tensor.random.op import RandomVariable
from pytensor.tensor.sort import SortOp
from pytensor.tensor.special import LogSoftmax, LogSumExp, Softmax
from pytensor.tensor.type_other import NoneTypeT

from pymc_geodesic.potential.model_graphs import renewed_outputs
from pymc_geodesic.rows.graphs import substituted
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
    is_second = isinstance(y.type, SparseTensorType)
    sparse, dense = (y, x) if is_second else (x, y)
    if rows.facts.is_random(sparse) or isinstance(dense.type, SparseTensorType):
        return None
    if axis != (var.ndim - 1 if is_second else 0):
        dense = rows.of(dense, axis, positions)
        return op(dense, sparse) if is_second else op(sparse, dense)
    matrix: Any = rows.facts.array(sparse)
    columns, entries = _padded((matrix.T if is_second else matrix).tocsr())
    columns, entries = rows.leaf(columns, 0, positions), rows.leaf(entries, 0, positions)
    entries = entries if dense.ndim == 1 else entries[:, :, None]
    found = (entries * dense.T[columns] if is_second else entries * dense[columns]).sum(axis=1)
    return found.T if is_second else found


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


@rule.register
def _check_and_raise(
    op: CheckAndRaise, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    x, *conditions = var.owner.inputs
    n = rows.facts.length(x, axis)
    met = [_condition(rows, c, n, positions) for c in conditions]
    return op(rows.of(x, axis, positions), *met)


@rule.register
def _searchsorted(
    op: SearchsortedOp, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    x, v, *sorter = var.owner.inputs
    return op(x, rows.of(v, axis, positions), *sorter)


@rule.register
def _op_from_graph(
    op: OpFromGraph, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    return rows.inlined(op, var, axis, positions)


@rule.register
def _model_var(
    op: ModelVar, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    return rows.of(var.owner.inputs[isinstance(op, ModelObservedRV)], axis, positions)


@rule.register(RandomVariable)
@rule.register(SymbolicRandomVariable)
def _random_variable(
    op: Any, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    node = var.owner
    if (roles := _input_roles(node)) is None:
        return None
    n_batch = op.batch_ndim(node)
    if axis >= n_batch:
        return None
    inputs = []
    for x, role in zip(node.inputs, roles, strict=True):
        if role == "size":
            inputs.append(_size(rows, var, x, axis, n_batch))
        elif role == "rng":
            inputs.append(pt.random.shared_rng(seed=None))
        else:
            at = x.ndim - role - n_batch + axis
            inputs.append(x if at < 0 else rows.of(x, at, positions))
    return renewed_outputs(node, inputs)[node.outputs.index(var)]


def _condition(rows: Rows, condition: Variable, n: int, positions: Positions) -> Variable:
    """Restrict a check of parameters to the rows of a batch."""
    if not rows.facts.is_random(condition):
        return condition
    for node in {v.owner for v in ancestors([condition]) if v.owner is not None}:
        if isinstance(node.op, All) and node.outputs[0].ndim == 0:
            [x] = node.inputs
            lengths = [rows.facts.length(x, i) for i in range(x.ndim)]
            if n in lengths:
                met = pt.all(rows.of(x, lengths.index(n), positions))
                [condition] = substituted([condition], {node.outputs[0]: met})
    return condition


def _size(rows: Rows, var: TensorVariable, size: Variable, axis: int, n_batch: int) -> Variable:
    """Return the size of a random variable with the rows of a batch."""
    if isinstance(size.type, NoneTypeT):
        return size
    lengths: list = [rows.facts.length(var, i) for i in range(n_batch)]
    lengths[axis] = rows.length
    return pt.as_tensor(lengths, dtype="int64", ndim=1)


def _input_roles(node: Apply) -> list[str | int] | None:
    """Return what each input of a random variable is: "rng", "size", or its number of core axes."""
    op = node.op
    if isinstance(op, RandomVariable):
        return ["rng", "size", *op.ndims_params]
    if isinstance(op, TruncatedRV):
        base = op.base_rv_op
        if not isinstance(base, RandomVariable):
            return None
        return ["rng", "size", *base.ndims_params, 0, 0]
    if isinstance(op, MixtureRV):
        # PyMC's signature counts the letters of the name of a vector's axis.
        return ["rng", 1, *[op.ndim_supp + (len(node.inputs) == 3)] * (len(node.inputs) - 2)]
    if getattr(op, "extended_signature", None) is None:
        return None
    (rngs, size, params), _ = op.get_input_output_type_idxs(op.extended_signature)
    roles: dict[int | None, str | int] = {**dict.fromkeys(rngs, "rng"), size: "size"}
    roles |= dict(zip(params, op.ndims_params, strict=True))
    return [roles[i] for i in range(len(node.inputs))]

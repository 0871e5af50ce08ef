#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Functions that run with NumPy's own operations, without a compiler."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pytensor
import pytensor.tensor as pt

from pytensor.compile.builders import OpFromGraph, SymbolicOp
from pytensor.compile.mode import Mode, optdb
from pytensor.compile.rewriting import inline_ofg_node
from pytensor.configdefaults import config
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.replace import clone_replace, vectorize_graph
from pytensor.graph.rewriting.basic import (
    SequentialGraphRewriter,
    WalkingGraphRewriter,
    in2out,
    node_rewriter,
)
from pytensor.graph.rewriting.db import RewriteDatabaseQuery
from pytensor.graph.rewriting.unify import OpPattern
from pytensor.scalar.basic import Add, Cast, Clip, Mul
from pytensor.scalar.math import Log1mexp, Softplus
from pytensor.tensor import TensorVariable, tensor
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.linalg.solvers.core import SolveBase
from pytensor.tensor.rewriting.blockwise import blockwise_of

from pymc_geodesic.kernel.stack_traces import forget_lines_of_constants
from pymc_geodesic.kernel.ufuncs import call_ufunc, reduce_few

__all__ = ["for_many", "interpreted", "runs_by_numpy"]

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


def interpreted(inputs: Sequence[TensorVariable], outputs: Sequence[TensorVariable]):
    """Make a function of NumPy's own operations.

    Operations are not fused: fused operations are fast when compiled but slow when interpreted.
    """
    query = RewriteDatabaseQuery(include=["fast_run"], exclude=["fusion", "inplace"])
    rewriter = SequentialGraphRewriter(
        optdb.query(query),
        WalkingGraphRewriter(solve_together, order="in_to_out"),
        WalkingGraphRewriter(expand_without_ufunc, order="in_to_out"),
        WalkingGraphRewriter(call_ufunc, order="in_to_out"),
        WalkingGraphRewriter(reduce_few, order="in_to_out"),
    )
    forget_lines_of_constants(outputs)
    with config.change_flags(cxx=""):
        return pytensor.function(
            list(inputs),
            list(outputs),
            mode=Mode(linker="py", optimizer=rewriter),
            on_unused_input="ignore",
        )


def runs_by_numpy(function) -> bool:
    """Return whether no operation of an interpreted function loops over entries in Python."""
    return not any(
        isinstance(node.op, Elemwise)
        and node.op.nfunc_spec is None
        and not isinstance(node.op.scalar_op, Add | Mul | Cast)
        for node in function.maker.fgraph.apply_nodes
    )


def for_many(
    inputs: Sequence[TensorVariable],
    outputs: Sequence[TensorVariable],
    *,
    varying: Collection[TensorVariable],
) -> tuple[list[TensorVariable], list[TensorVariable]]:
    """Write a graph for several values of some inputs at once, along a first axis.

    A call of an interpreted function costs as much as its operations take on thousands of numbers.

    Parameters
    ----------
    inputs, outputs : sequence of TensorVariable
        The graph.
    varying : collection of TensorVariable
        Inputs that differ, at least one.

    Returns
    -------
    inputs, outputs : list of TensorVariable
        The new graph.

    Raises
    ------
    NotImplementedError
        If PyTensor cannot write an operation for many.
    """
    many = {x: tensor(x.name, dtype=x.dtype, shape=(None, *x.type.shape)) for x in varying}
    # What is written out in other operations is called for one after another otherwise.
    graph = FunctionGraph(outputs=clone_replace(list(outputs), replace={}), clone=False)
    in2out(write_out).rewrite(graph)
    plain = list(graph.outputs)
    n = next(iter(many.values())).shape[0]
    written = [
        x if x.ndim > one.ndim else pt.alloc(x, n, *x.shape)
        for x, one in zip(vectorize_graph(plain, many), outputs, strict=True)
    ]
    return [many.get(x, x) for x in inputs], written

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Functions that run with NumPy's own operations, without a compiler."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pytensor
import pytensor.tensor as pt

from pytensor.compile.io import In
from pytensor.compile.maker import FunctionMaker
from pytensor.compile.mode import Mode, optdb
from pytensor.configdefaults import config
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.replace import clone_replace, vectorize_graph
from pytensor.graph.rewriting.basic import SequentialGraphRewriter, WalkingGraphRewriter, in2out
from pytensor.graph.rewriting.db import RewriteDatabaseQuery
from pytensor.scalar.basic import Add, Cast, Mul
from pytensor.tensor import TensorVariable
from pytensor.tensor.elemwise import Elemwise

from pymc_geodesic.graph_inputs import graph_input
from pymc_geodesic.kernel.host_rewrites import (
    allocate_together,
    expand_without_ufunc,
    solve_together,
    write_out,
)
from pymc_geodesic.kernel.stack_traces import forget_lines_of_constants
from pymc_geodesic.kernel.straight_line import StraightLine
from pymc_geodesic.kernel.ufuncs import call_ufunc, multiply_and_add, reduce_few

__all__ = ["for_many", "interpreted", "rewrite_in_place", "runs_by_numpy"]

# In this order: what is written out has operations that the others replace.
FOR_NUMPY = (
    write_out,
    solve_together,
    allocate_together,
    expand_without_ufunc,
    multiply_and_add,
    call_ufunc,
    reduce_few,
)


def interpreted(inputs: Sequence[TensorVariable], outputs: Sequence[TensorVariable]):
    """Make a function of NumPy's own operations.

    Operations are not fused: fused operations are fast when compiled but slow when interpreted.
    """
    forget_lines_of_constants(outputs)
    with config.change_flags(cxx=""):
        return pytensor.function(
            list(inputs), list(outputs), mode=_mode(), on_unused_input="ignore"
        )


def rewrite_in_place(
    inputs: Sequence[TensorVariable], outputs: Sequence[TensorVariable]
) -> FunctionMaker:
    """Rewrite a graph that nobody else uses, and that depends on nothing but its inputs.

    Parameters
    ----------
    inputs, outputs : sequence of TensorVariable
        The graph, which is changed.

    Returns
    -------
    FunctionMaker
        Makes the function of :func:`interpreted`.
    """
    forget_lines_of_constants(outputs)
    with config.change_flags(cxx=""):
        return FunctionMaker(
            [In(x) for x in inputs],
            list(outputs),
            _mode(),
            on_unused_input="ignore",
        )


def _mode() -> Mode:
    query = RewriteDatabaseQuery(include=["fast_run"], exclude=["fusion", "inplace"])
    rewriter = SequentialGraphRewriter(
        optdb.query(query),
        *(WalkingGraphRewriter(one, order="in_to_out") for one in FOR_NUMPY),
    )
    return Mode(linker=StraightLine(), optimizer=rewriter)


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
    many = {x: graph_input(x.name, dtype=x.dtype, shape=(None, *x.type.shape)) for x in varying}
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

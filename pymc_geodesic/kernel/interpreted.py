#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Functions that PyTensor interprets by NumPy.

A compiler would take longer than all calls, and a process that has computed with JAX cannot be
forked: what a step does before PyMC's workers begin is interpreted.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from threading import Lock
from time import perf_counter, process_time, thread_time
from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt

from pytensor.compile.builders import OpFromGraph, SymbolicOp
from pytensor.compile.mode import Mode, optdb
from pytensor.compile.rewriting import inline_ofg_node
from pytensor.configdefaults import config
from pytensor.graph.basic import Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.replace import clone_replace, vectorize_graph
from pytensor.graph.rewriting.basic import (
    SequentialGraphRewriter,
    WalkingGraphRewriter,
    in2out,
    node_rewriter,
)
from pytensor.graph.rewriting.db import RewriteDatabaseQuery
from pytensor.scalar.basic import Add, Clip, Mul
from pytensor.scalar.math import Log1mexp, Softplus
from pytensor.tensor import TensorVariable
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.rewriting.elemwise import split_2f1grad_loop

from pymc_geodesic.graph_inputs import graph_input
from pymc_geodesic.kernel.jax.written import forget_lines_of_constants

__all__ = ["Interpreted", "clock", "seconds_of", "with_batch_axis", "write_out"]

# NumPy's limit for the operands of a function.
MOST_OPERANDS = 31


class Interpreted:
    """A function that is made when it is first called; infinities do not warn.

    Parameters
    ----------
    inputs, outputs : sequence of TensorVariable
        The graph.
    """

    def __init__(self, inputs: Sequence[TensorVariable], outputs: Sequence[TensorVariable]) -> None:
        self._graph = list(inputs), list(outputs)
        self._function: Any = None
        self._lock = Lock()

    def __call__(self, *arguments: Any) -> list[np.ndarray]:
        """Call the function; several threads do so in turn."""
        with self._lock, np.errstate(all="ignore"):
            if self._function is None:
                self._function = _made(*self._graph)
            # What the host computes is in double precision, whatever that of the model.
            pairs = zip(arguments, self._graph[0], strict=True)
            return self._function(*(_in_precision_of(of, x) for x, of in pairs))

    def is_made_for(self, *arguments: Any) -> bool:
        """Return whether the function has been called, with arguments of any shapes."""
        return self._function is not None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the function: it cannot be pickled, but a graph can."""
        return {"_graph": self._graph}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the function anew when it is called."""
        self._graph, self._function, self._lock = state["_graph"], None, Lock()


def _in_precision_of(variable: Any, value: Any) -> Any:
    """Return a value of the type of a tensor; a generator of random numbers stays what it is."""
    dtype = getattr(variable, "dtype", None)
    return value if dtype is None else np.asarray(value, dtype=dtype)


def with_batch_axis(
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
    # PyTensor takes the size of random variables for a new one if it is written anew.
    replaced = {x: x for x in _the_same_for_all(graph, varying)} | many
    written = [
        x if x.ndim > one.ndim else pt.alloc(x, n, *x.shape)
        for x, one in zip(vectorize_graph(plain, replaced), outputs, strict=True)
    ]
    return [many.get(x, x) for x in inputs], written


def _the_same_for_all(graph: FunctionGraph, varying: Collection[TensorVariable]) -> set[Variable]:
    """Return what operations on varying inputs compute from others."""
    depend: set[Variable] = set(varying)
    found: set[Variable] = set()
    for node in graph.toposort():
        if depend.isdisjoint(node.inputs):
            continue
        depend.update(node.outputs)
        found.update(x for x in node.inputs if x not in depend and x.owner is not None)
    return found


def _made(inputs: list[TensorVariable], outputs: list[TensorVariable]) -> Any:
    forget_lines_of_constants(outputs)
    # Operations are not fused: fused operations are fast when compiled but slow when interpreted.
    query = RewriteDatabaseQuery(include=["fast_run"], exclude=["fusion", "inplace"])
    ours = (write_out, without_loops, split_2f1grad_loop)
    walks = (WalkingGraphRewriter(one, order="in_to_out") for one in ours)
    mode = Mode(linker="vm", optimizer=SequentialGraphRewriter(optdb.query(query), *walks))
    with config.change_flags(cxx="", traceback__limit=0):
        return pytensor.function(inputs, outputs, mode=mode, on_unused_input="ignore")


@node_rewriter([OpFromGraph])
def write_out(fgraph, node):
    """Replace an operation of PyTensor that consists of others by them."""
    is_plain = node.op.is_inline or isinstance(node.op, SymbolicOp)
    return inline_ofg_node(node) if is_plain else None


@node_rewriter([Elemwise])
def without_loops(fgraph, node):
    """Replace operations for which PyTensor would loop over the entries in Python."""
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


def clock() -> np.ndarray:
    """Return the time of the processor by two clocks, and that of the wall.

    Where a limit is set to the time of a process, as batch systems do, the clock of all its threads
    advances in steps of milliseconds; that of a single thread does not.
    """
    return np.array([process_time(), thread_time(), perf_counter()])


def seconds_of(passed: np.ndarray) -> float:
    """Return what was taken, from the difference of two :func:`clock`.

    On a busy machine more time passes than was taken. On one of many processors threads that wait
    for a short computation take more of them than the time that passes.
    """
    return float(min(passed[:2].max(), passed[2]))

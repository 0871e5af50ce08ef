#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Graphs of PyTensor, written as functions for JAX with the rewrites of this package.

Values that many operations use stand behind barriers. XLA fuses the inputs of an operation into its
loop, and so computes them anew in each loop. The residual of a regression on 100 scalars has 100
users: compiling took 4.7 times as long, running 3 times.
"""

from __future__ import annotations

import re
import warnings

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from pytensor.compile.mode import Mode, get_mode, optdb
from pytensor.configdefaults import config
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import HasInnerGraph, HasMultipleInnerGraph, Op
from pytensor.graph.rewriting.basic import dfs_rewriter, node_rewriter
from pytensor.graph.traversal import ancestors, apply_ancestors
from pytensor.scalar.basic import Cast
from pytensor.tensor.basic import MakeVector
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.math import Sum
from pytensor.tensor.subtensor import IncSubtensor, indices_from_subtensor
from pytensor.tensor.type import discrete_dtypes

from pymc_geodesic.kernel.jax.bessel import register_bessel_with_jax
from pymc_geodesic.kernel.jax.lengths import register_lengths_with_jax
from pymc_geodesic.kernel.jax.scalar_loops import register_loops_with_jax
from pymc_geodesic.potential.stacking import Stacking

__all__ = [
    "Barrier",
    "add_barrier",
    "cast_integers",
    "forget_lines_of_constants",
    "lacking",
    "register_barrier_with_jax",
    "register_constants_with_jax",
    "register_sums_with_jax",
    "rewritten",
    "set_in_vector",
    "unknown_to_jax",
    "written",
]


def register_constants_with_jax() -> None:
    """Register the conversion of constant arrays with PyTensor; JAX is imported on first use.

    PyTensor's own calls ``jnp.array``, which compiles a function for each new shape and dtype. It
    takes 30 ms each time, and is too fast for JAX to keep on disk.
    """
    from pytensor.link.jax.dispatch import jax_typify

    if jax_typify.registry[np.ndarray] is not _array_of:
        jax_typify.register(np.ndarray, _array_of)


def _array_of(data: np.ndarray, dtype: Any = None, **kwargs: Any) -> Any:
    import jax

    if data.ndim == 0:
        return data.item()
    return jax.device_put(data if dtype is None else data.astype(dtype))


def register_sums_with_jax() -> None:
    """Register the conversion of sums with PyTensor; JAX is imported on first use.

    PyTensor's own accumulates in the type of the terms, and returns the type in which it should
    have accumulated: in double precision a model in single precision does not compile.
    """
    from pytensor.link.jax.dispatch import jax_funcify

    if jax_funcify.registry.get(Sum) is not _in_jax:
        jax_funcify.register(Sum)(_in_jax)


def _in_jax(op: Sum, node: Apply, **kwargs: Any) -> Callable[[Any], Any]:
    import jax.numpy as jnp

    dtype = node.outputs[0].type.dtype
    return lambda x: jnp.sum(x, axis=op.axis, dtype=op.acc_dtype or dtype).astype(dtype)


# With fewer users, computing a value anew costs less than keeping it.
MANY = 8


class Barrier(Op):
    """Return an array unchanged, and keep XLA from computing it more than once."""

    __props__ = ()
    view_map = {0: [0]}

    def make_node(self, x: Variable) -> Apply:
        """Apply to an array."""
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage) -> None:
        """Return the array, without compilation."""
        output_storage[0][0] = inputs[0]


barrier = Barrier()


def register_barrier_with_jax() -> None:
    """Register the barrier's JAX implementation with PyTensor; JAX is imported on first use."""
    import jax

    from pytensor.link.jax.dispatch import jax_funcify

    if Barrier not in jax_funcify.registry:
        jax_funcify.register(Barrier)(lambda op, **kwargs: jax.lax.optimization_barrier)


@node_rewriter([Elemwise])
def add_barrier(fgraph, node):
    """Put a barrier behind elementwise operations whose results have many users."""
    [output, *others] = node.outputs
    users = {client for client, _ in fgraph.clients[output]}
    if others or len(users) < MANY:
        return None
    return [barrier(node.clone().outputs[0])]


TAG = "pymc_geodesic_jax"


def written(
    inputs: Sequence[Variable], outputs: Sequence[Variable]
) -> Callable[..., Sequence[Any]]:
    """Write a graph as a function for JAX, which traces it.

    Parameters
    ----------
    inputs, outputs : sequence of Variable
        The graph. It depends on nothing but its inputs and constants.
    """
    from pytensor.link.jax.dispatch import jax_funcify

    graph = rewritten(inputs, outputs)
    try:
        with warnings.catch_warnings():
            # Assertions about shapes, which JAX makes when it traces.
            warnings.filterwarnings("ignore", "Skipping .* Op", UserWarning)
            return jax_funcify(graph)
    except NotImplementedError as error:
        # PyTensor's messages end with the operation, the graph inside it, or what to install.
        raise lacking(re.split(r"{|\. ", re.split(": |Op ", str(error))[-1])[0]) from error


def unknown_to_jax(outputs: Sequence[Variable]) -> list[str]:
    """Return the names of operations that PyTensor cannot write for JAX.

    Those of entries are found when the graph is written.
    """
    from pytensor.link.jax.dispatch import jax_funcify

    nothing = jax_funcify.dispatch(object)
    names = [str(op) for op in _operations(outputs) if jax_funcify.dispatch(type(op)) is nothing]
    return list(dict.fromkeys(names))


def _operations(outputs: Sequence[Variable]) -> Iterator[Op]:
    for node in apply_ancestors(list(outputs)):
        yield node.op
        if isinstance(node.op, HasInnerGraph):
            yield from _operations(node.op.fgraph.outputs)


def lacking(names: str) -> NotImplementedError:
    """Return the error for operations that JAX lacks."""
    return NotImplementedError(
        f"The model expected operations that JAX can compile, got `{names}`. Write it with other "
        "operations of PyTensor, register what it is in JAX by "
        "`pytensor.link.jax.dispatch.jax_funcify.register`, or sample all rows by "
        '`pmg.sample(exact="nuts")`.'
    )


def forget_lines_of_constants(outputs: Iterable[Variable]) -> None:
    """Forget the lines of code where the constants of a graph were written.

    PyTensor keeps these lines for its error messages. When it replaces ``switch(condition, x, x)``
    by x, it adds the lines of all inputs to those of x, which triples them. Constants are not
    copied with a graph, and constants within operations are shared by all models, so without this
    function their lines would fill the memory after about twenty functions.

    Parameters
    ----------
    outputs : iterable of Variable
        The graph. The tags of its constants, and of those within its operations, are changed.
    """
    graphs = [list(outputs)]
    while graphs:
        graph = graphs.pop()
        for x in ancestors(graph):
            if isinstance(x, Constant):
                x.tag.trace = []
        for node in apply_ancestors(graph):
            if isinstance(node.op, HasMultipleInnerGraph):
                graphs += [inner.outputs for inner in node.op.inner_graphs.values()]


def rewritten(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> FunctionGraph:
    """Rewrite a copy of a graph for JAX."""
    register_barrier_with_jax()
    register_constants_with_jax()
    register_sums_with_jax()
    register_lengths_with_jax()
    register_loops_with_jax()
    register_bessel_with_jax()
    forget_lines_of_constants(outputs)
    precision = _precision([*inputs, *outputs])
    # Without C, PyTensor compiles no module for every constant that it folds. Lines of code, which
    # it keeps for its messages, multiply when a graph is rewritten.
    with config.change_flags(floatX=precision, cxx="", traceback__limit=0):
        graph = FunctionGraph(list(inputs), list(outputs), clone=True)
        _mode().optimizer.rewrite(graph)
    return graph


@cache
def _mode() -> Mode:
    """Return PyTensor's mode for JAX, in which parameters outside their range have no density."""
    # For several chains JAX computes both branches of a condition, and first copies all that they
    # use for each chain: the directions of a mass, in every transition.
    return (
        get_mode("JAX")
        .including(TAG, "local_check_parameter_to_ninf_switch")
        .excluding("introduce_lazy_ifelse")
    )


def _precision(variables: Sequence[Variable]) -> str:
    """Return the precision in which a graph was written, PyTensor's own if it has several.

    Quotients of integers have PyTensor's precision whenever a rewrite writes them anew, although a
    model that was written in single precision may be compiled when that is double again.
    """
    dtypes = {getattr(x, "dtype", "") for x in variables}
    found = dtypes & {"float32", "float64"}
    return found.pop() if len(found) == 1 else config.floatX


@node_rewriter([IncSubtensor])
def set_in_vector(fgraph, node):
    """Set an entry of a vector of scalars where it is made, as shapes are by broadcasting.

    JAX must know shapes when it traces, and would not know those of an array that has changed.
    """
    vector, entry, *_ = node.inputs
    made_by = vector.owner
    [place, *others] = indices_from_subtensor(node.inputs[2:], node.op.idx_list)
    is_place = not others and isinstance(place, Constant) and np.ndim(place.data) == 0
    if not (node.op.set_instead_of_inc and is_place and entry.type.ndim == 0):
        return None
    if made_by is None or not isinstance(made_by.op, MakeVector):
        return None
    entries = list(made_by.inputs)
    entries[int(place.data)] = entry.astype(vector.dtype)
    return [made_by.op(*entries)]


# Between the stages in which PyTensor takes an entry of a vector that was made of scalars.
optdb.register(set_in_vector.__name__, dfs_rewriter(set_in_vector), TAG, position=1.6)


@node_rewriter([Elemwise])
def cast_integers(fgraph, node):
    """Cast the integers of which a function is real: JAX computes it in single precision."""
    [dtype, *others] = [x.dtype for x in node.outputs]
    is_real = dtype.startswith("float") and all(x.dtype in discrete_dtypes for x in node.inputs)
    if others or not is_real or isinstance(node.op.scalar_op, Cast):
        return None
    return [node.op(*(x.astype(dtype) for x in node.inputs)).astype(dtype)]


optdb.register(cast_integers.__name__, dfs_rewriter(cast_integers), TAG, position=48.3)


# Before fusion, while similar operations can be recognised and barriers put between operations.
optdb.register(Stacking.__name__, Stacking(), TAG, position=48.4)


optdb.register(add_barrier.__name__, dfs_rewriter(add_barrier), TAG, position=48.5)

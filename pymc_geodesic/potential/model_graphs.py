#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Graphs rebuilt for inputs of other shapes, and models as graphs."""

from __future__ import annotations

import warnings

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from pymc.model import Model
from pymc.model.fgraph import ModelDeterministic, fgraph_from_model, model_from_fgraph
from pymc.util import treedict
from pytensor.compile import view_op
from pytensor.compile.builders import OpFromGraph, SymbolicOp
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.type import Type
from pytensor.scan.op import Scan
from pytensor.tensor import TensorType

__all__ = ["graph_of_model", "model_of_graph", "renew", "renewed_outputs"]


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


class _InitialValues(treedict):
    """Initial values that let PyMC convert a model into a graph.

    PyMC raises an error if any of ``values()`` is not ``None``, and so cannot compute the log
    likelihood of a model with initial values. Code that starts a sampler reads them by key.
    """

    def values(self):
        """Return ``None`` for every variable."""
        return dict.fromkeys(self).values()


def graph_of_model(model: Model) -> tuple[FunctionGraph, dict[Variable, Variable]]:
    """Return the graph of a model, and its variables by those of the model.

    PyMC refuses initial values, copies the arrays of ``pm.Data`` and warns of Gaussian processes.
    Here the copies of data share their arrays with the model: ``pm.set_data`` replaces the array of
    one model, and writes into none.
    """
    with _without_initial_values(model), _held_data(model) as held, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Detected variables likely created by GP objects")
        graph, memo = fgraph_from_model(model)
    for data, values in held.items():
        copy = memo[data]
        copy = copy if copy.owner is None else copy.owner.inputs[0]
        copy.set_value(values, borrow=True)
    return graph, memo


def model_of_graph(graph: FunctionGraph, *, like: FunctionGraph, source: Model) -> Model:
    """Return the model of a rebuilt graph, which is changed.

    Parameters
    ----------
    graph : FunctionGraph
        The graph.
    like : FunctionGraph
        The graph of ``source``, which has the coordinates.
    source : Model
        The model that was rebuilt, whose initial values are taken for the variables that are left.
    """
    graph._coords, graph._dim_lengths = like._coords, like._dim_lengths
    _keep_second_names(graph)
    model = model_from_fgraph(graph, mutate_fgraph=True)
    kept = source.rvs_to_initial_values
    there = [rv for rv in kept if rv.name in model.named_vars]
    model.rvs_to_initial_values = _InitialValues({model[rv.name]: kept[rv] for rv in there})
    return model


def _keep_second_names(graph: FunctionGraph) -> None:
    """Have deterministics that are others with a second name be variables of their own.

    PyMC would give both names to one variable, and refuse it when it is converted again.
    """
    seen = set()
    for node in graph.toposort():
        if isinstance(node.op, ModelDeterministic):
            [x] = node.inputs
            if x in seen:
                graph.change_node_input(node, 0, view_op(x))
            seen.update([x, *node.outputs])


@contextmanager
def _without_initial_values(model: Model) -> Iterator[None]:
    kept = model.rvs_to_initial_values
    model.rvs_to_initial_values = dict.fromkeys(kept)
    try:
        yield
    finally:
        model.rvs_to_initial_values = kept


@contextmanager
def _held_data(model: Model) -> Iterator[dict[SharedVariable, np.ndarray]]:
    """Hold the arrays of ``pm.Data`` while their variables are copied."""
    shared = [x for x in model.data_vars if isinstance(x, SharedVariable)]
    held = {x: x.get_value(borrow=True) for x in shared}
    held = {x: values for x, values in held.items() if isinstance(values, np.ndarray)}
    try:
        for x, values in held.items():
            x.container.storage[0] = np.empty((0,) * values.ndim, values.dtype)
        yield held
    finally:
        for x, values in held.items():
            x.container.storage[0] = values

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Models of tensors with axes, from models that ``pymc.dims`` wrote with named dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytensor.xtensor as px

from pymc.distributions import transforms
from pymc.model import Model
from pymc.model.fgraph import (
    ModelFreeRV,
    ModelNamed,
    ModelValuedVar,
    ModelVar,
)
from pytensor.compile.mode import optdb
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.xtensor.basic import XTensorFromTensor
from pytensor.xtensor.type import XTensorType

from pymc_geodesic.graph_inputs import graph_input
from pymc_geodesic.potential.model_graphs import graph_of_model, model_of_graph
from pymc_geodesic.rows.graphs import substituted
from pymc_geodesic.rows.proof import require_equal

__all__ = ["plain"]


def plain(model: Model) -> Model:
    """Return an equal model without ``pymc.dims``; one that does not use it as it is.

    Variables have the same names, dimensions and values. PyTensor itself replaces operations on
    named dimensions by those on axes when it compiles them; here this is done first.
    """
    variables = [*model.basic_RVs, *model.potentials, *model.deterministics, *model.data_vars]
    if not any(isinstance(x.type, XTensorType) for x in variables):
        return model
    graph, _ = graph_of_model(model)
    named = [x for x in graph.inputs if isinstance(x, SharedVariable) and _is_named(x)]
    new: dict[Variable, Variable] = {}
    for x in named:
        shared = pytensor.shared(x.get_value(borrow=True), borrow=True, name=x.name)
        new[x] = px.as_xtensor(shared, dims=x.type.dims)
    lower = optdb.query("+lower_xtensor")
    lower.rewrite(graph)
    outputs = []
    for node in graph.toposort():
        if isinstance(node.op, ModelVar):
            out = _plain_node(node, new)
            dims = getattr(node.outputs[0].type, "dims", None)
            new[node.outputs[0]] = out if dims is None else px.as_xtensor(out, dims=dims)
            outputs.append(out)
    by_name = {out.owner.op.name: out for out in outputs}
    outputs = [by_name[out.owner.op.name] for out in graph.outputs]
    found = FunctionGraph(outputs=outputs, clone=False)
    lower.rewrite(found)
    result = model_of_graph(found, like=graph, source=model)
    require_equal(model, result)
    return result


def _plain_node(node: Apply, new: dict[Variable, Variable]) -> Variable:
    """Rebuild a variable of a model on tensors."""
    inputs = [_tensor(x) for x in substituted(list(node.inputs), new)]
    op, named = node.op, node.outputs[0]
    if isinstance(op, ModelNamed):
        return op(*inputs)
    if isinstance(op, ModelValuedVar):
        rv, value = inputs
        if isinstance(op, ModelFreeRV) and _is_named(named):
            old = node.inputs[1]
            value = graph_input(old.name, dtype=old.dtype, shape=old.type.shape)
        transform = _plain_transform(op.transform, named) if _is_named(named) else op.transform
        return type(op)(name=op.name, dims=op.dims, transform=transform)(rv, value)
    return op(*inputs)


def _tensor(x: Variable) -> Variable:
    if not _is_named(x):
        return x
    if isinstance(x, Constant):
        return pt.constant(np.asarray(x.data), name=x.name)
    if x.owner is not None and isinstance(x.owner.op, XTensorFromTensor):
        return x.owner.inputs[0]
    return x.values


def _plain_transform(transform: Any, var: Variable) -> Any:
    """Return a transform of values without names, for one with names."""
    # PyMC warns that the module is new when it is imported.
    from pymc.dims.distributions import transforms as named

    if transform is None:
        return None
    same = {
        named.LogTransform: transforms.log,
        named.LogOddsTransform: transforms.logodds,
        named.CircularTransform: transforms.circular,
    }
    dims = var.type.dims
    if type(transform) in same:
        return same[type(transform)]
    if isinstance(transform, named.IntervalTransform):
        bounds = [transform.lower, transform.upper]
        if all(isinstance(x, Constant) and x.ndim == 0 for x in bounds):
            lower, upper = (float(x.data) if np.isfinite(x.data) else None for x in bounds)
            return transforms.Interval(lower, upper)
    if isinstance(transform, named.ZeroSumTransform):
        return transforms.ZeroSumTransform([dims.index(d) - len(dims) for d in transform.dims])
    if isinstance(transform, named.SimplexTransform) and transform.core_dim == dims[-1]:
        return transforms.simplex
    raise ValueError(
        f"`{var.name}` expected a transform of `pymc.dims` that PyMC has too, got {transform}. "
        "Write the variable with `pm` in place of `pymc.dims`."
    )


def _is_named(x: Variable) -> bool:
    return isinstance(x.type, XTensorType)

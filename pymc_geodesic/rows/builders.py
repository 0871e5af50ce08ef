#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The model that a user gives, itself or built by Bambi or PyMC-Marketing, in plain tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytensor.xtensor as px
import xarray as xr

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
from pymc_geodesic.validation import pymc_model

__all__ = [
    "as_sampled",
    "completed",
    "computed_by",
    "given_model",
    "is_bambi",
    "model_inside",
    "plain",
]


def given_model(given: Any) -> Model:
    """Return the model that is given, or that of the context, with tensors for ``pymc.dims``.

    Raises
    ------
    TypeError
        If there is none.
    """
    return plain(pymc_model(model_inside(given)))


def model_inside(given: Any) -> Any:
    """Return the PyMC model that an object has built; anything else as it is.

    Parameters
    ----------
    given : object
        A ``bambi.Model``, which is built here if that has not been done; or an object with the
        method ``build_model`` and the attribute ``model``, as PyMC-Marketing's have them.
    """
    if is_bambi(given):
        if not given.built:
            given.build()
        return given.backend.model
    inside = getattr(given, "model", None)
    if isinstance(inside, Model) and callable(getattr(given, "build_model", None)):
        return inside
    return given


def computed_by(given: Any) -> list[str]:
    """Name Deterministics that an object computes itself when its user asks for them.

    Bambi's are the parameters of the likelihood, one for each row, which its own ``fit`` leaves
    out too.
    """
    if not is_bambi(given):
        return []
    computed = {x.name for x in given.backend.model.deterministics}
    return [name for name in given.family.likelihood.params if name in computed]


def completed(idata: xr.DataTree, given: Any) -> xr.DataTree:
    """Return a result as the ``fit`` of an object would, so that its other methods work with it.

    Bambi samples the intercept of centred predictors and standardised group effects: the former is
    replaced by the intercept of its formula, the latter are left out. Objects of PyMC-Marketing
    hold their result, the data and what they need to be saved.
    """
    if is_bambi(given):
        given.backend.fit = True
        return given.backend._clean_results(idata, omit_offsets=True, include_response_params=False)
    if model_inside(given) is not given and hasattr(given, "create_fit_data_group"):
        attrs = dict(idata.attrs)
        if (data := given.create_fit_data_group()) is not None:
            idata["fit_data"] = data
        given.idata = given.set_idata_attrs(idata)
        idata.attrs = attrs | idata.attrs
        given.is_fitted_ = True
    return idata


def as_sampled(idata: xr.DataTree, given: Any) -> xr.DataTree:
    """Return the draws of the variables of the PyMC model: the inverse of :func:`completed`."""
    if not is_bambi(given):
        return idata
    model_inside(given)  # builds it, as it may be in another process than its fit
    # ArviZ calls it too. It does not change the given result.
    idata = given._re_center_intercept(idata).copy()
    idata["posterior"].attrs.pop("modeling_interface", None)
    return idata


def is_bambi(given: Any) -> bool:
    """Return whether an object is a ``bambi.Model``."""
    return any(
        (cls.__module__.split(".")[0], cls.__name__) == ("bambi", "Model")
        for cls in type(given).__mro__
    )


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

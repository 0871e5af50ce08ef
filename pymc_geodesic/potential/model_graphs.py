#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Models as graphs, which are rebuilt, and models from such graphs."""

from __future__ import annotations

import warnings

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from pymc.model import Model
from pymc.model.fgraph import fgraph_from_model, model_from_fgraph
from pymc.util import treedict
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Variable
from pytensor.graph.fg import FunctionGraph

__all__ = ["graph_of_model", "model_of_graph"]


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
    model = model_from_fgraph(graph, mutate_fgraph=True)
    kept = source.rvs_to_initial_values
    there = [rv for rv in kept if rv.name in model.named_vars]
    model.rvs_to_initial_values = _InitialValues({model[rv.name]: kept[rv] for rv in there})
    return model


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

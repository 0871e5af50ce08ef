#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Graphs of chosen rows of a model that was written for all of its data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pymc.model import Model
from pymc.model.fgraph import ModelNamed, ModelObservedRV, ModelVar
from pymc.variational.minibatch_rv import MinibatchRandomVariable
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import io_toposort
from pytensor.tensor import TensorVariable

from pymc_geodesic.potential.full_data import full_data
from pymc_geodesic.potential.minibatch import has_minibatch
from pymc_geodesic.potential.model_graphs import graph_of_model, renew
from pymc_geodesic.rows.facts import Facts
from pymc_geodesic.rows.selection import Rows

__all__ = ["ModelRows", "plain_values", "whole_model"]

# Where an array of so many entries is computed anyway, its rows are taken from it.
FEW_ENTRIES = 500


def whole_model(model: Model) -> Model:
    """Return a model with all of its data, in place of ``pm.Minibatch``."""
    return full_data(model) if has_minibatch(model) else model


class ModelRows:
    """A model with all of its data, of which rows are taken.

    Parameters
    ----------
    model : Model
        Without ``pm.Minibatch`` and ``pymc.dims``.

    Attributes
    ----------
    graph : FunctionGraph
        The model.
    facts : Facts
        What is known of it.
    variables : dict of str to TensorVariable
        Its variables in the graph.
    data : dict of Variable to str
        Names of its data.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.graph, memo = graph_of_model(model)
        self.facts = Facts.of_model(model, memo)
        self.variables = {x.owner.op.name: x for x in self.graph.outputs}
        named = [x for x in self.graph.outputs if isinstance(x.owner.op, ModelNamed)]
        self.data = {x: out.owner.op.name for out in named for x in (out, out.owner.inputs[0])}

    def value(self, name: str) -> TensorVariable:
        """Return what a variable is drawn from or computed as."""
        found = self.variables[name].owner.inputs[0]
        return found.owner.inputs[0] if self.is_part(name) else found

    def is_part(self, name: str) -> bool:
        """Return whether a variable has only some of its rows, such as those of a stream."""
        node = self.variables[name].owner.inputs[0].owner
        return node is not None and isinstance(node.op, MinibatchRandomVariable)

    def n_rows(self, name: str) -> int:
        """Return the number of rows of a variable; zero of one without axes."""
        x = self.variables[name]
        x = x.owner.inputs[1] if self.is_observed(name) else self.value(name)
        return self.facts.length(x, 0) if x.ndim else 0

    def n_observed(self, name: str) -> int:
        """Return the number of rows of a variable if it is observed; otherwise zero."""
        return self.n_rows(name) if self.is_observed(name) else 0

    def is_observed(self, name: str) -> bool:
        """Return whether a variable is observed."""
        return isinstance(self.variables[name].owner.op, ModelObservedRV)

    def rows(
        self,
        n: int,
        *,
        few: int = FEW_ENTRIES,
        local: Mapping[Variable, TensorVariable] | None = None,
    ) -> Rows:
        """Return the rows of all variables that have so many.

        Parameters
        ----------
        n : int
            Their number.
        few : int
            Rows are taken from arrays of more entries before these are computed.
        local : mapping, optional
            What stands for the rows of free variables.
        """
        return Rows(self.facts, n, few, local=local)

    def drawn(self, name: str, rows: Rows) -> TensorVariable | None:
        """Return rows of an observed variable, as random; None if they depend on all rows."""
        found = rows.drawn(self.value(name))
        return None if rows.whole else found

    def computed(self, name: str, rows: Rows) -> TensorVariable | None:
        """Return rows of a Deterministic; None if they depend on all rows."""
        found = rows.of(self.value(name), 0)
        return None if rows.whole else found


def plain_values(
    outputs: Sequence[Variable], given: dict[Variable, Variable]
) -> list[TensorVariable]:
    """Replace the variables of a model: some by what is given, others by their values."""

    def value(node: Apply, inputs: Sequence[Variable]) -> Sequence[Variable] | None:
        if isinstance(node.op, ModelVar):
            return [inputs[isinstance(node.op, ModelObservedRV)]]
        return None

    new = dict(given)
    renew(io_toposort(list(given), outputs), new, value)
    return [new.get(out, out) for out in outputs]

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The conversion of a model of all rows into a model of some rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pymc as pm

from pymc.model import Model
from pymc.model.fgraph import (
    ModelDeterministic,
    ModelFreeRV,
    ModelNamed,
    ModelObservedRV,
    model_observed_rv,
)
from pymc.variational.minibatch_rv import create_minibatch_rv
from pytensor.graph.basic import Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable

from pymc_geodesic.graph_inputs import call_data, called
from pymc_geodesic.potential.model_graphs import model_of_graph
from pymc_geodesic.rows.graphs import added, known_by_value, substituted
from pymc_geodesic.rows.integration import RowsOfEntries, TermsOfRows, rows_of_entries
from pymc_geodesic.rows.local_variables import Local, depends_on, find_local, is_without_effect
from pymc_geodesic.rows.refusals import CURE, DependentRowsError, FewRowsError, require_rows
from pymc_geodesic.rows.selection import Rows
from pymc_geodesic.rows.terms import ModelOfRows, lengths_of

__all__ = ["Conversion", "Integrated"]


class Integrated(NamedTuple):
    """An observed variable of rows, with their local variables integrated out.

    Attributes
    ----------
    name : str
        Its name.
    local : Local
        The local variables.
    terms : list of callable
        The terms of the rows that depend on them.
    rows : RowsOfEntries
        What these are for all entries that have rows.
    """

    name: str
    local: Local
    terms: list[TermsOfRows]
    rows: RowsOfEntries


class Conversion(ModelOfRows):
    """A model of batches, from one of all rows; see :class:`ModelOfRows`.

    Attributes
    ----------
    integrated : list of Integrated
        Observed variables with variables that are integrated out, after :meth:`integrate`.
    left_out : set of str
        Names of all free variables that are not sampled.
    """

    def __init__(self, model: Model, batch_size: int) -> None:
        super().__init__(model, batch_size)
        self.integrated: list[Integrated] = []
        self.left_out: set[str] = set()
        self._others_of_parts: list[Rows] = []

    def entries_of_rows(self) -> list[tuple[str, int]]:
        """Name the sampled variables with an entry for each row, and count these."""
        return [
            (var.owner.op.name, n)
            for n, rows in self.streams.items()
            for var in rows.indexed
            if n in self.facts.shapes[var] and var.owner.op.name not in self.left_out
        ]

    @property
    def integrated_names(self) -> set[str]:
        """Names of variables that are integrated out and on which rows depend."""
        return {name for part in self.integrated for name in part.local.names}

    @property
    def without(self) -> set[str]:
        """Names of variables that are left out, and of Deterministics of them."""
        free = {x for x in self.graph.outputs if x.owner.op.name in self.left_out}
        found = (x for x in self.graph.outputs if isinstance(x.owner.op, ModelDeterministic))
        return self.left_out | {
            x.owner.op.name for x in found if not free.isdisjoint(known_by_value([x]))
        }

    def computed_from_rows(self) -> list[str]:
        """Name Deterministics for which all rows are needed at every draw."""
        found = (out for out in self.graph.outputs if isinstance(out.owner.op, ModelDeterministic))
        return [out.owner.op.name for out in found if self._is_computed_from_rows(out)]

    def model_of_batches(self, *, but: Collection[str] = ()) -> Model:
        """Build the model, whose rows ``pm.Minibatch`` draws, without some of its terms."""
        if not self.streams:
            raise FewRowsError(
                "The model expected an observed variable or a potential with more rows than "
                f"`batch_size`={self.batch_size}, got none. {CURE}"
            )
        outputs = self._known_outputs([x for x in self.outputs if x.owner.op.name not in but])
        outputs = clone_replace(
            outputs, replace=self.values | self._batches(outputs), rebuild_strict=False
        )
        return self._model([self._scaled(out) for out in outputs])

    def _known_outputs(self, outputs: Sequence[Variable]) -> list[Variable]:
        """Compute what is known of terms, and add the other variables of the model."""
        known = substituted(outputs, self.facts.constants(outputs, self.batch_size + 1))
        terms = [x.owner.inputs[0] for x in known if not isinstance(x.owner.op, ModelFreeRV)]
        require_rows(self.streams, terms, self.facts)
        return [*known, *self._others(known)]

    def _model(self, outputs: Sequence[Variable]) -> Model:
        graph = FunctionGraph(outputs=list(outputs), clone=False)
        return model_of_graph(graph, like=self.graph, source=self.model)

    # Local variables

    def integrate(self, kept: Collection[str]) -> None:
        """Integrate out variables with an entry for each row.

        Parameters
        ----------
        kept : collection of str
            Names of variables that are not to be integrated out.
        """
        point = self.model.initial_point(random_seed=0)
        for var in [x for x in self.outputs[::-1] if isinstance(x.owner.op, ModelFreeRV)]:
            others = [x for x in self.outputs if x is not var]
            shape, name = self.facts.shapes[var], var.owner.op.name
            if name not in kept and is_without_effect(var, others, shape, self.batch_size):
                self._leave_out([var])
        found = find_local(
            self.streams,
            self.outputs,
            self.facts,
            rows_of={x: self.terms[x.owner.op.name][0] for x in self.outputs if self._has_rows(x)},
            value_shapes={name: np.shape(x) for name, x in point.items()},
            kept=kept,
        )
        for _, local in list(found):
            self._integrate(local)

    def _has_rows(self, out: Variable) -> bool:
        return out.owner.op.name in self.terms and not isinstance(out.owner.op, ModelFreeRV)

    def _integrate(self, local: Local) -> None:
        own = [x for x in self.outputs if self._has_rows(x) and depends_on(x, local.variables)]
        names = [x.owner.op.name for x in own]
        terms = [self.terms[name][1] for name in names]
        try:
            rows = rows_of_entries(local, terms, self.facts, batch_size=self.batch_size)
        except DependentRowsError:
            return
        self._leave_out([*own, *local.variables])
        self.integrated.append(Integrated(names[0], local, terms, rows))
        length, n_rows = rows.rows.length, rows.n_rows
        found = self.as_observed(names[0], rows.integrated(), length=length, n=n_rows)
        self.outputs.append(found)
        if len(without := np.flatnonzero(~local.has_entry)):
            others = Rows(self.facts, len(without), min(self.batch_size, len(without)))
            self._others_of_parts.append(others)
            term = added([term(others, without) for term in terms])
            name, n_others = f"{names[0]}_others", len(without)
            found = self.as_observed(name, term, length=others.length, n=n_others)
            self.outputs.append(found)

    def _leave_out(self, outputs: Sequence[Variable]) -> None:
        self.outputs = [x for x in self.outputs if x not in outputs]
        free = [x for x in outputs if isinstance(x.owner.op, ModelFreeRV)]
        self.left_out.update(x.owner.op.name for x in free)

    # The new model

    def _batches(self, outputs: list[Variable]) -> dict[Variable, Variable]:
        """Draw the data of the rows."""
        parts = [part.rows for part in self.integrated]
        every = [(x.leaves, x.batch_size) for x in (*self.streams.values(), *self._others_of_parts)]
        every += [(x.leaves, min(self.batch_size, x.n_rows)) for x in parts]
        used = set(ancestors(outputs))
        replaced: dict[Variable, Variable] = {}
        for pairs, batch_size in every:
            leaves = {leaf: data for leaf, data in pairs if leaf in used}
            if leaves:
                batches = pm.Minibatch(*leaves.values(), batch_size=batch_size)
                batches = batches if len(leaves) > 1 else [batches]
                for leaf, array in zip(leaves, batches[0].owner.inputs, strict=False):
                    call_data(array, called(leaf))
                replaced |= dict(zip(leaves, batches, strict=True))
        return replaced

    def _scaled(self, out: Variable) -> Variable:
        """Give an observed variable of a batch its ``total_size``."""
        op = out.owner.op
        if not isinstance(op, ModelObservedRV) or op.name not in self.totals:
            return out
        rv, value = out.owner.inputs
        return model_observed_rv(create_minibatch_rv(rv, self.totals[op.name]), value, op.name)

    def _others(self, outputs: list[Variable]) -> Iterator[Variable]:
        """Yield Deterministics and data that do not have the rows."""
        used, without = set(ancestors(outputs)), self.without
        for out in self.graph.outputs:
            if not isinstance(out.owner.op, ModelDeterministic | ModelNamed):
                continue
            has_rows = any(self.is_long(self.facts.length(out, i)) for i in range(out.ndim))
            if out.owner.op.name in without:
                continue
            if isinstance(out.owner.op, ModelNamed):
                is_kept = not has_rows or out.owner.inputs[0] in used
            else:
                is_kept = not has_rows or not self._depends_on_rows(out)
            if is_kept:
                yield out

    def _is_computed_from_rows(self, out: TensorVariable) -> bool:
        facts = self.facts
        return any(
            facts.is_random(x)
            and any(self.is_long(facts.length(x, i)) for i in range(x.ndim))
            and self._depends_on_rows(x)
            for x in known_by_value([out])
            if isinstance(x, TensorVariable) and x.owner is not None
        )

    def _depends_on_rows(self, out: TensorVariable) -> bool:
        behind = set(ancestors([out]))
        has_data = any(n in self.streams for x in behind for n in lengths_of(x))
        return has_data or not behind.isdisjoint(self.values)

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The log density of a model, written for some of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from pymc.data import MinibatchOp
from pymc.model import Model
from pymc.model.fgraph import (
    ModelFreeRV,
    ModelObservedRV,
    ModelPotential,
    model_observed_rv,
    model_potential,
)
from pymc.variational.minibatch_rv import MinibatchRandomVariable
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable

from pymc_geodesic.potential.model_graphs import graph_of_model
from pymc_geodesic.rows.facts import Facts
from pymc_geodesic.rows.graphs import added, data_of, log_density_of, needed_for_values, summands
from pymc_geodesic.rows.integration import TermsOfRows
from pymc_geodesic.rows.local_variables import has_independent_rows
from pymc_geodesic.rows.refusals import CURE, DependentRowsError, mixing, require_separate
from pymc_geodesic.rows.selection import Positions, Rows

__all__ = ["ModelOfRows", "lengths_of"]

Summand = tuple[TensorVariable, TensorVariable, int]
"""A factor, a term, and the axis of its rows."""


class ModelOfRows:
    """The terms of a model, written for the rows of a batch.

    Parameters
    ----------
    model : Model
        With all of its data.
    batch_size : int
        Rows of a batch. Observed variables with at most so many rows keep all of them.

    Attributes
    ----------
    streams : dict of int to Rows
        The rows of a batch, by the number of all rows.
    graph : FunctionGraph
        The model.
    facts : Facts
        What is known of it.
    outputs : list of Variable
        Its free variables, and its terms.
    totals : dict of str to int
        Rows of each observed variable of a batch.
    values : dict of Variable to Variable
        What stands for an observed variable elsewhere.
    terms : dict of str to (int, callable)
        The number of all rows of each term, and how it is written for some.

    Raises
    ------
    DependentRowsError
        If rows depend on each other.
    ValueError
        If the model already has minibatches.
    """

    def __init__(self, model: Model, batch_size: int) -> None:
        _require_no_minibatch(model)
        self.model, self.batch_size = model, batch_size
        self.graph, memo = graph_of_model(model)
        self.facts = Facts.of_model(model, memo)
        self.streams: dict[int, Rows] = {}
        self.terms: dict[str, tuple[int, TermsOfRows]] = {}
        self.totals: dict[str, int] = {}
        self.values: dict[Variable, Variable] = {}
        self.outputs = [new for out in self.graph.outputs for new in self._term(out)]

    def _term(self, out: TensorVariable) -> list[Variable]:
        op = out.owner.op
        if isinstance(op, ModelFreeRV):
            return [out]
        if isinstance(op, ModelObservedRV):
            return self._observed(out)
        return self._potential(out) if isinstance(op, ModelPotential) else []

    def is_long(self, n: int) -> bool:
        """Return whether an axis is longer than a batch."""
        return n > self.batch_size

    def stream(self, n: int) -> Rows:
        """Return the rows of a batch, of so many in all."""
        return self.streams.setdefault(n, Rows(self.facts, n, self.batch_size))

    def _observed(self, out: TensorVariable) -> list[Variable]:
        rv, value = out.owner.inputs
        op = out.owner.op
        lengths = [self.facts.length(value, i) for i in range(value.ndim)]
        if not any(map(self.is_long, lengths)):
            return [out]
        require_separate(op.name, rv)
        self.values[out] = value
        n = max(lengths)
        # Rows are drawn along the first axis; others, and what users wrote, go term by term.
        is_by_rows = lengths[0] == n and has_independent_rows(rv.owner.op)
        if is_by_rows and rv.owner.op.ndim_supp < rv.ndim:
            rows = self.stream(n)
            # The data come first: they give the batch its length.
            rows_of_value = rows.of(value, 0)
            if (rows_of_rv := rows.drawn(rv)) is not None:
                self.totals[op.name] = n
                self.terms[op.name] = n, partial(_density_of_rows, rv, value)
                return [model_observed_rv(rows_of_rv, rows_of_value, op.name)]
        return self._by_terms(op.name, log_density_of(rv, value), kind="observed variable")

    def _potential(self, out: TensorVariable) -> list[Variable]:
        [terms] = out.owner.inputs
        if not any(self.is_long(n) for x in needed_for_values([terms]) for n in lengths_of(x)):
            return [out]
        return self._by_terms(out.owner.op.name, terms, kind="potential")

    def _by_terms(self, name: str, terms: TensorVariable, *, kind: str) -> list[Variable]:
        """Write a sum over rows as an observed variable whose log density is the term of a row."""
        by_length: dict[int, list[Summand]] = {}
        rest: list[TensorVariable] = []
        for factor, x in summands(terms):
            lengths = [self.facts.length(x, i) for i in range(x.ndim)]
            n = max(lengths, default=1)
            if self.is_long(n):
                by_length.setdefault(n, []).append((factor, x, lengths.index(n)))
            else:
                rest.append(factor * x.sum())
        if not by_length:
            behind = needed_for_values([terms])
            long = {n for x in behind for n in lengths_of(x) if self.is_long(n)}
            raise DependentRowsError(
                f"The {kind} `{name}` expected a log density that is a sum over rows, got one in "
                f"which rows depend on each other through "
                f"{mixing([terms], self.facts, lengths=long)}. {CURE}"
            )
        found: list[Variable] = []
        for i, (n, parts) in enumerate(by_length.items()):
            part = f"{name}_{i}" if i else name
            self.terms[part] = n, partial(_sum_of_rows, parts)
            stream = self.stream(n)
            term = _sum_of_rows(parts, stream, None)
            found.append(self.as_observed(part, term, length=stream.length, n=n))
        return found + ([model_potential(added(rest), f"{name}_rest")] if rest else [])

    def as_observed(
        self, name: str, term: TensorVariable, *, length: TensorVariable, n: int
    ) -> Variable:
        """Write terms of rows, of n in all, as an observed variable with this log density.

        ``length`` is that of a batch; it must not depend on random variables.
        """
        # Without the size PyTensor would look for it in the term.
        rv = pm.CustomDist.dist(term, logp=_as_it_is, class_name="Terms", size=(length,))
        self.totals[name] = n
        return model_observed_rv(rv, pt.zeros((length,), dtype=rv.dtype), name)


def _require_no_minibatch(model: Model) -> None:
    variables = [*model.basic_RVs, *model.potentials]
    ops = {x.owner.op for x in ancestors(variables) if x.owner is not None}
    if any(isinstance(op, MinibatchOp) for op in ops):
        raise ValueError(
            "The model expected all of its data, got one with `pm.Minibatch`. Sample it as it is."
        )
    if any(isinstance(op, MinibatchRandomVariable) for op in ops):
        raise ValueError(
            "The model expected all of its data, got some of the rows with their `total_size`. "
            "Leave out `total_size`; for rows that a loader reads, pass a `step` with `data`."
        )


def lengths_of(x: Variable) -> tuple[int, ...]:
    """Return the shape of data; that of other variables is empty."""
    return np.shape(data_of(x))


def _density_of_rows(
    rv: TensorVariable, value: TensorVariable, rows: Rows, positions: Positions
) -> TensorVariable:
    """Return the log density of some rows of an observed variable."""
    rows_of_value = rows.of(value, 0, positions)
    term = log_density_of(rows.drawn(rv, 0, positions), rows_of_value)
    return term.sum(axis=tuple(range(1, term.ndim)))


def _sum_of_rows(parts: Sequence[Summand], rows: Rows, positions: Positions) -> TensorVariable:
    """Return the sum of the rows of some terms."""
    found = []
    for factor, x, axis in parts:
        term = pt.moveaxis(rows.of(x, axis, positions), axis, 0)
        found.append(factor * term.sum(axis=tuple(range(1, term.ndim))))
    return added(found)


def _as_it_is(value: TensorVariable, term: TensorVariable) -> TensorVariable:
    return term

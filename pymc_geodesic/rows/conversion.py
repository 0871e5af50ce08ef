#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The conversion of a model of all rows into a model of some rows."""

from __future__ import annotations

import warnings

from collections.abc import Iterator

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from pymc.data import MinibatchOp
from pymc.distributions.custom import CustomDistRV, CustomSymbolicDistRV
from pymc.distributions.simulator import SimulatorRV
from pymc.model import Model
from pymc.model.fgraph import (
    ModelDeterministic,
    ModelFreeRV,
    ModelNamed,
    ModelObservedRV,
    ModelPotential,
    fgraph_from_model,
    model_from_fgraph,
    model_observed_rv,
    model_potential,
)
from pymc.variational.minibatch_rv import MinibatchRandomVariable, create_minibatch_rv
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable

from pymc_geodesic.potential.initial_values import InitialValues, hidden_initial_values
from pymc_geodesic.rows.facts import Facts
from pymc_geodesic.rows.graphs import data_of, known_by_value, needed_for_values, substituted
from pymc_geodesic.rows.held_data import held_data
from pymc_geodesic.rows.refusals import CURE, DependentRowsError, mixing, require_rows
from pymc_geodesic.rows.selection import Rows
from pymc_geodesic.rows.summands import added, log_density_of, summands

__all__ = ["Conversion"]

# What these are is written by users, so that it is unknown whether rows depend on each other.
WRITTEN = CustomDistRV | CustomSymbolicDistRV | SimulatorRV


class Conversion:
    """A model whose terms are written for the rows of a batch.

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
        with hidden_initial_values(model), held_data(model) as held, warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Detected variables likely created by GP objects")
            self._graph, memo = fgraph_from_model(model)
        for data, values in held.items():
            copy = memo[data]
            copy = copy if copy.owner is None else copy.owner.inputs[0]
            copy.set_value(values, borrow=True)
        shapes = model.eval_rv_shapes()
        self._facts = Facts(
            shapes={memo[rv]: tuple(map(int, shapes[rv.name])) for rv in model.free_RVs},
            originals={
                copy: x
                for x, copy in memo.items()
                if isinstance(x, SharedVariable) and copy is not x
            },
        )
        self.streams: dict[int, Rows] = {}
        # Rows of each observed variable of a batch, and what stands for an observed one elsewhere.
        self._totals: dict[str, int] = {}
        self._values: dict[Variable, Variable] = {}
        self._outputs = [new for out in self._graph.outputs for new in self._term(out)]

    def entries_of_rows(self) -> list[tuple[str, int]]:
        """Name free variables with an entry for each row, and count these."""
        return [
            (var.owner.op.name, n)
            for n, rows in self.streams.items()
            for var, own in rows.indexed.items()
            if own and n in self._facts.shapes[var]
        ]

    def computed_from_rows(self) -> list[str]:
        """Name Deterministics for which all rows are needed at every draw."""
        found = (out for out in self._graph.outputs if isinstance(out.owner.op, ModelDeterministic))
        return [out.owner.op.name for out in found if self._is_computed_from_rows(out)]

    def model_of_batches(self) -> Model:
        """Build the model, whose rows ``pm.Minibatch`` draws."""
        if not self.streams:
            raise ValueError(
                "The model expected an observed variable or a potential with more rows than "
                f"`batch_size`={self.batch_size}, got none. {CURE}"
            )
        least = self.batch_size + 1
        outputs = substituted(self._outputs, self._facts.constants(self._outputs, least))
        require_rows(
            self.streams,
            [x.owner.inputs[0] for x in outputs if not isinstance(x.owner.op, ModelFreeRV)],
            self._facts,
        )
        outputs += list(self._others(outputs))
        replaced = self._values | self._batches(outputs)
        outputs = clone_replace(outputs, replace=replaced, rebuild_strict=False)
        graph = FunctionGraph(outputs=[self._scaled(out) for out in outputs], clone=False)
        graph._coords, graph._dim_lengths = self._graph._coords, self._graph._dim_lengths
        result = model_from_fgraph(graph, mutate_fgraph=True)
        kept = self.model.rvs_to_initial_values
        result.rvs_to_initial_values = InitialValues({result[rv.name]: kept[rv] for rv in kept})
        return result

    # Terms of the log density

    def _term(self, out: TensorVariable) -> list[Variable]:
        op = out.owner.op
        if isinstance(op, ModelFreeRV):
            return [out]
        if isinstance(op, ModelObservedRV):
            return self._observed(out)
        return self._potential(out) if isinstance(op, ModelPotential) else []

    def _is_long(self, n: int) -> bool:
        return n > self.batch_size

    def _stream(self, n: int) -> Rows:
        return self.streams.setdefault(n, Rows(self._facts, n, self.batch_size))

    def _observed(self, out: TensorVariable) -> list[Variable]:
        rv, value = out.owner.inputs
        op = out.owner.op
        lengths = [self._facts.length(value, i) for i in range(value.ndim)]
        if not any(map(self._is_long, lengths)):
            return [out]
        self._values[out] = value
        n = max(lengths)
        # Rows are drawn along the first axis; others, and what users wrote, go term by term.
        is_by_rows = lengths[0] == n and _has_independent_rows(rv.owner.op)
        if is_by_rows and rv.owner.op.ndim_supp < rv.ndim:
            rows = self._stream(n)
            # The data come first: they give the batch its length.
            rows_of_value = rows.of(value, 0)
            if (rows_of_rv := rows.drawn(rv)) is not None:
                self._totals[op.name] = n
                return [model_observed_rv(rows_of_rv, rows_of_value, op.name)]
        if isinstance(rv.owner.op, SimulatorRV):
            raise DependentRowsError(
                f"`{op.name}` expected rows that are drawn one by one, got a simulator of all rows "
                f"together. {CURE}"
            )
        return self._by_terms(op.name, log_density_of(rv, value), kind="observed variable")

    def _potential(self, out: TensorVariable) -> list[Variable]:
        [terms] = out.owner.inputs
        if not any(self._is_long(n) for x in needed_for_values([terms]) for n in _lengths(x)):
            return [out]
        return self._by_terms(out.owner.op.name, terms, kind="potential")

    def _by_terms(self, name: str, terms: TensorVariable, *, kind: str) -> list[Variable]:
        """Write a sum over rows as an observed variable whose log density is the term of a row."""
        by_length: dict[int, list[TensorVariable]] = {}
        rest: list[TensorVariable] = []
        for factor, x in summands(terms):
            lengths = [self._facts.length(x, i) for i in range(x.ndim)]
            n = max(lengths, default=1)
            if not self._is_long(n):
                rest.append(factor * x.sum())
                continue
            axis = lengths.index(n)
            rows = pt.moveaxis(self._stream(n).of(x, axis), axis, 0)
            by_length.setdefault(n, []).append(factor * rows.sum(axis=tuple(range(1, rows.ndim))))
        if not by_length:
            behind = needed_for_values([terms])
            long = {n for x in behind for n in _lengths(x) if self._is_long(n)}
            raise DependentRowsError(
                f"The {kind} `{name}` expected a log density that is a sum over rows, got one in "
                f"which rows depend on each other through "
                f"{mixing([terms], self._facts, lengths=long)}. {CURE}"
            )
        found: list[Variable] = []
        for i, (n, parts) in enumerate(by_length.items()):
            part = f"{name}_{i}" if i else name
            rv = pm.CustomDist.dist(added(parts), logp=_as_it_is, class_name="Terms")
            zeros = pt.zeros((self._stream(n).length,), dtype=rv.dtype)
            found.append(model_observed_rv(rv, zeros, part))
            self._totals[part] = n
        return found + ([model_potential(added(rest), f"{name}_rest")] if rest else [])

    # The new model

    def _batches(self, outputs: list[Variable]) -> dict[Variable, Variable]:
        """Draw the data of the rows."""
        used = set(ancestors(outputs))
        replaced: dict[Variable, Variable] = {}
        for rows in self.streams.values():
            leaves = [(leaf, data) for leaf, data in rows.leaves if leaf in used]
            batches = pm.Minibatch(*(data for _, data in leaves), batch_size=self.batch_size)
            batches = batches if len(leaves) > 1 else [batches]
            replaced |= dict(zip((leaf for leaf, _ in leaves), batches, strict=True))
        return replaced

    def _scaled(self, out: Variable) -> Variable:
        """Give an observed variable of a batch its ``total_size``."""
        op = out.owner.op
        if not isinstance(op, ModelObservedRV) or op.name not in self._totals:
            return out
        rv, value = out.owner.inputs
        return model_observed_rv(create_minibatch_rv(rv, self._totals[op.name]), value, op.name)

    def _others(self, outputs: list[Variable]) -> Iterator[Variable]:
        """Yield Deterministics and data that do not have the rows."""
        used = set(ancestors(outputs))
        for out in self._graph.outputs:
            if not isinstance(out.owner.op, ModelDeterministic | ModelNamed):
                continue
            has_rows = any(self._is_long(self._facts.length(out, i)) for i in range(out.ndim))
            if isinstance(out.owner.op, ModelNamed):
                is_kept = not has_rows or out.owner.inputs[0] in used
            else:
                is_kept = not has_rows or not self._depends_on_rows(out)
            if is_kept:
                yield out

    def _is_computed_from_rows(self, out: TensorVariable) -> bool:
        facts = self._facts
        return any(
            facts.is_random(x)
            and any(self._is_long(facts.length(x, i)) for i in range(x.ndim))
            and self._depends_on_rows(x)
            for x in known_by_value([out])
            if isinstance(x, TensorVariable) and x.owner is not None
        )

    def _depends_on_rows(self, out: TensorVariable) -> bool:
        behind = set(ancestors([out]))
        has_data = any(n in self.streams for x in behind for n in _lengths(x))
        return has_data or not behind.isdisjoint(self._values)


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


def _has_independent_rows(op: Op) -> bool:
    """Return whether rows are independent because that is how a library defines them."""
    package = type(op).__module__.split(".")[0]
    return package in ("pymc", "pytensor", "pymc_geodesic") and not isinstance(op, WRITTEN)


def _lengths(x: Variable) -> tuple[int, ...]:
    return np.shape(data_of(x))


def _as_it_is(value: TensorVariable, term: TensorVariable) -> TensorVariable:
    return term

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Chosen rows of a model that was written for all of its data, and their values at draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pymc.model import Model
from pymc.model.fgraph import ModelFreeRV, ModelNamed, ModelObservedRV, ModelVar
from pymc.variational.minibatch_rv import MinibatchRandomVariable
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.replace import clone_replace
from pytensor.graph.rewriting.basic import in2out
from pytensor.graph.traversal import io_toposort
from pytensor.tensor import TensorVariable
from pytensor.tensor.basic import infer_shape_db
from pytensor.tensor.random.op import RandomVariable
from pytensor.tensor.random.type import RandomType, random_generator_type
from pytensor.tensor.rewriting.shape import ShapeFeature

from pymc_geodesic.graph_inputs import graph_input
from pymc_geodesic.kernel.interpreted import Interpreted, with_batch_axis, write_out
from pymc_geodesic.potential.full_data import full_data
from pymc_geodesic.potential.minibatch import has_minibatch
from pymc_geodesic.potential.model_graphs import graph_of_model, renew
from pymc_geodesic.rows.facts import Facts
from pymc_geodesic.rows.graphs import needed_for_values
from pymc_geodesic.rows.selection import Rows

__all__ = [
    "ModelRows",
    "RowsAtDraws",
    "blocks",
    "flat_draws",
    "plain_values",
    "rows_of_block",
    "whole_model",
]


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


# Numbers that are processed at once: a megabyte, which stays in a processor's cache.
BLOCK = 2**17


def rows_of_block(n_draws: int, entries: int = 1) -> int:
    """Return how many rows, each with so many entries at each draw, are processed at once."""
    return max(1, BLOCK // max(1, n_draws * entries))


def blocks(n: int, size: int) -> Iterator[slice]:
    """Divide n rows into blocks."""
    return (slice(i, min(i + size, n)) for i in range(0, n, size))


def flat_draws(posterior: Any, variables: Sequence[TensorVariable]) -> dict[str, np.ndarray]:
    """Return the draws of free variables of a model, of all chains along the first axis.

    Parameters
    ----------
    posterior : Dataset
        With the dimensions ``chain`` and ``draw``.
    variables : sequence of TensorVariable
        The free variables; those without draws are left out.
    """
    found = {}
    for x in variables:
        if x.name in posterior:
            values = posterior[x.name].transpose("chain", "draw", ...).to_numpy()
            values = values.reshape(-1, *values.shape[2:])
            found[x.name] = np.ascontiguousarray(values, dtype=x.dtype)
    return found


class RowsAtDraws:
    """Graphs of rows as a function of the numbers of some rows, at all draws.

    NumPy evaluates all draws at once, and nothing is compiled. Memory is taken for one block of
    rows, whatever the number of all rows.

    Parameters
    ----------
    rows : Rows
        The rows.
    graphs : sequence of TensorVariable
        What :class:`ModelRows` has written for rows, along the first axis.
    draws : mapping of str to ndarray, shape (S, ...)
        Draws of the free variables.
    rng : Generator, optional
        Source of the random variables in the graphs, which are drawn for each draw and row.
    effects : sequence of TensorVariable
        Further inputs, which have rows along the first axis and differ between draws.

    Raises
    ------
    KeyError
        If there are no draws of a free variable, with its name.
    """

    def __init__(
        self,
        rows: Rows,
        graphs: Sequence[TensorVariable],
        draws: Mapping[str, np.ndarray],
        *,
        rng: np.random.Generator | None = None,
        effects: Sequence[TensorVariable] = (),
    ) -> None:
        self._data = [data for _, data in rows.leaves]
        leaves = [leaf for leaf, _ in rows.leaves]
        free = free_variables(graphs)
        self._draws = [draws[x.owner.op.name] for x in free]
        each = graph_input("each", dtype="float64", shape=())
        given = [
            graph_input(x.owner.op.name, dtype=x.dtype, shape=d.shape[1:])
            for x, d in zip(free, self._draws, strict=True)
        ]
        outputs = plain_values(graphs, dict(zip(free, given, strict=True)))
        given = [*effects, *given]
        self._generators: list[np.random.Generator] = []
        sources: list[Variable] = []
        if rng is not None:
            outputs, sources = _drawn_for_each(outputs, each)
            self._generators = rng.spawn(len(sources))
        # What depends on no draws is repeated for all of them.
        self._draws.append(np.zeros(len(next(iter(draws.values())))))
        self._function = _of_all_draws([*leaves, *sources], [*given, each], outputs)

    def __call__(self, rows: np.ndarray | slice, *effects: np.ndarray) -> list[np.ndarray]:
        """Evaluate the graphs for rows, given their effects; return arrays (S, rows, ...)."""
        data = [x[rows] for x in self._data]
        # A function copies its generators, so that each call needs others.
        fresh = [one.spawn(1)[0] for one in self._generators]
        return self._function([*data, *fresh], [*effects, *self._draws])


def free_variables(graphs: Sequence[TensorVariable]) -> list[TensorVariable]:
    """Return the free variables on which the values of graphs depend."""
    found = needed_for_values(graphs)
    free = [x for x in found if x.owner is not None and isinstance(x.owner.op, ModelFreeRV)]
    return sorted(free, key=lambda x: x.owner.op.name)


def _of_all_draws(
    inputs: list[Variable], varying: list[TensorVariable], outputs: list[TensorVariable]
) -> Callable[[list[Any], list[np.ndarray]], list[np.ndarray]]:
    """Return a function of inputs and of all draws; draw by draw if that is the only way."""
    try:
        function = Interpreted(*with_batch_axis([*inputs, *varying], outputs, varying=varying))
    except NotImplementedError:
        one = Interpreted([*inputs, *varying], outputs)

        def each(given: list[Any], draws: list[np.ndarray]) -> list[np.ndarray]:
            found = [one(*given, *(x[i] for x in draws)) for i in range(len(draws[0]))]
            return [np.stack(parts) for parts in zip(*found, strict=True)]

        return each
    return lambda given, draws: function(*given, *draws)


def _drawn_for_each(
    graphs: Sequence[TensorVariable], each: TensorVariable
) -> tuple[list[TensorVariable], list[Variable]]:
    """Let all random variables of graphs depend on a zero, and on generators that are inputs."""
    graph = FunctionGraph(outputs=clone_replace(list(graphs), replace={}), clone=False)
    in2out(write_out).rewrite(graph)
    # Sizes become those of inputs: otherwise they would depend on draws as their graphs do.
    graph.attach_feature(ShapeFeature())
    infer_shape_db.default_query.rewrite(graph)
    sources: dict[Variable, Variable] = {}

    def drawn(node: Any, inputs: Sequence[Variable]) -> Sequence[Variable] | None:
        if not isinstance(node.op, RandomVariable):
            return None
        generator, size, *parameters = inputs
        if generator.owner is None and isinstance(generator.type, RandomType):
            generator = sources.setdefault(generator, random_generator_type())
        if parameters:
            # Otherwise what does not depend on draws would be drawn once for all of them.
            parameters[0] = parameters[0] + each.astype(parameters[0].dtype)
        return node.op.make_node(generator, size, *parameters).outputs

    new: dict[Variable, Variable] = {}
    renew(graph.toposort(), new, drawn)
    return [new.get(out, out) for out in graph.outputs], list(sources.values())

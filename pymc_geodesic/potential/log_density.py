#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The model's log density as a graph of embedded points and rows of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytensor.tensor as pt

from pymc.logprob.basic import transformed_conditional_logp
from pymc.logprob.utils import (
    local_check_parameter_to_ninf_switch,
    local_remove_check_parameter,
    replace_rvs_by_values,
)
from pymc.model import Model
from pymc.variational.minibatch_rv import MinibatchRandomVariable
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.replace import clone_replace
from pytensor.graph.rewriting.basic import in2out
from pytensor.graph.traversal import io_toposort
from pytensor.tensor import TensorConstant, TensorVariable
from pytensor.tensor.type_other import NoneTypeT

from pymc_geodesic.distributions.base import local_remove_support_test
from pymc_geodesic.graph_inputs import graph_input, shared_number
from pymc_geodesic.potential.batch_structure import observed_rv
from pymc_geodesic.potential.centering import outside
from pymc_geodesic.potential.row_starts import local_start
from pymc_geodesic.potential.stream import Source
from pymc_geodesic.potential.variables import SampledVariable

__all__ = ["LogDensity", "without_checks"]


class LogDensity:
    """A model's random variables and potentials, rewritten for given rows of the data.

    Parameters
    ----------
    model : pymc.Model
        The model; it is not changed.
    variables : sequence of SampledVariable
        Variables to express by their position in the embedding.
    rows : dict
        For each source of minibatches, the indices of the rows to use, or the rows of a stream;
        None for all data.
    sizes : mapping, optional
        Number of rows of the whole data for each of these free variables, which belong to the rows
        of a batch.
    scaled : bool
        Whether the likelihood is scaled by ``total_size``.
    """

    def __init__(
        self,
        model: Model,
        variables: Sequence[SampledVariable],
        *,
        rows: Mapping[Source, TensorVariable | None],
        sizes: Mapping[TensorVariable, int] | None = None,
        scaled: bool = True,
    ) -> None:
        self.variables = variables
        rvs, potentials = model.basic_RVs, model.potentials
        self._embedded = _embedded_values(model, variables)
        outputs = [*rvs, *potentials, *(self._embedded[rv] for rv in rvs)]
        cloned = _with_rows(outputs, rows, scaled=scaled)
        self._sizes = dict(sizes or {})
        n = len(rvs)
        self._rvs, self._potentials, values = cloned[:n], cloned[n:-n], cloned[-n:]
        moved = {variable.rv for variable in variables if not variable.is_flat}
        self._renewed = dict(zip(rvs, self._rvs, strict=True))
        self._values = dict(zip(self._rvs, values, strict=True))
        self._transforms = {
            new: None if old in moved else model.rvs_to_transforms.get(old)
            for old, new in self._renewed.items()
        }

    def terms(self) -> list[TensorVariable]:
        """Build the log density term by term: random variables, potentials and volume terms.

        Returns
        -------
        list of TensorVariable
            Unsummed terms. Their sum is the log density with respect to the product of the
            manifolds' surface measures, up to a constant.
        """
        terms = transformed_conditional_logp(
            self._rvs, rvs_to_values=self._values, rvs_to_transforms=self._transforms
        )
        for rv, size in self._sizes.items():
            i = list(self._renewed).index(rv)
            terms[i] = terms[i] * (size / terms[i].shape[0])
        terms = self._at_positions([*terms, *self._with_values(self._potentials)])
        volumes = [variable.manifold.log_volume(variable.position) for variable in self.variables]
        moved = {v: v.coordinate.log_ratio for v in self.variables if v.coordinate is not None}
        ratios = clone_replace(
            list(moved.values()), replace=self._flat_values(), rebuild_strict=False
        )
        volumes += [-pt.broadcast_to(x, v.shape) for v, x in zip(moved, ratios, strict=True)]
        return terms + [term for term in volumes if term is not None]

    def term_of(self, rv: TensorVariable) -> TensorVariable:
        """Build the unsummed log density of one random variable, given the values of the others.

        Those of all take PyMC a second for a hundred variables.
        """
        one = self._renewed[rv]
        [given] = self._with_values([one], but=one)
        terms = transformed_conditional_logp(
            [given],
            rvs_to_values={given: self._values[one]},
            rvs_to_transforms={given: self._transforms[one]},
        )
        return self._at_positions(terms)[0]

    def start_of(self, variable: SampledVariable) -> TensorVariable | None:
        """Point to start a variable from, if the distribution of its data knows one."""
        local = observed_rv(self._renewed[variable.rv])
        for rv in self._rvs:
            start = local_start(observed_rv(rv), self._values[rv], parameter=local)
            if start is not None:
                [start] = self._at_positions(self._with_values([start]))
                return variable.embed(start)
        return None

    def _with_values(
        self, graphs: Sequence[TensorVariable], *, but: TensorVariable | None = None
    ) -> list[TensorVariable]:
        if not graphs:
            return []
        return replace_rvs_by_values(
            list(graphs),
            rvs_to_values={rv: value for rv, value in self._values.items() if rv is not but},
            rvs_to_transforms=self._transforms,
        )

    def _at_positions(self, graphs: list[TensorVariable]) -> list[TensorVariable]:
        replacements = self._flat_values() | {
            self._embedded[v.rv]: v.manifold.unembed(v.position)
            for v in self.variables
            if not v.is_flat
        }
        return clone_replace(graphs, replace=replacements, rebuild_strict=False)

    def _flat_values(self) -> dict[TensorVariable, TensorVariable]:
        """Return PyMC's values of flat variables as functions of positions."""
        flat = [v for v in self.variables if v.is_flat]
        return outside(flat, [v.position for v in flat])


def _with_rows(
    outputs: Sequence[TensorVariable],
    rows: Mapping[Source, TensorVariable | None],
    *,
    scaled: bool,
) -> list[TensorVariable]:
    """Clone graphs with given rows of the data, or all rows, instead of random batches."""
    replacements: dict[TensorVariable, TensorVariable] = {}
    for source, given in rows.items():
        replacements |= source.replacements(given)
    return _rebuilt(outputs, replacements, scaled=scaled)


def _rebuilt(
    outputs: Sequence[TensorVariable],
    replacements: dict[TensorVariable, TensorVariable],
    *,
    scaled: bool = True,
) -> list[TensorVariable]:
    """Clone graphs with some variables replaced by others, whose static shapes may differ.

    The types of the random variables contain the static shape of the batch, so that all of them
    are rebuilt. Unless ``scaled``, variables with ``total_size`` lose it.
    """
    made = dict(replacements)
    for node in io_toposort(list(replacements), outputs):
        inputs = [made.get(x, x) for x in node.inputs]
        if not scaled and isinstance(node.op, MinibatchRandomVariable):
            made[node.outputs[0]] = inputs[0]
            continue
        if all(x is y for x, y in zip(inputs, node.inputs, strict=True)):
            continue
        for old, new in zip(node.outputs, _with_inputs(node, inputs).outputs, strict=True):
            new.name = old.name
            made[old] = new
    return [made.get(output, output) for output in outputs]


def _with_inputs(node: Apply, inputs: Sequence[Variable]) -> Apply:
    if isinstance(node.op, MinibatchRandomVariable):
        return _rescaled.make_node(*inputs)
    if isinstance(node.op, OpFromGraph):
        return _with_types(node.op, inputs).make_node(*inputs)
    return node.clone_with_new_inputs(inputs, strict=False)


def _with_types(op: OpFromGraph, inputs: Sequence[Variable]) -> OpFromGraph:
    """Rebuild an op with an inner graph for inputs of other static shapes.

    The op would accept such inputs, but fix them to its own shapes.
    """
    graph = op.fgraph.unfreeze()
    pairs = zip(graph.inputs, inputs, strict=True)
    new = {x: _looser(x, y) for x, y in pairs if not x.type.is_super(y.type)}
    if not new:
        return op
    outputs = _rebuilt(graph.outputs, new)
    return op.clone_with_inner_graph(
        FunctionGraph([new.get(x, x) for x in graph.inputs], outputs, clone=False)
    )


def _looser(old: TensorVariable, new: TensorVariable) -> TensorVariable:
    """Create an input with the common static shape of both."""
    pairs = zip(old.type.shape, new.type.shape, strict=True)
    return graph_input(old.name, dtype=new.dtype, shape=[a if a == b else None for a, b in pairs])


class _Rescaled(MinibatchRandomVariable):
    """PyMC's op of variables with ``total_size``, with nodes that can be rebuilt from their inputs.

    PyMC's op does not accept the constant None that it uses for axes without a size, so a variable
    with several axes cannot be rebuilt for another batch size.
    """

    def make_node(self, rv, *total_size):
        return super().make_node(rv, *map(_as_data, total_size))


_rescaled = _Rescaled()


def _as_data(size: TensorVariable) -> TensorVariable | None:
    """Make a size an input of the compiled function, which then accepts other sizes too."""
    if isinstance(size.type, NoneTypeT):
        return None
    if not isinstance(size, TensorConstant):
        return size
    return shared_number(np.asarray(size.data), name="total_size")


def _embedded_values(model: Model, variables: Sequence[SampledVariable]) -> dict:
    """Value of every random variable, without a transform for those on a manifold."""
    values = {rv: model.rvs_to_values[rv] for rv in model.basic_RVs}
    for variable in variables:
        if not variable.is_flat:
            values[variable.rv] = variable.rv.type(name=variable.name)
    return values


def without_checks(outputs: Sequence[TensorVariable], *, impossible: bool) -> list[TensorVariable]:
    """Remove parameter checks from log densities.

    With ``impossible`` a failed check gives a log density of minus infinity, as in PyMC's own
    compiled functions. Otherwise the checks disappear, for graphs whose gradient is taken. Tests of
    the support of this package's distributions are removed too, because positions never leave their
    manifolds.
    """
    rewriter = local_check_parameter_to_ninf_switch if impossible else local_remove_check_parameter
    outputs = clone_replace(list(outputs), replace={})
    graph = FunctionGraph(outputs=outputs, clone=False)
    in2out(rewriter, local_remove_support_test).rewrite(graph)
    return list(graph.outputs)

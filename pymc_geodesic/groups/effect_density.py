#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The log density of each group as a function of its effect, as a graph of its own.

PyMC rewrites whatever depends on a random variable without a value, as an effect is that is
integrated out. So the density is written when the likelihood is made, with an input for the effect.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import pytensor.tensor as pt

from pymc.distributions.distribution import support_point
from pymc.logprob.abstract import _logprob_helper
from pymc.logprob.utils import CheckParameterValue
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.rewriting.utils import rewrite_graph
from pytensor.graph.traversal import ancestors, applys_between, io_toposort
from pytensor.tensor import TensorType, TensorVariable, tensor
from pytensor.tensor.shape import Shape_i

from pymc_geodesic.graph_inputs import graph_input
from pymc_geodesic.groups.likelihood import over_all_places, row_sums
from pymc_geodesic.potential.log_density import without_checks

__all__ = [
    "EffectDensity",
    "conditions_of",
    "frontier",
    "substituted",
    "with_length_of",
    "write_density",
]


def substituted(graphs: Sequence[Variable], new: Mapping[Variable, Variable]) -> list[Variable]:
    """Replace variables in graphs; nodes that do not depend on them are not copied.

    PyTensor's ``clone_replace`` copies all nodes, including those of the replacements: repeated
    replacements take exponentially long, and random variables of a model are no longer the same.
    Its ``graph_replace`` keeps the types of nodes, and with them the static shapes of one batch.
    """
    made = dict(new)
    for node in io_toposort(list(new), graphs):
        if made.keys().isdisjoint(node.inputs):
            continue
        inputs = [made.get(x, x) for x in node.inputs]
        made |= zip(
            node.outputs, node.clone_with_new_inputs(inputs, strict=False).outputs, strict=True
        )
    return [made.get(graph, graph) for graph in graphs]


def frontier(graphs: Sequence[Variable], inner: Collection[Variable]) -> list[Variable]:
    """List the variables on which graphs depend besides inner ones, as late as possible.

    No variable in the list depends on an inner variable or is computed from constants alone. Each
    is one of the graphs, or an input of a node that depends on an inner variable.
    """
    inside, constant = set(inner), set()
    found: dict[Variable, None] = {}
    for node in io_toposort(list(inner), graphs):
        outer = [x for x in node.inputs if not (x in constant or isinstance(x, Constant))]
        if not outer:
            constant.update(node.outputs)
        elif not inside.isdisjoint(outer):
            # Nodes are in order, so that whatever is not inside by now never will be.
            found |= dict.fromkeys(x for x in outer if x not in inside)
            inside.update(node.outputs)
    known = inside | constant
    found |= dict.fromkeys(x for x in graphs if not (x in known or isinstance(x, Constant)))
    return list(found)


def with_length_of(
    start: TensorVariable, graphs: Sequence[TensorVariable], variables: Sequence[TensorVariable]
) -> list[TensorVariable]:
    """Simplify functions of variables, and take the length of their first axis from ``start``.

    Where such graphs are substituted in one another, PyTensor looks for the length of each array in
    all that came before, time and again. Ten Newton steps took it a minute.
    """
    outer = frontier(graphs, variables)
    inputs = [x.type() for x in outer]
    alone = substituted(graphs, dict(zip(outer, inputs, strict=True)))
    simple = rewrite_graph(alone, include=("ShapeOpt", "canonicalize"), clone=False)
    lengths = [
        node.outputs[0]
        for node in applys_between([*variables, *inputs], simple)
        if isinstance(node.op, Shape_i) and node.op.i == 0 and node.inputs[0] in variables
    ]
    new = dict.fromkeys(lengths, start.shape[0])
    return substituted(simple, new | dict(zip(inputs, outer, strict=True)))


class EffectDensity(NamedTuple):
    """The log density of the effect and the rows of each group.

    Attributes
    ----------
    effect : TensorVariable, shape (B, d)
        Input for the effects.
    value : TensorVariable, shape (B, L)
        Input for the observed rows.
    parameters : tuple of Variable
        Inputs for everything else.
    joint, prior : TensorVariable, shape (B,)
        Log density of effect and rows, and of the effect alone; both without parameter checks.
    start : TensorVariable, shape (B, d)
        Effects that their distribution makes likely, where the search for modes begins.
    conditions : tuple of TensorVariable
        The conditions of these checks, at an effect of zero.
    """

    effect: TensorVariable
    value: TensorVariable
    parameters: tuple[Variable, ...]
    joint: TensorVariable
    prior: TensorVariable
    start: TensorVariable
    conditions: tuple[TensorVariable, ...]

    def at(self, value: TensorVariable, parameters: Sequence[Variable]) -> EffectDensity:
        """Return the same for other values and parameters, whose static shapes may differ."""
        new = dict(zip((self.value, *self.parameters), (value, *parameters), strict=True))
        graphs = [self.joint, self.prior, self.start, *self.conditions]
        joint, prior, start, *conditions = substituted(graphs, new)
        return self._replace(
            value=value,
            parameters=tuple(parameters),
            joint=joint,
            prior=prior,
            start=start,
            conditions=tuple(conditions),
        )


def write_density(
    rows: TensorVariable,
    effect: TensorVariable,
    mask: TensorVariable,
    *,
    parameters: Sequence[Variable],
) -> EffectDensity:
    """Write the log density of groups for distributions of their rows and effects.

    Parameters
    ----------
    rows, effect, mask : TensorVariable
        As for :class:`~pymc_geodesic.groups.MarginalLikelihood`.
    parameters : sequence of Variable
        What they depend on, with the mask; there will be an input for each.
    """
    d = 1 if effect.ndim == 1 else effect.type.shape[-1]
    point = tensor("effect", dtype=effect.dtype, shape=(None, d))
    value = tensor("value", dtype=rows.dtype, shape=(None, None))
    values = point[:, 0] if effect.ndim == 1 else point
    # Graphs hold static shapes, which another batch does not have, as constants.
    sizes = [dist.owner.op.size_param(dist.owner) for dist in (rows, effect)]
    inputs = [x.type() if x in sizes else _of_any_length(x) for x in parameters]
    new = dict(zip(parameters, inputs, strict=True))
    given, here = substituted([rows, mask], new | {effect: values})
    [own] = substituted([effect], new)
    # Unlike `pm.logp`, this does not require the static shape of the distribution.
    prior = _logprob_helper(own, values)
    prior = prior if prior.ndim == 1 else prior.sum(axis=-1)
    graphs = [row_sums(over_all_places(given, here), here, value) + prior, prior]
    zero = pt.zeros((value.shape[0], d), dtype=point.dtype)
    checks = substituted(conditions_of(graphs), {point: zero})
    joint, prior, *conditions = without_checks([*graphs, *checks], impossible=False)
    likely = support_point(own)
    start = zero + (likely[:, None] if likely.ndim == 1 else likely)
    return EffectDensity(point, value, tuple(inputs), joint, prior, start, tuple(conditions))


def _of_any_length(variable: Variable) -> Variable:
    """Return an input of the same type, whose axes may have other lengths unless they are one."""
    if not isinstance(variable.type, TensorType):
        return variable.type()
    shape = [1 if n == 1 else None for n in variable.type.shape]
    return graph_input(variable.name, dtype=variable.type.dtype, shape=shape)


def conditions_of(graphs: Sequence[TensorVariable]) -> list[TensorVariable]:
    """Find what parameter checks ask for."""
    return [
        pt.as_tensor(condition)
        for variable in ancestors(graphs)
        if variable.owner is not None and isinstance(variable.owner.op, CheckParameterValue)
        for condition in variable.owner.inputs[1:]
    ]

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The terms of a log density, as small graphs, and those that belong to rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import pytensor.tensor as pt

from pytensor.configdefaults import config
from pytensor.graph.basic import Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.replace import clone_replace, vectorize_graph
from pytensor.graph.rewriting.basic import MergeOptimizer, in2out
from pytensor.graph.rewriting.utils import rewrite_graph
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable, vector
from pytensor.tensor.rewriting.basic import constant_folding

from pymc_geodesic.manifolds import Point
from pymc_geodesic.potential.lifted_data import lift_data
from pymc_geodesic.potential.local import averaged_over_draws, find_expectations
from pymc_geodesic.potential.minibatch import BatchSource
from pymc_geodesic.potential.per_group import per_group
from pymc_geodesic.potential.stacking import FEWEST, Stacking
from pymc_geodesic.potential.stream import Source
from pymc_geodesic.potential.variables import SampledVariable

__all__ = [
    "for_each_row",
    "sum_of_each_row",
    "times_factors",
    "total",
    "with_stacked_scalars",
    "without_latents",
]


def without_latents(
    terms: list[TensorVariable],
    local: Sequence[SampledVariable],
    *,
    rows: Mapping[TensorVariable, Source],
) -> tuple[list[TensorVariable], list[TensorVariable], Point]:
    """Write terms of the log density with inputs in place of latent variables of the rows.

    Returns
    -------
    terms : list of TensorVariable
        The terms.
    expectations : list of TensorVariable
        Expectations that are estimated for each batch.
    latents : tuple of TensorVariable
        Inputs for the draws of the local variables, then for the expectations.
    """
    terms, draws = averaged_over_draws(terms, local)
    expectations = find_expectations(terms)
    resident = [source for source in rows.values() if isinstance(source, BatchSource)]
    of_any_length = [x for source in resident for x in source.tensors]
    lifted = lift_data([*terms, *expectations], of_any_length=of_any_length)
    terms, expectations = lifted[: len(terms)], lifted[len(terms) :]
    means = {expectation: expectation.type() for expectation in expectations}
    terms = clone_replace(terms, replace=means, rebuild_strict=False)
    batches = {x: source.placeholder("batch", source.batch_size) for x, source in rows.items()}
    return per_group(terms, batches=batches), expectations, (*draws, *means.values())


def with_stacked_scalars(
    terms: Sequence[TensorVariable],
    scalars: Sequence[TensorVariable],
    rows: Sequence[TensorVariable],
) -> list[TensorVariable]:
    """Write what terms repeat for each of many scalars as operations on one vector.

    Differentiating, rewriting and interpreting a graph takes as long as it has operations.

    Parameters
    ----------
    terms : sequence of TensorVariable
        The terms, without checks.
    scalars : sequence of TensorVariable
        Placeholders of all scalar variables.
    rows : sequence of TensorVariable
        Inputs with the rows of each source.

    Returns
    -------
    list of TensorVariable
        Terms with the same sum: one for each set of ``rows`` on which terms depend. The same terms
        if there are few scalars.
    """
    if len(scalars) < FEWEST:
        return list(terms)
    stack = vector("scalars", dtype=scalars[0].dtype, shape=(len(scalars),))
    entries = {scalar: stack[i] for i, scalar in enumerate(scalars)}
    totals = clone_replace(_totals(terms, rows), replace=entries, rebuild_strict=False)
    graph = FunctionGraph(outputs=totals, clone=False)
    # Operations are recognized as similar if they share what does not differ.
    MergeOptimizer().rewrite(graph)
    with config.change_flags(cxx=""):
        in2out(constant_folding).rewrite(graph)
    MergeOptimizer().rewrite(graph)
    Stacking().rewrite(graph)
    together = {stack: pt.stack(list(scalars))}
    return clone_replace(list(graph.outputs), replace=together, rebuild_strict=False)


def _totals(
    terms: Sequence[TensorVariable], rows: Sequence[TensorVariable]
) -> list[TensorVariable]:
    """Add the terms that depend on the same rows."""
    groups: dict[frozenset[Variable], list[TensorVariable]] = {}
    for term in terms:
        groups.setdefault(frozenset(rows).intersection(ancestors([term])), []).append(term)
    return [total(group) for group in groups.values()]


def total(terms: Sequence[TensorVariable]) -> TensorVariable:
    """Sum all entries of all terms."""
    sums = [term.sum() if term.ndim else term for term in terms]
    return pt.add(*sums) if len(sums) > 1 else sums[0]


def times_factors(
    terms: Sequence[TensorVariable], rows: TensorVariable, factors: TensorVariable
) -> list[TensorVariable]:
    """Multiply what belongs to each row by the factor of the row."""
    return [
        term * factors[rows].astype(term.dtype).dimshuffle(0, *("x",) * (term.ndim - 1))
        if rows in ancestors([term])
        else term
        for term in terms
    ]


def sum_of_each_row(terms: Sequence[TensorVariable], rows: TensorVariable) -> TensorVariable | None:
    """Return the sum of what belongs to each row; None if terms are sums over rows already."""
    found = [term for term in terms if rows in ancestors([term])]
    if not found or not all(term.ndim for term in found):
        return None
    return reduce(pt.add, [term.sum(axis=tuple(range(1, term.ndim))) for term in found])


def for_each_row(
    gradient: TensorVariable, one_row: TensorVariable, rows: TensorVariable
) -> TensorVariable:
    """Return the gradient of each row separately, even if it is the same for all rows.

    Parameters
    ----------
    gradient : TensorVariable
        The gradient of one row.
    one_row, rows : TensorVariable
        Input of which the gradient is a function, and rows to take in its place.

    Returns
    -------
    TensorVariable
        With a first axis for the rows.
    """
    if one_row in ancestors([gradient]):
        # Shapes that depend on a row's number, as those of repeated parameters of a mixture, are
        # not constants for JAX when rows are put side by side. Rewritten they are.
        gradient = rewrite_graph(gradient, include=("ShapeOpt", "canonicalize"))
        return vectorize_graph(gradient, {one_row: rows[:, None]})
    return pt.broadcast_to(gradient, (rows.shape[0], *gradient.shape))

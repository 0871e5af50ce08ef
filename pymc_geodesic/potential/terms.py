#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The terms of a log density, written so that their sum and its gradient are small graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytensor.tensor as pt

from pytensor.configdefaults import config
from pytensor.graph.basic import Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.replace import clone_replace
from pytensor.graph.rewriting.basic import MergeOptimizer, in2out
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable, vector
from pytensor.tensor.rewriting.basic import constant_folding

from pymc_geodesic.manifolds import Point
from pymc_geodesic.potential.expectation import find_expectations
from pymc_geodesic.potential.lifted_data import lift_data
from pymc_geodesic.potential.local import averaged_over_draws
from pymc_geodesic.potential.minibatch import BatchSource
from pymc_geodesic.potential.per_group import per_group
from pymc_geodesic.potential.stacking import FEWEST, Stacking
from pymc_geodesic.potential.stream import Source
from pymc_geodesic.potential.variables import SampledVariable

__all__ = ["total", "with_stacked_scalars", "without_latents"]


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

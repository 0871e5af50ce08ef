#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The terms of a log density that belong to rows, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import pytensor.tensor as pt

from pytensor.graph.replace import vectorize_graph
from pytensor.graph.rewriting.utils import rewrite_graph
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable

__all__ = ["for_each_row", "sum_of_each_row", "times_factors"]


def times_factors(
    terms: Sequence[TensorVariable], rows: TensorVariable, factors: TensorVariable
) -> list[TensorVariable]:
    """Multiply what belongs to each row by the factor of the row."""
    return [
        term * _along_first(factors[rows].astype(term.dtype), term)
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


def _along_first(factors: TensorVariable, term: TensorVariable) -> TensorVariable:
    return factors.dimshuffle(0, *("x",) * (term.ndim - 1))

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Parameter checks of log densities row by row, for rows with separate Metropolis tests.

PyMC checks parameters once for all rows. A single row with a diverging trajectory, for instance to
a scale of zero, would make the log densities of all rows -inf, and all rows would be rejected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytensor.tensor as pt

from pymc.logprob.utils import CheckParameterValue
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.replace import clone_replace
from pytensor.graph.rewriting.basic import dfs_rewriter, node_rewriter
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable
from pytensor.tensor.basic import Join, MakeVector, ScalarFromTensor, TensorFromScalar
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.math import All

__all__ = ["with_checks_of_rows"]


def with_checks_of_rows(
    terms: Sequence[TensorVariable], own: Sequence[TensorVariable], *, n_rows: int
) -> list[TensorVariable]:
    """Turn failed parameter checks into log densities of minus infinity of the rows that failed.

    Parameters
    ----------
    terms : sequence of TensorVariable
        Log densities whose first axis is the row.
    own : sequence of TensorVariable
        Variables of the rows. Checks that involve none of them apply to all rows.
    n_rows : int
        Number of rows.
    """
    outputs = clone_replace(list(terms), replace={})
    graph = FunctionGraph(outputs=outputs, clone=False)

    @node_rewriter([CheckParameterValue])
    def by_rows(fgraph, node):
        if not node.op.can_be_replaced_by_ninf:
            return None
        density, *conditions = node.inputs
        for condition in _parts(conditions):
            met = _of_rows(condition, density, own, n_rows=n_rows)
            density = pt.switch(met, density, np.asarray(-np.inf, dtype=density.dtype))
        return [density]

    dfs_rewriter(by_rows).rewrite(graph)
    return list(graph.outputs)


def _parts(conditions: Sequence[TensorVariable]) -> Iterator[TensorVariable]:
    """Split a conjunction into the arrays whose entries must all be true."""
    for condition in conditions:
        node = condition.owner
        if node is None:
            yield condition
        elif isinstance(node.op, MakeVector):
            yield from _parts(node.inputs)
        elif isinstance(node.op, Join):
            yield from _parts(node.inputs[1:])
        elif isinstance(node.op, All | ScalarFromTensor | TensorFromScalar) or (
            isinstance(node.op, DimShuffle) and node.inputs[0].type.ndim == 0
        ):
            yield from _parts(node.inputs)
        else:
            yield condition


def _of_rows(
    condition: TensorVariable,
    density: TensorVariable,
    own: Sequence[TensorVariable],
    *,
    n_rows: int,
) -> TensorVariable:
    """Reduce a condition to one truth value per row, or to one for all rows."""
    condition = pt.as_tensor_variable(condition)
    depends = not set(own).isdisjoint(ancestors([condition]))
    has_rows = condition.ndim >= max(density.ndim, 1) and condition.type.shape[0] in (None, n_rows)
    if not (depends and has_rows):
        return pt.all(condition)
    met = pt.all(condition, axis=tuple(range(1, condition.ndim)))
    return met[(..., *[None] * (density.ndim - 1))]

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The groups of rows that share an effect: ``effects[group]``."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable
from pytensor.tensor.subtensor import AdvancedSubtensor

__all__ = ["groups_of_rows"]


def groups_of_rows(
    terms: Sequence[TensorVariable],
    rows: TensorVariable,
    positions: Collection[TensorVariable],
) -> list[TensorVariable]:
    """Return the indices by which each row takes entries of parameters.

    Parameters
    ----------
    terms : sequence of TensorVariable
        Terms of a log density.
    rows : TensorVariable
        The rows of a batch.
    positions : collection of TensorVariable
        The parameters.

    Returns
    -------
    list of TensorVariable
        Functions of ``rows`` alone, with one whole number for each row.
    """
    found = []
    for node in {x.owner: None for x in ancestors(list(terms))}:
        if node is None or not isinstance(node.op, AdvancedSubtensor):
            continue
        array, *given = node.inputs
        behind = set(ancestors([array]))
        if rows in behind or behind.isdisjoint(positions):
            continue
        for index in given:
            of_index = set(ancestors([index]))
            is_whole = index.type.ndim == 1 and index.type.dtype.startswith(("int", "uint"))
            if is_whole and rows in of_index and of_index.isdisjoint(positions):
                found.append(index)
    return list(dict.fromkeys(found))

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Rows of data that are taken before a function is called, instead of by the function.

Consecutive rows, such as those of a pass over all data, are then not copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Apply, Constant
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import apply_ancestors
from pytensor.tensor import TensorVariable, tensor
from pytensor.tensor.subtensor import AdvancedSubtensor

__all__ = ["Gathered", "gathered"]


@dataclass(frozen=True)
class Gathered:
    """Rows of one array of the data.

    Attributes
    ----------
    data : TensorVariable
        The array: a constant or a shared variable.
    source : int
        Index of the source of batches that determines the rows.
    placeholder : TensorVariable
        Input that replaces them in the graph.
    """

    data: TensorVariable
    source: int
    placeholder: TensorVariable

    def rows(self, rows: Sequence[np.ndarray]) -> np.ndarray:
        """Return the rows of several calls, stacked along a first axis."""
        data = self.data
        array = data.data if isinstance(data, Constant) else data.get_value(borrow=True)
        first, n = rows[0][0], len(rows[0])
        if len(rows) == 1 and np.array_equal(rows[0], np.arange(first, first + n)):
            return array[None, first : first + n]
        return array[np.stack(rows)]


def gathered(
    outputs: Sequence[TensorVariable], rows: Sequence[TensorVariable]
) -> tuple[list[TensorVariable], list[Gathered]]:
    """Replace the rows that a graph takes from its data by inputs.

    Parameters
    ----------
    outputs : sequence of TensorVariable
        The graph.
    rows : sequence of TensorVariable
        Inputs with the indices of rows, one for each source of batches.
    """
    found: dict[tuple[TensorVariable, ...], Gathered] = {}
    replace: dict[TensorVariable, TensorVariable] = {}
    for node in apply_ancestors(outputs):
        if not _takes_rows(node) or node.inputs[1] not in rows:
            continue
        [taken], [data, index] = node.outputs, node.inputs
        placeholder = tensor("taken", dtype=taken.dtype, shape=taken.type.shape)
        # Energy and gradient use the same rows.
        one = found.setdefault((data, index), Gathered(data, rows.index(index), placeholder))
        replace[taken] = one.placeholder
    return clone_replace(list(outputs), replace=replace), list(found.values())


def _takes_rows(node: Apply) -> bool:
    is_subtensor = isinstance(node.op, AdvancedSubtensor) and node.op.idx_list == (0,)
    return is_subtensor and isinstance(node.inputs[0], Constant | SharedVariable)

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Some rows of a variable, from a graph of all rows.

``Rows.of(x, axis)`` is ``x[..., rows, ...]`` written so that nothing else is computed. The index
moves from an operation to its inputs until it meets data, of which only rows are taken, or a random
variable, which is indexed. Each rule is an identity, so the result is right whatever the graph.
Where no rule is known the index stays, and all rows are computed (``Rows.whole``).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch
from typing import Any

import numpy as np
import pytensor.tensor as pt

from pymc.model.fgraph import ModelFreeRV
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply, Variable
from pytensor.tensor import TensorVariable
from pytensor.tensor.basic import AllocEmpty

from pymc_geodesic.data_checks.indices import Index, require_codes
from pymc_geodesic.graph_inputs import call_data
from pymc_geodesic.rows.facts import Facts
from pymc_geodesic.rows.graphs import name_of, name_of_data

__all__ = ["Positions", "Rows", "rule"]

# Data that are computed from data are stored for all rows, unless they would take more than this.
STORED_BYTES = 2e9

Positions = np.ndarray | None
"""Where each row is found along an axis; None if the axis is that of the rows."""


@singledispatch
def rule(
    op: Any, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    """Return rows of an output of an operation; None if that needs all rows.

    Parameters
    ----------
    op : Op
        The operation.
    rows : Rows
        The rows of its inputs.
    var : TensorVariable
        One of its outputs.
    axis : int
        The axis of the rows.
    positions : ndarray, optional
        Where they are found along it.
    """
    return None


class Rows:
    """The rows of a batch, of every variable that is asked for.

    Parameters
    ----------
    facts : Facts
        Values and lengths.
    n_rows, batch_size : int
        Rows of the data and of a batch.
    local : mapping, optional
        What stands for the rows of free variables that are not sampled.

    Attributes
    ----------
    leaves : list of (TensorVariable, ndarray)
        Placeholders of the data of a batch, and the data of all rows.
    whole : list of (TensorVariable, str)
        Variables that are computed for all rows, because the operation of that name has no rule.
    indexed : dict of TensorVariable to list of (int, ndarray)
        Free variables that are indexed by rows: along which axis, and the entry of each row, which
        is negative if the row has none.
    """

    def __init__(
        self,
        facts: Facts,
        n_rows: int,
        batch_size: int,
        *,
        local: Mapping[Variable, TensorVariable] | None = None,
    ) -> None:
        self.facts, self.n_rows, self.batch_size = facts, n_rows, batch_size
        self.local = {} if local is None else local
        self.leaves: list[tuple[TensorVariable, np.ndarray]] = []
        self.whole: list[tuple[TensorVariable, str]] = []
        self.indexed: dict[TensorVariable, list[tuple[int, np.ndarray]]] = {}
        self._made: dict[tuple[Variable, int, int], TensorVariable] = {}
        self._positions: dict[int, Positions] = {}  # keeps ids unique

    # What rules use

    def of(self, var: TensorVariable, axis: int, positions: Positions = None) -> TensorVariable:
        """Rows of a variable along an axis; the variable itself if all rows share it."""
        if var.type.broadcastable[axis]:
            return var
        key = (var, axis, id(positions))
        if key not in self._made:
            self._positions[id(positions)] = positions
            self._made[key] = self._of(var, axis, positions)
        return self._made[key]

    def _of(self, var: TensorVariable, axis: int, positions: Positions) -> TensorVariable:
        is_random = self.facts.is_random(var)
        if var.owner is not None and isinstance(var.owner.op, AllocEmpty):
            return self.filled(var, pt.constant(0, dtype=var.dtype), axis)
        if not is_random and (var.owner is None or self._is_stored(var)):
            return self._stored(var, axis, positions)
        if is_random and isinstance(var.owner.op, ModelFreeRV):
            if var in self.local:
                return self.local[var]
            self.indexed.setdefault(var, []).append((axis, self.at(positions)))
            return self.index(var, axis, positions)
        if (found := rule(var.owner.op, self, var, axis, positions)) is not None:
            return found
        if not is_random:
            return self._stored(var, axis, positions)
        self.whole.append((var, name_of(var.owner.op)))
        return self.index(var, axis, positions)

    def _stored(self, var: TensorVariable, axis: int, positions: Positions) -> TensorVariable:
        """Rows of data, which messages call what the user has called them."""
        before = len(self.leaves)
        found = self.leaf(self.facts.array(var), axis, positions)
        if len(self.leaves) > before:
            call_data(self.leaves[-1][0], name_of_data(var))
        return found

    def leaf(self, array: np.ndarray, axis: int = 0, positions: Positions = None) -> TensorVariable:
        """Return a placeholder for rows of data."""
        if np.shape(array)[axis] == 1 and self.n_rows != 1:
            return pt.constant(array)
        array = np.moveaxis(array, axis, 0)
        array = array if positions is None else array[positions]
        if len(array) != self.n_rows:
            raise RuntimeError(f"{len(array)} rows of data instead of {self.n_rows}.")
        found = next((leaf for leaf, other in self.leaves if _are_same(other, array)), None)
        if found is None:
            shape = (self.batch_size, *array.shape[1:])
            found = self.facts.placeholder(f"rows_{len(self.leaves)}", str(array.dtype), shape)
            call_data(found, None)
            self.leaves.append((found, array))
        return pt.moveaxis(found, 0, axis) if axis else found

    def index(self, var: TensorVariable, axis: int, positions: Positions) -> TensorVariable:
        """Rows of a variable that is known for all rows."""
        # Rows that have no entry do not use the first, which stands for it.
        rows = np.maximum(self.at(positions), 0)
        return var[(*[slice(None)] * axis, self.leaf(rows.astype("int64")))]

    def known_index(
        self, x: TensorVariable, axis: int, index: TensorVariable, positions: Positions
    ) -> np.ndarray:
        """Return which entries along an axis of a variable rows have, by an index that is data."""
        at = self.facts.array(index).reshape(-1)
        n = self.facts.length(x, axis)
        require_codes(Index(index, x, axis), at, n, name=name_of_data(index))
        return np.where(at < 0, at + n, at)[self.at(positions)]

    def index_of(
        self, x: TensorVariable, axis: int, index: TensorVariable, along: int, positions: Positions
    ) -> TensorVariable:
        """Rows, along an axis of the index, of an index of an axis of a variable."""
        return self.of(index, along, positions)

    @property
    def length(self) -> TensorVariable:
        """Number of rows of a batch, as part of a graph."""
        if not self.leaves:
            self.leaf(np.arange(self.n_rows))
        return self.leaves[0][0].shape[0]

    def _is_stored(self, var: TensorVariable) -> bool:
        others = [self.facts.length(var, i) for i in range(1, var.ndim)]
        return self.n_rows * np.prod(others, initial=8.0) <= STORED_BYTES

    def each(self, node: Apply, axis: int, positions: Positions) -> list[TensorVariable]:
        """Rows of all inputs, which have the same axes as the output."""
        return [self.of(x, axis, positions) for x in node.inputs]

    def drawn(
        self, rv: TensorVariable, axis: int = 0, positions: Positions = None
    ) -> TensorVariable | None:
        """Rows of a random variable that is not part of the model."""
        return rule(rv.owner.op, self, rv, axis, positions)

    def filled(self, var: TensorVariable, value: TensorVariable, axis: int) -> TensorVariable:
        """Fill an array of the shape of a variable, with the rows of a batch along an axis."""
        shape: list = [self.facts.length(var, i) for i in range(var.ndim)]
        shape[axis] = self.length
        return pt.alloc(value, *shape)

    def at(self, positions: Positions) -> np.ndarray:
        """Return the position of each row."""
        return np.arange(self.n_rows) if positions is None else positions

    def inlined(
        self, op: OpFromGraph, var: TensorVariable, axis: int, positions: Positions
    ) -> TensorVariable | None:
        """Take rows of the graph inside an operation."""
        inner = op.fgraph.bind(list(var.owner.inputs))[var.owner.outputs.index(var)]
        return self.only_rows(inner, axis, positions)

    def only_rows(
        self, x: TensorVariable, axis: int, positions: Positions
    ) -> TensorVariable | None:
        """Rows of a variable if no operation needs all of them."""
        n_whole, n_made = len(self.whole), set(self._made)
        rows = self.of(x, axis, positions)
        if len(self.whole) == n_whole:
            return rows
        del self.whole[n_whole:]
        for key in set(self._made) - n_made:
            del self._made[key]
        return None


def _are_same(array: np.ndarray, other: np.ndarray) -> bool:
    if array is other:
        return True
    is_alike = (array.shape, array.dtype) == (other.shape, other.dtype)
    return is_alike and np.array_equal(array, other)

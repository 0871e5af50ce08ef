#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Rules of operations that choose, join, reshape or replace entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt

from pymc.model.fgraph import ModelFreeRV
from pytensor.graph.basic import Apply, Variable
from pytensor.tensor import TensorVariable
from pytensor.tensor.basic import Alloc, Join, Split
from pytensor.tensor.shape import Reshape, SpecifyShape
from pytensor.tensor.subtensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    IncSubtensor,
    Subtensor,
    indices_from_subtensor,
)
from pytensor.tensor.type_other import NoneTypeT

from pymc_geodesic.rows.selection import Positions, Rows, rule

__all__: list[str] = []

# Entries of a row that are computed one after another; graphs grow with them.
MOST_STACKED = 50


@rule.register
def _join(
    op: Join, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    if axis != op.axis:
        return op(*rows.each(var.owner, axis, positions))
    parts = var.owner.inputs
    ends = np.cumsum([rows.facts.length(x, axis) for x in parts])
    at = rows.at(positions)
    part = np.searchsorted(ends, at, side="right")
    result = None
    for i, x in enumerate(parts):
        within = np.where(part == i, at - (ends[i - 1] if i else 0), 0)
        taken = rows.of(x, axis, within)
        here = pt.moveaxis(pt.shape_padright(rows.leaf(part == i), var.ndim - 1), 0, axis)
        result = taken if result is None else pt.switch(here, taken, result)
    return result


@rule.register
def _split(
    op: Split, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    x, sizes = var.owner.inputs
    if axis != op.axis:
        node = op.make_node(rows.of(x, axis, positions), sizes)
        return node.outputs[var.owner.outputs.index(var)]
    first = rows.facts.array(sizes)[: var.owner.outputs.index(var)].sum()
    return rows.of(x, axis, first + rows.at(positions))


@rule.register
def _alloc(
    op: Alloc, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    value, *_ = var.owner.inputs
    before = var.ndim - value.ndim
    if axis >= before:
        value = rows.of(value, axis - before, positions)
    return rows.filled(var, value, axis)


@rule.register
def _specify_shape(
    op: SpecifyShape, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    x, *shape = var.owner.inputs
    shape = [None if isinstance(n.type, NoneTypeT) else n for n in shape]
    shape[axis] = None
    return pt.specify_shape(rows.of(x, axis, positions), shape)


@rule.register
def _reshape(
    op: Reshape, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    x = var.owner.inputs[0]
    new = [rows.facts.length(var, i) for i in range(var.ndim)]
    old = [rows.facts.length(x, i) for i in range(x.ndim)]
    for i, n in enumerate(old):
        # What comes before the rows, and what comes after, is reshaped by itself.
        before, after = np.prod(old[:i]), np.prod(old[i + 1 :])
        if n == new[axis] and (before, after) == (np.prod(new[:axis]), np.prod(new[axis + 1 :])):
            shape = [*new[:axis], rows.length, *new[axis + 1 :]]
            return rows.of(x, i, positions).reshape(shape)
    if new[axis + 1 :] == old[len(old) - len(new) + axis + 1 :] and axis == 0:
        # The first axes become one: take rows of the longest, and in these the entry.
        lead = old[: len(old) - len(new) + 1]
        at = np.unravel_index(rows.at(positions) % np.prod(lead), lead)
        long = int(np.argmax(lead))
        taken = pt.moveaxis(rows.of(x, long, at[long]), long, 0)
        others = [rows.leaf(p) for i, p in enumerate(at) if i != long]
        return taken[(pt.arange(rows.length), *others)]
    width, left = divmod(old[0], new[0])
    if (
        axis == 0
        and not left
        and width <= MOST_STACKED
        and new[len(new) - len(old) + 1 :] == old[1:]
    ):
        # The first axis becomes several, as in a product with data of three axes.
        first = width * rows.at(positions)
        parts = [rows.of(x, 0, first + i) for i in range(width)]
        return pt.stack(parts, axis=1).reshape((rows.length, *new[1:]))
    return None


@rule.register
def _subtensor(
    op: Subtensor, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    x, *rest = var.owner.inputs
    indices = _indices(rows, var.owner, rest)
    kept = [i for i, entry in enumerate(indices) if isinstance(entry, slice)]
    return _of_slice(rows, x, indices, kept[axis], positions)


@rule.register
def _advanced_subtensor(
    op: AdvancedSubtensor, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    x, *rest = var.owner.inputs
    indices = _indices(rows, var.owner, rest)
    if any(not isinstance(i, slice) and i.dtype == "bool" for i in indices):
        return None
    arrays = [i for i, entry in enumerate(indices) if not isinstance(entry, slice)]
    n_axes = max(indices[i].ndim for i in arrays)
    first = arrays[0] if arrays == list(range(arrays[0], arrays[-1] + 1)) else 0
    if not first <= axis < first + n_axes:
        slices = [i for i, entry in enumerate(indices) if isinstance(entry, slice)]
        kept = slices[axis if axis < first else axis - n_axes]
        return _of_slice(rows, x, indices, kept, positions)
    inner = axis - first
    new = list(indices)
    if (long := _long_axis(rows, x, indices, arrays, n_axes, inner)) is not None:
        at = rows.known_index(x, long, indices[long], positions)
        taken = rows.only_rows(x, long, at)
        if taken is not None:
            if len(arrays) == n_axes == 1:
                return taken
            x, new[long] = taken, pt.shape_padright(pt.arange(rows.length), n_axes - inner - 1)
    for i in arrays:
        at = indices[i].ndim - n_axes + inner
        if at >= 0 and new[i] is indices[i]:
            new[i] = rows.index_of(x, i, indices[i], at, positions)
    return x[tuple(new)]


@rule.register
def _inc_subtensor(
    op: IncSubtensor, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    x, y, *rest = var.owner.inputs
    indices = _indices(rows, var.owner, rest)
    if not _is_full(indices[axis]):
        return None
    kept = [i for i, entry in enumerate(indices) if isinstance(entry, slice)]
    here = kept.index(axis) - len(kept) + y.ndim
    y = y if here < 0 else rows.of(y, here, positions)
    place = rows.of(x, axis, positions)[tuple(indices)]
    return pt.set_subtensor(place, y) if op.set_instead_of_inc else pt.inc_subtensor(place, y)


@rule.register
def _advanced_inc_subtensor(
    op: AdvancedIncSubtensor, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    x, y, *rest = var.owner.inputs
    indices = _indices(rows, var.owner, rest)
    arrays = [entry for entry in indices if not _is_full(entry)]
    known = all(
        isinstance(entry, Variable) and entry.ndim == 1 and not rows.facts.is_random(entry)
        for entry in indices[: len(arrays)]
    )
    if axis != 0 or not op.set_instead_of_inc or not known:
        return None
    # For each entry of the first axes, the place of its value in y.
    where = np.full([rows.facts.length(x, i) for i in range(len(arrays))], -1)
    where[tuple(map(rows.facts.array, arrays))] = np.arange(rows.facts.length(arrays[0], 0))
    where = where[rows.at(positions)]
    if np.all(where < 0):
        return rows.of(x, 0, positions)
    # The first value stands for those of other rows, which are not used.
    new, place = y, where
    if y.ndim > x.ndim - len(arrays) and not y.type.broadcastable[0]:
        if len(arrays) == 1:
            new = rows.of(y, 0, place)
            if np.all(where >= 0):
                return new
        elif rows.facts.is_random(y):
            new = y[rows.leaf(np.maximum(place, 0))]
        else:
            new = rows.leaf(rows.facts.array(y)[place])
    is_new = pt.shape_padright(rows.leaf(where >= 0), var.ndim - where.ndim)
    return pt.switch(is_new, new, rows.of(x, 0, positions))


def _long_axis(
    rows: Rows, x: TensorVariable, indices: Sequence, arrays: Sequence[int], n_axes: int, inner: int
) -> int | None:
    """Find an axis of a variable that is cheaper to index before the variable is computed."""
    if x.owner is None or not rows.facts.is_random(x):
        return None
    if isinstance(x.owner.op, ModelFreeRV) and sum(indices[i].ndim > 0 for i in arrays) > 1:
        return None
    for i in arrays:
        entry = indices[i]
        own = inner - n_axes + entry.ndim  # the axis of the rows, and no other
        alone = [not b for b in entry.type.broadcastable] == [j == own for j in range(entry.ndim)]
        is_known = own >= 0 and alone and not rows.facts.is_random(entry)
        if is_known and rows.facts.length(x, i) > rows.batch_size:
            return i
    return None


def _indices(rows: Rows, node: Apply, index_inputs: Sequence[Variable]) -> list:
    """Return an index for each axis of the indexed variable; masks become positions."""
    indices: list = []
    for entry in indices_from_subtensor(index_inputs, node.op.idx_list):
        is_mask = not isinstance(entry, slice) and getattr(entry, "dtype", None) == "bool"
        if is_mask and not rows.facts.is_random(entry):
            indices += [pt.constant(i) for i in np.nonzero(rows.facts.array(entry))]
        else:
            indices.append(entry)
    return indices + [slice(None)] * (node.inputs[0].ndim - len(indices))


def _of_slice(
    rows: Rows, x: TensorVariable, indices: Sequence[Any], axis: int, positions: Positions
) -> TensorVariable | None:
    """Rows of an indexed variable, along an axis that has a slice."""
    entry = indices[axis]
    ends = [entry.start, entry.stop, entry.step]
    if any(isinstance(e, Variable) and rows.facts.is_random(e) for e in ends):
        return None
    if not _is_full(entry):
        ends = [int(rows.facts.array(e)) if isinstance(e, Variable) else e for e in ends]
        positions = np.arange(rows.facts.length(x, axis))[slice(*ends)][rows.at(positions)]
    new = list(indices)
    new[axis] = slice(None)
    return rows.of(x, axis, positions)[tuple(new)]


def _is_full(entry: Any) -> bool:
    """Return whether an index takes all entries."""
    return isinstance(entry, slice) and entry == slice(None)

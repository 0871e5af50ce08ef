#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The rows of each group as one row of a matrix, which is built on demand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytensor.tensor as pt

from pytensor.tensor import TensorVariable

from pymc_geodesic.potential.packed import Packed

__all__ = [
    "PackedColumn",
    "PackedGroups",
    "PackedMask",
    "has_empty_places",
    "pack_column",
    "pack_mask",
    "widened",
]


class PackedGroups(Packed):
    """Something with a row per group and a place for each row of the longest group.

    The first input holds the starts of the groups, and the end of the last one.

    Parameters
    ----------
    width : int
        Places of a row.
    """

    def __init__(self, *args, width: int, **kwargs) -> None:
        self.width = width
        super().__init__(*args, **kwargs)


class PackedColumn(PackedGroups):
    """A column of a table, whose rows are sorted by group; the last row of a group fills its row.

    What fills the places is of the same kind as the rest, so that it is never outside the support
    of a distribution; :class:`PackedMask` says where it is.
    """

    def take(self, inputs: Sequence[TensorVariable], rows: TensorVariable) -> TensorVariable:
        """Build the rows of some groups."""
        starts, values = inputs
        return _values(starts, values, rows, width=self.width)


class PackedMask(PackedGroups):
    """Which places of a row hold a row of the table."""

    def take(self, inputs: Sequence[TensorVariable], rows: TensorVariable) -> TensorVariable:
        """Build the rows of some groups."""
        [starts] = inputs
        return _present(starts, rows, width=self.width)


def _lengths(starts: TensorVariable, rows: TensorVariable) -> tuple[TensorVariable, TensorVariable]:
    return starts[rows], starts[rows + 1] - starts[rows]


def _values(
    starts: TensorVariable, values: TensorVariable, rows: TensorVariable, *, width: int
) -> TensorVariable:
    first, length = _lengths(starts, rows)
    places = pt.minimum(pt.arange(width)[None, :], length[:, None] - 1)
    return values[first[:, None] + places]


def _present(starts: TensorVariable, rows: TensorVariable, *, width: int) -> TensorVariable:
    _, length = _lengths(starts, rows)
    return pt.arange(width)[None, :] < length[:, None]


def _all_groups(starts: TensorVariable) -> TensorVariable:
    return pt.arange(starts.shape[0] - 1)


def _known_shape(packed: TensorVariable, starts: TensorVariable, width: int) -> TensorVariable:
    n = starts.type.shape[0]
    shape = (None if n is None else n - 1, width, *packed.type.shape[2:])
    return pt.specify_shape(packed, shape)


def pack_column(starts: TensorVariable, values: TensorVariable, *, width: int) -> TensorVariable:
    """Build the packed rows of a column, by an op of which the rows of a batch can be taken.

    Parameters
    ----------
    starts : TensorVariable of int, shape (G + 1,)
        Start of each group in the column, and the end of the last group.
    values : TensorVariable, shape (n, ...)
        The column, one group after the other.
    width : int
        Number L of rows of the longest group, or more.

    Returns
    -------
    TensorVariable, shape (G, L, ...)
    """
    begin, column = starts.type(), values.type()
    output = _values(begin, column, _all_groups(begin), width=width)
    output = _known_shape(output, starts, width)
    return PackedColumn([begin, column], [output], width=width)(starts, values)


def pack_mask(starts: TensorVariable, *, width: int) -> TensorVariable:
    """Build the mask that belongs to :func:`pack_column`, of shape (G, L)."""
    begin = starts.type()
    output = _present(begin, _all_groups(begin), width=width)
    output = _known_shape(output, starts, width)
    return PackedMask([begin], [output], width=width)(starts)


def widened(packed: TensorVariable, *, by: int) -> TensorVariable:
    """Give the rows of packed groups more places; other data stay as they are."""
    node = packed.owner
    if node is None or not isinstance(node.op, PackedGroups):
        return packed
    pack = pack_column if isinstance(node.op, PackedColumn) else pack_mask
    return pack(*node.inputs, width=node.op.width + by)


def has_empty_places(packed: TensorVariable) -> bool:
    """Whether data are packed groups some of which have fewer rows than there are places."""
    node = packed.owner
    if node is None or not isinstance(node.op, PackedGroups):
        return False
    return bool(np.diff(node.inputs[0].get_value(borrow=True)).min() < node.op.width)

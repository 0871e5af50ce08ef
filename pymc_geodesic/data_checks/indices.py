#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A check that indices, such as codes of categories, lie within the length of what they index.

NumPy, PyTensor and JAX take the last entry for an index of -1, which is pandas' code of a missing
category, and JAX takes it for an index that is too large.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from pymc.model import Model
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.rewriting.utils import rewrite_graph
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable
from pytensor.tensor.random.type import RandomType
from pytensor.tensor.subtensor import AdvancedIncSubtensor, AdvancedSubtensor

from pymc_geodesic.data_checks.row_density import (
    NoRowDensity,
    RowDensity,
    with_shared_constants,
)
from pymc_geodesic.kernel.interpreted_once import interpreted_once
from pymc_geodesic.potential.minibatch import BatchSource, described, model_outputs

__all__ = ["RowIndices", "indices_of", "named", "require_fixed_indices"]

# Rows whose indices are compared at once, in a processor's cache, and the rows that are shown.
CHUNK, SHOWN = 10_000, 3


class Index(NamedTuple):
    """An array of indices, and what it indexes.

    Attributes
    ----------
    variable : TensorVariable
        The indices.
    array : TensorVariable
        What they index.
    axis : int
        The axis of ``array``.
    """

    variable: TensorVariable
    array: TensorVariable
    axis: int


def indices_of(graphs: Sequence[Variable]) -> Iterator[Index]:
    """Find the arrays of indices in graphs; masks have become indices of their true entries."""
    for found in ancestors(list(graphs)):
        node = found.owner
        if node is None or not isinstance(node.op, AdvancedSubtensor | AdvancedIncSubtensor):
            continue
        given = node.inputs[1:] if isinstance(node.op, AdvancedSubtensor) else node.inputs[2:]
        for axis, entry in enumerate(node.op.idx_list):
            if isinstance(entry, int) and given[entry].type.dtype.startswith(("int", "uint")):
                yield Index(given[entry], node.inputs[0], axis)


def _is_data(variable: Variable, rows: Variable | None = None) -> bool:
    """Return whether a variable depends on data alone: constants, ``pm.Data`` and rows of them."""
    return all(
        x is rows
        or isinstance(x, Constant)
        or (isinstance(x, SharedVariable) and not isinstance(x.type, RandomType))
        for x in ancestors([variable])
        if x.owner is None
    )


def _length(index: Index) -> int | None:
    """Return the length that indices must be below, or None if it depends on parameters."""
    static = index.array.type.shape[index.axis]
    if static is not None:
        return int(static)
    length = rewrite_graph(index.array.shape[index.axis], include=("ShapeOpt", "canonicalize"))
    if not _is_data(length):
        return None
    return int(interpreted_once([], with_shared_constants([length]))()[0])


class RowIndices:
    """The indices in the log density of some rows that depend on the data of the row.

    Functions are built on first use and are not pickled.

    Parameters
    ----------
    density : RowDensity
        Log density of the rows that a variable observes.
    """

    def __init__(self, density: RowDensity) -> None:
        self.density = density
        self._found: list[tuple[Index, int | None]] | None = None
        self._function: Any = None

    def __getstate__(self) -> dict[str, Any]:
        """Drop the functions, because functions interpreted by PyTensor cannot be pickled."""
        return self.__dict__ | {"_found": None, "_function": None}

    def require_in_range(self) -> None:
        """Check all rows of data in memory.

        Raises
        ------
        ValueError
            If an index is negative, or not below the length of what it indexes.
        """
        n_rows = self.density.source.n_rows
        for first in range(0, n_rows, CHUNK):
            if bad := self.problem(np.arange(first, min(first + CHUNK, n_rows)), first):
                raise ValueError(bad)

    def problem(self, rows: np.ndarray, first: int) -> str | None:
        """Return what is wrong with the indices of some rows, or None.

        Parameters
        ----------
        rows : ndarray
            Numbers of rows, or rows of a stream.
        first : int
            Number of the first row.
        """
        for (index, length), values in zip(*self._evaluated(rows), strict=True):
            if not values.size or (values.min() >= 0 and (length is None or values.max() < length)):
                continue
            is_bad = (values < 0) | (values >= (np.inf if length is None else length))
            what = f"observed variable `{self.density.name}`"
            where = self._name(index)
            # Indices of several rows together, such as all places of a batch, have no row.
            if len(values) == len(rows):
                bad_rows = np.flatnonzero(is_bad.reshape(len(rows), -1).any(axis=1))
                listed = ", ".join(str(first + i) for i in bad_rows[:SHOWN])
                where += f" (row{'s' if len(bad_rows) > 1 else ''} {listed}"
                where += ", and others)" if len(bad_rows) > SHOWN else ")"
            return _sentence(what, index, length, values[is_bad], where=where)
        return None

    def _evaluated(self, rows: np.ndarray) -> tuple[list[tuple[Index, int | None]], list]:
        if self._found is None:
            self._found = self._find()
        if not self._found:
            return [], []
        return self._found, self._function(rows)

    def _find(self) -> list[tuple[Index, int | None]]:
        if not self.density.has_density:
            return []
        try:
            rows, term = self.density.graph
        except NoRowDensity:
            return []
        found = [
            index
            for index in indices_of([term])
            # The rows themselves take the data of the batch.
            if index.variable is not rows
            and rows in ancestors([index.variable])
            and _is_data(index.variable, rows)
        ]
        if found:
            outputs = with_shared_constants([index.variable for index in found])
            self._function = interpreted_once([rows], outputs)
        return [(index, _length(index)) for index in found]

    def _name(self, index: Index) -> str:
        """Name the data that an index comes from."""
        source, above = self.density.source, set(ancestors([index.variable]))
        if not isinstance(source, BatchSource):
            return f"`{source.name}`"
        places = [i for i, x in enumerate(source.tensors) if x in above]
        names = [described(source.tensors[i], i) for i in places]
        in_call = "" if all(name.startswith("`") for name in names) else " of `pm.Minibatch`"
        return f"{' and '.join(names)}{in_call}"


def require_fixed_indices(model: Model) -> None:
    """Check the arrays of indices in a model that are the same for all batches.

    A negative index is refused in codes, which repeat. In other arrays, such as those that shift
    entries around a circle, it is meant to count from the end.

    Raises
    ------
    ValueError
        If an index is not below the length of what it indexes, or codes are negative.
    """
    for index in indices_of(model_outputs(model)):
        data = index.variable
        if not isinstance(data, Constant | SharedVariable) or isinstance(data.type, RandomType):
            continue
        values = data.data if isinstance(data, Constant) else data.get_value(borrow=True)
        values = np.asarray(values)
        if values.ndim == 0 or not values.size:
            continue
        length = _length(index)
        is_bad = values >= (np.inf if length is None else length)
        if values.min() < -(length or np.inf):
            is_bad |= values < -(length or np.inf)
        elif values.min() < 0 <= values.max() and len(np.unique(values)) < values.size:
            is_bad |= values < 0
        if is_bad.any():
            where = f"`{data.name}`" if data.name else f"an array of shape {values.shape}"
            raise ValueError(_sentence("model", index, length, values[is_bad], where=where))


def _sentence(what: str, index: Index, length: int | None, bad: np.ndarray, *, where: str) -> str:
    """State what was expected and got, and what to do."""
    axis = f"axis {index.axis} of " if index.array.type.ndim > 1 else ""
    least = "of 0 or more" if length is None else f"from 0 to {length - 1}"
    got = " and ".join(str(x) for x in sorted({int(bad.min()), int(bad.max())}))
    text = (
        f"The {what} expected indices of {axis}{named(index.array)} {least}, got {got} in {where}."
    )
    if bad.min() >= 0:
        return f"{text} Count codes from 0, as pandas' `cat.codes` do, or give each code an entry."
    return (
        f"{text} An index of -1 takes the last entry, and pandas gives -1 to a missing category. "
        "Drop such rows, or give them a category of their own. To count from the end, pass "
        f"`index % {'length' if length is None else length}`."
    )


def named(array: Variable) -> str:
    """Name an array by itself, or by the nearest variables that it is computed from."""
    names: dict[str, None] = {}
    level: list[Variable] = [array]
    while level and not names:
        names = {x.name: None for x in level if x.name and not isinstance(x, Constant)}
        level = [x for y in level if y.owner is not None for x in y.owner.inputs]
    return " and ".join(f"`{name}`" for name in names) or "an array"

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A check that indices, such as codes of categories, lie within the length of what they index.

NumPy, PyTensor and JAX take the last entry for an index of -1, which is pandas' code of a missing
category, and JAX takes it for an index that is too large.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
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
    Point,
    RowDensity,
    with_shared_constants,
)
from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.potential.minibatch import BatchSource, described, model_outputs

__all__ = [
    "Index",
    "RowIndices",
    "indices_of",
    "named",
    "require_codes",
    "require_fixed_indices",
]

# Number of rows shown in a message.
SHOWN = 3


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


def _is_data(variable: Variable, *, given: Collection[Variable] = ()) -> bool:
    """Return whether a variable depends on data and ``given`` variables alone."""
    return all(
        x in given
        or isinstance(x, Constant)
        or (isinstance(x, SharedVariable) and not isinstance(x.type, RandomType))
        for x in ancestors([variable])
        if x.owner is None
    )


def _length(
    index: Index, values: Sequence[TensorVariable] = (), point: Point | None = None
) -> int | None:
    """Return the length that indices must be below, or None if it is not the same for all rows.

    It may depend on the shapes of ``values`` at a point.
    """
    static = index.array.type.shape[index.axis]
    if static is not None:
        return int(static)
    length = rewrite_graph(index.array.shape[index.axis], include=("ShapeOpt", "canonicalize"))
    if not _is_data(length, given=values):
        return None
    found = Interpreted(values, with_shared_constants([length]))
    at = {} if point is None else point
    return int(found(*(np.asarray(at[v.name], dtype=v.dtype) for v in values))[0])


class RowIndices:
    """The indices in the log density of some rows that depend on the data of the row.

    Functions are built on first use and are not pickled.

    Parameters
    ----------
    density : RowDensity
        Log density of the rows that a variable observes.
    point : mapping
        Values of the free variables, whose shapes are used.
    """

    def __init__(self, density: RowDensity, point: Point) -> None:
        self.density, self._point = density, point
        self._found: list[tuple[Index, int | None]] | None = None
        self._function: Any = None

    def __getstate__(self) -> dict[str, Any]:
        """Drop the functions, which are made anew."""
        return self.__dict__ | {"_found": None, "_function": None}

    def require_in_range(self) -> None:
        """Check all rows of data in memory.

        Raises
        ------
        ValueError
            If an index is negative, or not below the length of what it indexes.
        """
        for rows in self.density.chunks():
            if bad := self.problem(rows, first=int(rows[0])):
                raise ValueError(bad)

    def problem(self, rows: np.ndarray, *, first: int) -> str | None:
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
            and _is_data(index.variable, given=[rows])
        ]
        if found:
            outputs = with_shared_constants([index.variable for index in found])
            self._function = Interpreted([rows], outputs)
        values = self.density.model.value_vars
        return [(index, _length(index, values, self._point)) for index in found]

    def _name(self, index: Index) -> str:
        """Name the data that an index comes from."""
        source, above = self.density.source, set(ancestors([index.variable]))
        if not isinstance(source, BatchSource):
            return f"`{source.name}`"
        # Of packed data only the rows of a batch are built, from the inputs of all rows.
        made_of = {
            i: {x} if x in above or x.owner is None else set(x.owner.inputs)
            for i, x in enumerate(source.tensors)
        }
        found = {i: data for i, data in made_of.items() if data <= above}
        # Masks are made of the sizes of groups, as all columns are.
        places = [i for i, data in found.items() if not any(data < y for y in found.values())]
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
        require_codes(index, np.asarray(values), _length(index), name=data.name)


def require_codes(
    index: Index, values: np.ndarray, length: int | None, *, name: str | None
) -> None:
    """Check the values of an array of indices; see :func:`require_fixed_indices`.

    Parameters
    ----------
    index : Index
        The array, and what it indexes.
    values : ndarray
        Its values.
    length : int, optional
        What they must be below.
    name : str, optional
        What users call them.
    """
    if values.ndim == 0 or not values.size:
        return
    is_bad = values >= (np.inf if length is None else length)
    if values.min() < -(length or np.inf):
        is_bad |= values < -(length or np.inf)
    elif values.min() < 0 <= values.max() and len(np.unique(values)) < values.size:
        is_bad |= values < 0
    if is_bad.any():
        where = f"`{name}`" if name else f"an array of shape {values.shape}"
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

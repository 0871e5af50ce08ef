#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Free variables with an entry for each row."""

from __future__ import annotations

import math

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pymc.distributions.custom import CustomDistRV, CustomSymbolicDistRV
from pymc.distributions.simulator import SimulatorRV
from pymc.model.fgraph import ModelFreeRV
from pytensor.graph.basic import Variable
from pytensor.graph.op import Op
from pytensor.tensor import TensorVariable

from pymc_geodesic.groups.modes import MOST_DIMENSIONS
from pymc_geodesic.rows.facts import Facts
from pymc_geodesic.rows.graphs import needed_for_values
from pymc_geodesic.rows.selection import Rows

__all__ = ["Local", "depends_on", "find_local", "has_independent_rows", "is_without_effect"]

# What these are is written by users, so that it is unknown whether rows depend on each other.
WRITTEN = CustomDistRV | CustomSymbolicDistRV | SimulatorRV


class Local(NamedTuple):
    """Free variables of the same rows, which are integrated out together.

    Attributes
    ----------
    variables : tuple of TensorVariable
        The variables.
    axes : tuple of int
        The axis of each that has an entry for each row.
    sizes : tuple of int
        Real numbers in an entry of each.
    positions : tuple of ndarray of int, shape (n,)
        The entry of each in each row; negative for rows that have none.
    """

    variables: tuple[TensorVariable, ...]
    axes: tuple[int, ...]
    sizes: tuple[int, ...]
    positions: tuple[np.ndarray, ...]

    @property
    def has_entry(self) -> np.ndarray:
        """Whether each row has an entry of some variable."""
        return np.any(np.asarray(self.positions) >= 0, axis=0)

    @property
    def names(self) -> list[str]:
        """Names of the variables."""
        return [x.owner.op.name for x in self.variables]


def has_independent_rows(op: Op) -> bool:
    """Return whether rows are independent because that is how a library defines them."""
    package = type(op).__module__.split(".")[0]
    return package in ("pymc", "pytensor", "pymc_geodesic") and not isinstance(op, WRITTEN)


def is_without_effect(
    var: TensorVariable, outputs: Sequence[Variable], shape: Sequence[int], batch_size: int
) -> bool:
    """Return whether all else in a model is the same if a variable is integrated out.

    So are values that are missing among many observed ones, as long as nothing depends on them.
    Variables of fewer entries than a batch are kept; discrete ones cannot be.
    """
    is_kept = var.dtype.startswith("float") and math.prod(shape) <= batch_size
    return not is_kept and not any(depends_on(x, [var]) for x in outputs)


def find_local(
    streams: Mapping[int, Rows],
    outputs: Sequence[Variable],
    facts: Facts,
    *,
    rows_of: Mapping[Variable, int],
    value_shapes: Mapping[str, tuple[int, ...]],
    kept: Collection[str],
) -> Iterator[tuple[int, Local]]:
    """Find the variables that can be integrated out, and the number of rows that they concern.

    Parameters
    ----------
    streams : mapping
        The rows of a batch, by the number of all rows.
    outputs : sequence of Variable
        The model, written for the rows of a batch.
    facts : Facts
        Shapes.
    rows_of : mapping
        The number of all rows of each output that is written for rows of a batch.
    value_shapes : mapping
        Shapes of PyMC's values, by their names.
    kept : collection of str
        Names of variables that are not to be integrated out.
    """
    for n, rows in streams.items():
        found = [
            local
            for var, places in rows.indexed.items()
            if var.owner.op.name not in kept
            and (local := _candidate(var, places, n, facts, value_shapes)) is not None
        ]
        found.sort(key=lambda local: -facts.shapes[local.variables[0]][local.axes[0]])
        together = None
        for local in found:
            joined = local if together is None else _joined(together, local)
            if joined is not None and _is_alone(joined, n, streams, outputs, rows_of):
                together = joined
        if together is not None:
            yield n, together


def _candidate(
    var: TensorVariable,
    places: Sequence[tuple[int, np.ndarray]],
    n: int,
    facts: Facts,
    value_shapes: Mapping[str, tuple[int, ...]],
) -> Local | None:
    """Return a variable by itself, if its entries are independent, many, and of few numbers."""
    (axis, positions), *others = places
    if any(i != axis or not np.array_equal(at, positions) for i, at in others):
        return None
    rv, value, *_ = var.owner.inputs
    op, n_entries = rv.owner.op, facts.shapes[var][axis]
    if not var.dtype.startswith("float") or not has_independent_rows(op):
        return None
    if axis >= getattr(op, "batch_ndim", lambda node: 0)(rv.owner):
        return None
    shape = value_shapes[value.name]
    size = int(math.prod(shape) // n_entries)
    if size > MOST_DIMENSIONS or shape[axis] != n_entries:
        return None
    with_entry = positions[positions >= 0]
    has_own = len(with_entry) <= n_entries and len(np.unique(with_entry)) == len(with_entry)
    if not has_own:
        return None
    return Local((var,), (axis,), (size,), (positions,))


def _joined(local: Local, other: Local) -> Local | None:
    if sum((*local.sizes, *other.sizes)) > MOST_DIMENSIONS:
        return None
    return Local(
        local.variables + other.variables,
        local.axes + other.axes,
        local.sizes + other.sizes,
        local.positions + other.positions,
    )


def _is_alone(
    local: Local,
    n: int,
    streams: Mapping[int, Rows],
    outputs: Sequence[Variable],
    rows_of: Mapping[Variable, int],
) -> bool:
    """Return whether only the terms of the rows depend on the variables, entry by entry."""
    own = set(local.variables)
    if any(var in own for m, rows in streams.items() if m != n for var in rows.indexed):
        return False
    if any(depends_on(x, local.variables) for rows in streams.values() for x, _ in rows.whole):
        return False
    others = [x for x in outputs if x not in own and rows_of.get(x) != n]
    return not any(depends_on(x, local.variables) for x in others)


def depends_on(output: Variable, variables: Sequence[Variable]) -> bool:
    """Return whether a term of a model, or the prior of a free variable, depends on variables."""
    is_free = output.owner is not None and isinstance(output.owner.op, ModelFreeRV)
    behind = needed_for_values([output.owner.inputs[0] if is_free else output])
    return not behind.isdisjoint(variables)

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Data as shared variables of the graphs that are compiled."""

from __future__ import annotations

import math

from collections.abc import Collection, Sequence

import numpy as np
import pytensor
import pytensor.tensor as pt

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors, apply_ancestors, io_toposort
from pytensor.tensor import TensorConstant, TensorVariable
from pytensor.tensor.random.type import RandomType
from pytensor.tensor.shape import Shape, Shape_i
from pytensor.tensor.subtensor import AdvancedSubtensor

from pymc_geodesic.graph_inputs import LARGE_CONSTANT, evaluated, is_constant, is_number

__all__ = ["lift_data"]


def lift_data(
    outputs: Sequence[TensorVariable],
    *,
    of_any_length: Collection[TensorVariable] = (),
) -> list[TensorVariable]:
    """Replace data by shared variables of known shape, which ``pm.set_data`` does not change.

    JAX copies a large constant many times. Data of a few entries, which may be shapes, become
    constants, and constants that determine shapes stay constants. Data ``of_any_length``, if only
    rows of them are used, have no known length: the compiled function accepts others too. What is
    computed from data alone and has fewer entries, such as a mean or eigenvalues, is computed here.
    """
    free = {x for x in of_any_length if _only_rows_are_taken(outputs, x)}
    replacements = _summaries(outputs, free)
    for variable in ancestors(list(outputs), blockers=replacements):
        if variable not in replacements and _is_data(variable):
            any_length = variable in free
            if isinstance(variable, SharedVariable):
                replacements[variable] = _copied(variable, any_length=any_length)
            elif isinstance(variable, TensorConstant) and not _is_small(variable.data):
                replacements[variable] = _lifted(
                    variable.data, name=variable.name, any_length=any_length
                )
    return clone_replace(list(outputs), replace=replacements, rebuild_strict=False)


def _summaries(
    outputs: Sequence[TensorVariable], free: Collection[TensorVariable]
) -> dict[Variable, Variable]:
    """Compute what depends on nothing but large data, of which it has fewer entries."""
    sizes: dict[Variable, int] = {}
    ends: dict[Variable, None] = dict.fromkeys(outputs)
    for node in io_toposort([], list(outputs)):
        sizes |= {x: _size(x) for x in node.inputs if _is_data(x) and x not in free}
        if sizes.keys() >= set(node.inputs):
            is_shape = isinstance(node.op, Shape | Shape_i)
            largest = 0 if is_shape else max((sizes[x] for x in node.inputs), default=0)
            sizes |= dict.fromkeys(node.outputs, largest)
        else:
            ends |= dict.fromkeys(node.inputs)
    found = [x for x in ends if x.owner and sizes.get(x, 0) > LARGE_CONSTANT]
    values = {x: evaluated(x) for x in found if _entries(x) < sizes[x]}
    return {x: _lifted(value) for x, value in values.items() if value.size < sizes[x]}


def _is_data(x: Variable) -> bool:
    if isinstance(x, SharedVariable):
        return not isinstance(x.type, RandomType) and not is_number(x)
    return isinstance(x, Constant)


def _size(x: Variable) -> int:
    data = x.get_value(borrow=True) if isinstance(x, SharedVariable) else x.data
    return int(getattr(data, "size", 1))


def _entries(x: Variable) -> int:
    """Return how many entries an array has at least."""
    return math.prod(1 if n is None else n for n in getattr(x.type, "shape", ()))


def _only_rows_are_taken(outputs: Sequence[TensorVariable], data: TensorVariable) -> bool:
    """Return whether graphs use data for nothing but ``data[rows]``, whatever its length."""
    users = [node for node in apply_ancestors(outputs) if data in node.inputs]
    return all(
        isinstance(node.op, AdvancedSubtensor)
        and node.op.idx_list == (0,)
        and node.inputs.index(data) == 0
        for node in users
    )


def _copied(variable: SharedVariable, *, any_length: bool) -> Variable:
    value = variable.get_value(borrow=True)
    is_kept = is_constant(variable) or _is_small(value)
    value = value if is_kept else value.copy()
    return _lifted(value, name=variable.name, any_length=any_length)


def _lifted(
    value: np.ndarray, *, name: str | None = None, any_length: bool = False
) -> TensorVariable:
    if _is_small(value):
        return pt.constant(value, name=name)
    shape = (None, *value.shape[1:]) if any_length else value.shape
    return pytensor.shared(value, name=name, shape=shape, borrow=True)


def _is_small(data: np.ndarray) -> bool:
    """Whether data may be a constant: short data, or a mask, whose entries determine a shape."""
    return data.size <= LARGE_CONSTANT or data.dtype == bool

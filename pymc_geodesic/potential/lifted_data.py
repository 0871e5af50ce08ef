#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Data as shared variables of the graphs that are compiled."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pytensor
import pytensor.tensor as pt

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors, apply_ancestors
from pytensor.tensor import TensorConstant, TensorVariable
from pytensor.tensor.random.type import RandomType
from pytensor.tensor.subtensor import AdvancedSubtensor

from pymc_geodesic.graph_inputs import LARGE_CONSTANT, is_constant, is_number

__all__ = ["lift_data"]


def lift_data(
    outputs: Sequence[TensorVariable],
    *,
    of_any_length: Collection[TensorVariable] = (),
) -> list[TensorVariable]:
    """Replace data by shared variables of known shape, which ``pm.set_data`` does not change.

    JAX copies a large constant many times. Data of a few entries, which may be shapes, become
    constants, and constants that determine shapes stay constants. Data ``of_any_length``, if only
    rows of them are used, have no known length: the compiled function accepts others too.
    """
    replacements = {}
    free = {x for x in of_any_length if _only_rows_are_taken(outputs, x)}
    for variable in ancestors(list(outputs)):
        if isinstance(variable, SharedVariable):
            if not isinstance(variable.type, RandomType) and not is_number(variable):
                replacements[variable] = _copied(variable, any_length=variable in free)
        elif isinstance(variable, TensorConstant) and not _is_small(variable.data):
            shape = _shape(variable.data, any_length=variable in free)
            replacements[variable] = pytensor.shared(
                variable.data, name=variable.name, shape=shape, borrow=True
            )
    return clone_replace(list(outputs), replace=replacements, rebuild_strict=False)


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
    if _is_small(value):
        return pt.constant(value, name=variable.name)
    value = value if is_constant(variable) else value.copy()
    shape = _shape(value, any_length=any_length)
    return pytensor.shared(value, name=variable.name, shape=shape, borrow=True)


def _shape(data: np.ndarray, *, any_length: bool) -> tuple[int | None, ...]:
    return (None, *data.shape[1:]) if any_length else data.shape


def _is_small(data: np.ndarray) -> bool:
    """Whether data may be a constant: short data, or a mask, whose entries determine a shape."""
    return data.size <= LARGE_CONSTANT or data.dtype == bool

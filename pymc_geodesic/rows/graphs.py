#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Graphs rebuilt on other variables, and what stands behind a variable."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc.data import MinibatchOp
from pymc.model.fgraph import ModelFreeRV, ModelObservedRV
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import io_toposort
from pytensor.tensor.shape import Shape, Shape_i

from pymc_geodesic.potential.model_graphs import renew

__all__ = [
    "data_of",
    "inputs_for_free",
    "known_by_value",
    "name_of",
    "name_of_data",
    "needed_for_values",
    "substituted",
]


def known_by_value(variables: Sequence[Variable]) -> set[Variable]:
    """Return all variables behind others, but not what observed variables are drawn from."""
    return _behind(variables, ends=(ModelFreeRV, ModelObservedRV))


def substituted(outputs: Sequence[Variable], new: dict[Variable, Variable]) -> list[Variable]:
    """Rebuild graphs on other inputs, without copies of these."""
    new = dict(new)
    renew(io_toposort(list(new), outputs), new, lambda node, inputs: None)
    return [new.get(out, out) for out in outputs]


def inputs_for_free(outputs: Sequence[Variable]) -> dict[Variable, Variable]:
    """Return inputs for the free variables behind others, which PyMC and rewrites would copy."""
    found = needed_for_values(outputs)
    free = [x for x in found if x.owner is not None and isinstance(x.owner.op, ModelFreeRV)]
    return {x: x.type(name=x.name) for x in free}


def data_of(x: Variable) -> np.ndarray | float:
    """Return the data of a constant or a shared variable, or a scalar."""
    if isinstance(x, Constant):
        return x.data
    return x.get_value(borrow=True) if isinstance(x, SharedVariable) else 0.0


def name_of(op) -> str:
    """Return a name of an operation, for messages."""
    inner = getattr(op, "core_op", op)
    return getattr(inner, "name", None) or type(inner).__name__


def name_of_data(x: Variable) -> str | None:
    """Return the name of the only data from which a variable is computed, if there is one."""
    found = {y.name for y in known_by_value([x]) if y.owner is None and y.name}
    return found.pop() if len(found) == 1 else None


def needed_for_values(variables: Sequence[Variable]) -> set[Variable]:
    """Return what the values of variables depend on, without shapes and priors."""
    return _behind(variables, ends=(Shape, Shape_i, ModelFreeRV, MinibatchOp))


def _behind(variables: Sequence[Variable], *, ends: tuple[type, ...]) -> set[Variable]:
    """Return variables and all behind them, up to the outputs of some kinds of operations."""
    found: set[Variable] = set()
    left = list(variables)
    while left:
        here = left.pop()
        if here in found:
            continue
        found.add(here)
        if here.owner is not None and not isinstance(here.owner.op, ends):
            left.extend(here.owner.inputs)
    return found

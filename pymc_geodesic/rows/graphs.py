#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Graphs rebuilt on other variables, what stands behind a variable, and the summands of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt

from pymc.data import MinibatchOp
from pymc.logprob.basic import logp
from pymc.model.fgraph import ModelFreeRV, ModelObservedRV
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import io_toposort, walk
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar.basic import Add, Mul, Neg, Sub, TrueDiv
from pytensor.tensor import TensorVariable
from pytensor.tensor.basic import Join
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.math import Dot, Sum
from pytensor.tensor.shape import Shape, Shape_i

from pymc_geodesic.potential.model_graphs import renew

__all__ = [
    "added",
    "data_of",
    "inputs_for_free",
    "known_by_value",
    "log_density_of",
    "name_of",
    "name_of_data",
    "needed_for_values",
    "substituted",
    "summands",
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

    def inputs(x: Variable) -> Sequence[Variable]:
        return () if x.owner is None or isinstance(x.owner.op, ends) else x.owner.inputs

    return set(walk(variables, inputs))


def log_density_of(rv: TensorVariable, value: TensorVariable) -> TensorVariable:
    """Build the log density of a variable of a graph; PyMC would copy the free variables."""
    inputs = inputs_for_free([rv])
    [rv] = substituted([rv], inputs)
    density = logp(rv, value, warn_rvs=False)
    if not isinstance(density, Variable):
        # Of a variable that PyMC-Extras has summed out, for all that depend on it.
        [density] = density
    return substituted([density], {new: old for old, new in inputs.items()})[0]


def added(terms: Sequence[TensorVariable]) -> TensorVariable:
    """Add terms."""
    return pt.add(*terms) if len(terms) > 1 else terms[0]


def summands(
    x: TensorVariable, factor: Any = 1.0
) -> Iterator[tuple[TensorVariable, TensorVariable]]:
    """Split a log density into terms whose entries are added."""
    node = x.owner
    is_sum = node is not None and isinstance(node.op, Sum) and x.ndim == 0
    if node is not None and (is_sum or isinstance(node.op, CheckAndRaise)):
        yield from summands(node.inputs[0], factor)
    elif node is not None and isinstance(node.op, Join | DimShuffle):
        for y in node.inputs:
            yield from summands(y, factor)
    elif node is not None and _is_dot(node.op) and x.type.shape == (1, 1):
        yield factor, node.inputs[0][0] * node.inputs[1][:, 0]
    elif node is not None and isinstance(node.op, Elemwise):
        scalar = node.op.scalar_op
        inputs = node.inputs
        if isinstance(scalar, Neg):
            yield from summands(inputs[0], -factor)
        elif isinstance(scalar, Add | Sub) and all(
            y.type.broadcastable == x.type.broadcastable for y in inputs
        ):
            for i, y in enumerate(inputs):
                yield from summands(y, -factor if isinstance(scalar, Sub) and i else factor)
        elif isinstance(scalar, Mul) and x.ndim == 0 and any(_is_sum(y) for y in inputs):
            main = next(y for y in inputs if _is_sum(y))
            others = list(inputs)
            others.remove(main)
            yield from summands(main, pt.mul(factor, *others))
        elif isinstance(scalar, TrueDiv) and x.ndim == 0 and _is_sum(inputs[0]):
            yield from summands(inputs[0], factor / inputs[1])
        else:
            yield factor, x
    else:
        yield factor, x


def _is_sum(x: TensorVariable) -> bool:
    node = x.owner
    if node is None:
        return False
    if isinstance(node.op, Sum) or _is_dot(node.op):
        return True
    ops = Elemwise | CheckAndRaise | DimShuffle
    return isinstance(node.op, ops) and any(_is_sum(y) for y in node.inputs[:2])


def _is_dot(op: Any) -> bool:
    return isinstance(getattr(op, "core_op", op), Dot)

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Log densities as sums of terms, and the terms of each row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytensor.tensor as pt

from pymc.logprob.basic import logp
from pytensor.graph.basic import Variable
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar.basic import Add, Mul, Neg, Sub, TrueDiv
from pytensor.tensor import TensorVariable
from pytensor.tensor.basic import Join
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.math import Dot, Sum

from pymc_geodesic.rows.graphs import inputs_for_free, substituted

__all__ = ["added", "log_density_of", "summands"]


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

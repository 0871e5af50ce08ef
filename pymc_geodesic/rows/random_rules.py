#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Rules of random variables, loops, checks and operations with a graph inside."""

from __future__ import annotations

from typing import Any

import pytensor.tensor as pt

from pymc.distributions.distribution import SymbolicRandomVariable
from pymc.distributions.mixture import MixtureRV
from pymc.distributions.truncated import TruncatedRV
from pymc.model.fgraph import ModelObservedRV, ModelVar
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import ancestors
from pytensor.raise_op import CheckAndRaise
from pytensor.scan.op import Scan
from pytensor.tensor import TensorVariable
from pytensor.tensor.math import All
from pytensor.tensor.random.op import RandomVariable
from pytensor.tensor.type_other import NoneTypeT

from pymc_geodesic.potential.model_graphs import renewed_outputs
from pymc_geodesic.rows.graphs import substituted
from pymc_geodesic.rows.selection import Positions, Rows, rule

__all__: list[str] = []


@rule.register
def _check_and_raise(
    op: CheckAndRaise, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    x, *conditions = var.owner.inputs
    n = rows.facts.length(x, axis)
    met = [_condition(rows, c, n, positions) for c in conditions]
    return op(rows.of(x, axis, positions), *met)


@rule.register
def _scan(
    op: Scan, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    info, node = op.info, var.owner
    memory = info.n_mit_mot + info.n_mit_sot + info.n_sit_sot + info.n_untraced_sit_sot
    if axis != 0 or memory or info.as_while:
        return None
    _, *others = node.inputs
    n_seqs, n_outs = info.n_seqs, info.n_nit_sot
    first = [rows.of(x, 0, positions) for x in others[:n_seqs]]
    inputs = [rows.length, *first, *[rows.length] * n_outs, *others[n_seqs + n_outs :]]
    return renewed_outputs(node, inputs)[node.outputs.index(var)]


@rule.register
def _op_from_graph(
    op: OpFromGraph, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    return rows.inlined(op, var, axis, positions)


@rule.register
def _model_var(
    op: ModelVar, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    return rows.of(var.owner.inputs[isinstance(op, ModelObservedRV)], axis, positions)


@rule.register(RandomVariable)
@rule.register(SymbolicRandomVariable)
def _random_variable(
    op: Any, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    node = var.owner
    if (roles := _input_roles(node)) is None:
        return None
    n_batch = op.batch_ndim(node)
    if axis >= n_batch:
        return None
    inputs = []
    for x, role in zip(node.inputs, roles, strict=True):
        if role == "size":
            inputs.append(_size(rows, var, x, axis, n_batch))
        elif role == "rng":
            inputs.append(pt.random.shared_rng(seed=None))
        else:
            at = x.ndim - role - n_batch + axis
            inputs.append(x if at < 0 else rows.of(x, at, positions))
    return renewed_outputs(node, inputs)[node.outputs.index(var)]


def _condition(rows: Rows, condition: Variable, n: int, positions: Positions) -> Variable:
    """Restrict a check of parameters to the rows of a batch."""
    if not rows.facts.is_random(condition):
        return condition
    for node in {v.owner for v in ancestors([condition]) if v.owner is not None}:
        if isinstance(node.op, All) and node.outputs[0].ndim == 0:
            [x] = node.inputs
            lengths = [rows.facts.length(x, i) for i in range(x.ndim)]
            if n in lengths:
                met = pt.all(rows.of(x, lengths.index(n), positions))
                [condition] = substituted([condition], {node.outputs[0]: met})
    return condition


def _size(rows: Rows, var: TensorVariable, size: Variable, axis: int, n_batch: int) -> Variable:
    """Return the size of a random variable with the rows of a batch."""
    if isinstance(size.type, NoneTypeT):
        return size
    lengths: list = [rows.facts.length(var, i) for i in range(n_batch)]
    lengths[axis] = rows.length
    return pt.as_tensor(lengths, dtype="int64", ndim=1)


def _input_roles(node: Apply) -> list[str | int] | None:
    """Return what each input of a random variable is: "rng", "size", or its number of core axes."""
    op = node.op
    if isinstance(op, RandomVariable):
        return ["rng", "size", *op.ndims_params]
    if isinstance(op, TruncatedRV):
        base = op.base_rv_op
        if not isinstance(base, RandomVariable):
            return None
        return ["rng", "size", *base.ndims_params, 0, 0]
    if isinstance(op, MixtureRV):
        # PyMC's signature counts the letters of the name of a vector's axis.
        return ["rng", 1, *[op.ndim_supp + (len(node.inputs) == 3)] * (len(node.inputs) - 2)]
    if getattr(op, "extended_signature", None) is None:
        return None
    (rngs, size, params), _ = op.get_input_output_type_idxs(op.extended_signature)
    roles: dict[int | None, str | int] = {**dict.fromkeys(rngs, "rng"), size: "size"}
    roles |= dict(zip(params, op.ndims_params, strict=True))
    return [roles[i] for i in range(len(node.inputs))]

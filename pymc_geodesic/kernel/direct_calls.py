#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What an interpreted graph calls for each of its operations.

An operation has a function of its own here if PyTensor's takes longer than NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import singledispatch
from typing import Any

import numpy as np

from pytensor.compile.ops import DeepCopyOp
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.tensor.basic import Alloc
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.subtensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    Subtensor,
    indices_from_subtensor,
)

from pymc_geodesic.kernel.ufuncs import ByUfunc, ReduceFew, SumOfProducts

__all__ = ["as_array", "call_of"]


@singledispatch
def call_of(op: Any, node: Apply) -> Callable[..., Any]:
    """Return a function of the inputs of an operation that returns its output, or all of them.

    Parameters
    ----------
    op : Op
        The operation.
    node : Apply
        Where it is applied.
    """
    cells: dict[Variable, list[Any]] = {x: [None] for x in (*node.inputs, *node.outputs)}
    thunk = op.make_thunk(node, cells, {x: [True] for x in cells}, [], impl="py")
    inputs, outputs = ([cells[x] for x in side] for side in (node.inputs, node.outputs))
    used, is_single = [*cells.values()], len(outputs) == 1

    def call(*arrays: Any) -> Any:
        for cell, array in zip(inputs, arrays, strict=True):
            cell[0] = as_array(array)
        thunk()
        found = [cell[0] for cell in outputs]
        for cell in used:
            cell[0] = None
        return found[0] if is_single else found

    return call


def as_array(x: Any) -> Any:
    """Return an array for what NumPy's functions make of arrays without axes."""
    return np.asarray(x) if isinstance(x, np.generic) else x


@call_of.register
def _(op: ByUfunc | ReduceFew | SumOfProducts, node: Apply) -> Callable[..., Any]:
    return op.call_of(node)


@call_of.register
def _(op: DimShuffle, node: Apply) -> Callable[[Any], Any]:
    axes, dropped = (*op.shuffle, *op.drop), op.drop
    # Dropped axes are last, and have one entry.
    kept = (None if axis == "x" else slice(None) for axis in op.new_order)
    index = (*kept, *(0 for _ in dropped))
    is_in_order = axes == tuple(range(len(axes)))

    def call(x: Any) -> Any:
        for axis in dropped:
            if x.shape[axis] != 1:
                raise ValueError(f"{op} expected one entry along axis {axis}, got {x.shape[axis]}.")
        return x[index] if is_in_order else x.transpose(axes)[index]

    return call


@call_of.register
def _(op: DeepCopyOp, node: Apply) -> Callable[[Any], Any]:
    return lambda x: x.copy() if isinstance(x, np.ndarray) else deepcopy(x)


@call_of.register
def _(op: Subtensor, node: Apply) -> Callable[..., Any]:
    _, *places = node.inputs
    if not all(isinstance(x, Constant) for x in places):
        return call_of.dispatch(object)(op, node)
    index = tuple(indices_from_subtensor([int(x.data) for x in places], op.idx_list))
    return lambda x, *_: x[index]


@call_of.register
def _(op: Alloc, node: Apply) -> Callable[..., np.ndarray]:
    def call(value: Any, *lengths: Any) -> np.ndarray:
        shape = tuple(map(int, lengths))
        op._check_runtime_broadcast(node, value, shape)
        # A view: interpreted operations do not write into their inputs.
        return np.broadcast_to(value, shape)

    return call


@call_of.register
def _(op: AdvancedIncSubtensor, node: Apply) -> Callable[..., np.ndarray]:
    x, y, *places = node.inputs
    usual, n_axes = call_of.dispatch(object)(op, node), x.type.ndim
    adds = not (op.set_instead_of_inc or op.ignore_duplicates) and x.type.dtype == y.type.dtype
    if not adds or op.idx_list != tuple(range(n_axes)) or not _are_integers(places):
        return usual

    def call(x: np.ndarray, y: np.ndarray, *indices: np.ndarray) -> np.ndarray:
        # With several indices NumPy takes five times as long for an entry.
        if (flat := _flat(indices, x.shape)) is None or flat.shape != y.shape:
            return usual(x, y, *indices)
        found = np.array(x, order="C")
        np.add.at(found.reshape(-1), flat.reshape(-1), y.reshape(-1))
        return found

    return call


@call_of.register
def _(op: Blockwise, node: Apply) -> Callable[..., Any]:
    usual, core = call_of.dispatch(object)(op, node), op.core_op
    is_lookup = isinstance(core, AdvancedSubtensor) and core.idx_list == (0,)
    if not is_lookup or [x.type.ndim for x in node.inputs] != [2, 2] or op.batch_ndim(node) != 1:
        return usual
    if not _are_integers(node.inputs[1:]):
        return usual

    def call(x: np.ndarray, index: np.ndarray) -> np.ndarray:
        if len(x) != len(index):
            return usual(x, index)
        flat = _flat((np.arange(len(x))[:, None], index), x.shape)
        return usual(x, index) if flat is None else x.reshape(-1)[flat]

    return call


def _are_integers(places: Sequence[Variable]) -> bool:
    return all(x.type.dtype.startswith(("int", "uint")) for x in places)


def _flat(indices: Sequence[np.ndarray], shape: Sequence[int]) -> np.ndarray | None:
    """Return where entries are in a flat array; None if some are counted from the end or missing.

    The first axis comes first: ``((i * shape[1]) + j) * shape[2] + k``.
    """
    flat: Any = 0
    for index, length in zip(indices, shape, strict=True):
        if not index.size or index.min() < 0 or index.max() >= length:
            return None
        flat = flat * length + index.astype("int64", copy=False)
    return flat

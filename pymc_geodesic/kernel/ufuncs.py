#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Elementwise operations that are interpreted with little more than a call of NumPy's function.

PyTensor takes ten microseconds for each, as long as NumPy for a thousand numbers. The gradient of a
mixture has two hundred of them, and the search for its mode calls it two thousand times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import Op
from pytensor.graph.rewriting.basic import node_rewriter
from pytensor.scalar.basic import Add, Cast, Mul
from pytensor.tensor.elemwise import CAReduce, Elemwise
from pytensor.tensor.utils import import_func_from_string

__all__ = ["call_ufunc", "reduce_few"]

# Numbers of entries that NumPy adds in their order, and entries of an array for which a reduction
# takes longer than adding them so.
FEW, FEWEST_ENTRIES = range(2, 8), 1_000


class ByUfunc(Op):
    """An elementwise operation that one call of a function of NumPy or SciPy makes.

    Parameters
    ----------
    elemwise : Elemwise
        The operation.
    function : callable
        Returns a new array, or a number.
    """

    __props__ = ("elemwise",)

    def __init__(self, elemwise: Elemwise, function: Callable[..., Any]) -> None:
        self.elemwise, self._function = elemwise, function

    def make_node(self, *inputs: Variable) -> Apply:
        """Apply to the inputs of the operation."""
        outputs = [x.type() for x in self.elemwise.make_node(*inputs).outputs]
        return Apply(self, list(inputs), outputs)

    def make_py_thunk(
        self, node, storage_map, compute_map, no_recycling, debug=False
    ) -> Callable[[], None]:
        """Return what reads the inputs from their places, calls the function and stores the result.

        Raises
        ------
        ValueError
            When it is called, if NumPy would broadcast inputs that PyTensor, which derives
            gradients, took for equally long.
        """
        function, dtype = self._function, np.dtype(node.outputs[0].type.dtype)
        cells, [out] = [storage_map[x] for x in node.inputs], [storage_map[x] for x in node.outputs]
        alike = _alike(node.inputs)

        def thunk() -> None:
            arrays = [cell[0] for cell in cells]
            for axis, first, others in alike:
                length = arrays[first].shape[axis]
                for i in others:
                    if arrays[i].shape[axis] != length:
                        raise ValueError(
                            f"Inputs of {self.elemwise} expected equal lengths along axis {axis}, "
                            f"got {length} and {arrays[i].shape[axis]}. Broadcast them explicitly."
                        )
            with np.errstate(all="ignore"):
                out[0] = np.asarray(function(*arrays), dtype=dtype)

        return thunk

    def perform(self, node, inputs, output_storage) -> None:
        """Call the function."""
        dtype = node.outputs[0].type.dtype
        with np.errstate(all="ignore"):
            output_storage[0][0] = np.asarray(self._function(*inputs), dtype=dtype)


class ReduceFew(Op):
    """A sum or another reduction along one axis of few entries, from the first to the last.

    NumPy's reductions take as long for three entries as for thirty. The results are the same: fewer
    than eight entries are also added in their order by NumPy.

    Parameters
    ----------
    reduction : CAReduce
        The operation.
    """

    __props__ = ("reduction",)

    def __init__(self, reduction: CAReduce) -> None:
        self.reduction = reduction

    def make_node(self, x: Variable) -> Apply:
        """Apply to the input of the operation."""
        return Apply(self, [x], [self.reduction.make_node(x).outputs[0].type()])

    def perform(self, node, inputs, output_storage) -> None:
        """Combine the entries."""
        [axis], combine = self.reduction.axis, self.reduction.ufunc
        with np.errstate(all="ignore"):
            if inputs[0].size < FEWEST_ENTRIES:
                output_storage[0][0] = np.asarray(combine.reduce(inputs[0], axis=axis))
                return
            first, second, *others = np.moveaxis(inputs[0], axis, 0)
            found = np.asarray(combine(first, second))
            for entry in others:
                found = combine(found, entry, out=found)
        output_storage[0][0] = found


def _alike(inputs: Sequence[Variable]) -> list[tuple[int, int, list[int]]]:
    """List axes along which inputs must be equally long, but not known to be, and these inputs."""
    found = []
    for axis in range(inputs[0].type.ndim):
        long = [i for i, x in enumerate(inputs) if x.type.shape[axis] != 1]
        if len(long) > 1 and any(inputs[i].type.shape[axis] is None for i in long):
            found.append((axis, long[0], long[1:]))
    return found


@node_rewriter([Elemwise])
def call_ufunc(fgraph, node):
    """Let a function of NumPy or SciPy make an elementwise operation at once, if there is one."""
    op = node.op
    if op.inplace_pattern or len(node.outputs) != 1:
        return None
    function = _function_of(node)
    if function is None:
        return None
    return Apply(ByUfunc(op, function), node.inputs, [node.outputs[0].type()]).outputs


@node_rewriter([CAReduce])
def reduce_few(fgraph, node):
    """Replace reductions of few entries of floats."""
    op, [x] = node.op, node.inputs
    if op.axis is None or len(op.axis) != 1 or x.type.shape[op.axis[0]] not in FEW:
        return None
    dtypes = {x.dtype, node.outputs[0].dtype, op.acc_dtype or x.dtype}
    if len(dtypes) > 1 or not x.dtype.startswith("float"):
        return None
    return Apply(ReduceFew(op), node.inputs, [node.outputs[0].type()]).outputs


def _function_of(node: Apply) -> Callable[..., Any] | None:
    scalar_op, spec = node.op.scalar_op, node.op.nfunc_spec
    if isinstance(scalar_op, Cast) or spec is None:
        return None
    function, n_inputs = import_func_from_string(spec[0]), len(node.inputs)
    # Others may return a view, and PyTensor prescribes how integers become fractions.
    if not isinstance(function, np.ufunc) and function is not np.where:
        return None
    if node.outputs[0].dtype.startswith("float") and not node.inputs[0].dtype.startswith("float"):
        return None if function is not np.where else function
    if n_inputs == spec[1]:
        return function
    if isinstance(scalar_op, Add | Mul) and n_inputs > 2:
        return lambda *arrays: reduce(function, arrays)
    return None

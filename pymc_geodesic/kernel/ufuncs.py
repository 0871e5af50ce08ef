#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Elementwise operations that are interpreted with little more than a call of NumPy's function.

PyTensor takes ten microseconds for each, as long as NumPy for a thousand numbers. The gradient of a
mixture has two hundred of them, and the search for its mode calls it two thousand times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import Op
from pytensor.graph.rewriting.basic import node_rewriter
from pytensor.scalar.basic import Add, Cast, Mul, TrueDiv
from pytensor.tensor.elemwise import CAReduce, Elemwise
from pytensor.tensor.math import Sum
from pytensor.tensor.utils import import_func_from_string

__all__ = ["call_ufunc", "multiply_and_add", "reduce_few"]

# Numbers of entries that NumPy adds in their order, and entries of an array for which a reduction
# takes longer than adding them so.
FEW, FEWEST_ENTRIES = range(2, 8), 1_000
# A product of matrices of fewer takes longer than what it replaces.
FEWEST_PRODUCTS = 16


class ByUfunc(Op):
    """An elementwise operation that one call of a function of NumPy or SciPy makes.

    Parameters
    ----------
    elemwise : Elemwise
        The operation, for whose inputs there is such a function.
    """

    __props__ = ("elemwise",)

    def __init__(self, elemwise: Elemwise) -> None:
        self.elemwise = elemwise

    def make_node(self, *inputs: Variable) -> Apply:
        """Apply to the inputs of the operation."""
        outputs = [x.type() for x in self.elemwise.make_node(*inputs).outputs]
        return Apply(self, list(inputs), outputs)

    def call_of(self, node: Apply) -> Callable[..., Any]:
        """Return a function of the inputs: NumPy's own where it does just what PyTensor's does.

        Raises
        ------
        ValueError
            When it is called, if NumPy would broadcast inputs that PyTensor, which derives
            gradients, took for equally long.
        """
        dtype, alike = np.dtype(node.outputs[0].type.dtype), _alike(node.inputs)
        function = _function_of(self.elemwise, node)
        if function is None:
            raise TypeError(f"NumPy and SciPy have no function for {node}.")
        if not alike:
            ones = [np.ones((1,) * x.type.ndim, x.type.dtype) for x in node.inputs]
            # Only the type is asked for, of some functions where they are infinite.
            with np.errstate(all="ignore"):
                is_exact = function(*ones).dtype == dtype
            return function if is_exact else partial(_cast, function=function, dtype=dtype)

        def call(*arrays: np.ndarray) -> Any:
            _require_alike(self.elemwise, arrays, alike)
            found = function(*arrays)
            return found if found.dtype == dtype else found.astype(dtype)

        return call

    def perform(self, node, inputs, output_storage) -> None:
        """Call the function."""
        with np.errstate(all="ignore"):
            output_storage[0][0] = np.asarray(self.call_of(node)(*inputs))


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

    def call_of(self, node: Apply) -> Callable[[np.ndarray], np.ndarray]:
        """Return a function of the input."""
        [axis], combine = self.reduction.axis, self.reduction.ufunc

        def call(x: np.ndarray) -> np.ndarray:
            if x.size < FEWEST_ENTRIES:
                return combine.reduce(x, axis=axis)
            first, second, *others = np.moveaxis(x, axis, 0)
            found = combine(first, second)
            for entry in others:
                found = combine(found, entry, out=found)
            return found

        return call

    def perform(self, node, inputs, output_storage) -> None:
        """Combine the entries."""
        with np.errstate(all="ignore"):
            output_storage[0][0] = np.asarray(self.call_of(node)(*inputs))


class SumOfProducts(Op):
    """A sum of products of rows or columns with a vector, at each of many points.

    NumPy would write all products to memory before it adds them; a product of matrices does not.

    Parameters
    ----------
    axis : int
        -1 for ``sum(vector[..., None, :] * matrix, -1)``, -2 for
        ``sum(vector[..., :, None] * matrix, -2)``.
    """

    __props__ = ("axis",)

    def __init__(self, axis: int) -> None:
        self.axis = axis

    def make_node(self, vector: Variable, matrix: Variable) -> Apply:
        """Apply to arrays with equally many axes; one of the vector's last two is broadcast."""
        return Apply(self, [vector, matrix], [(vector * matrix).sum(self.axis).type()])

    def call_of(self, node: Apply) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        """Return a function of the inputs.

        Raises
        ------
        ValueError
            When it is called, for lengths that are not equal.
        """
        alike = _alike(node.inputs)

        def call(vector: np.ndarray, matrix: np.ndarray) -> np.ndarray:
            _require_alike(self, (vector, matrix), alike)
            if self.axis == -1:
                return np.matmul(matrix, vector.mT)[..., 0]
            return np.matmul(vector.mT, matrix)[..., 0, :]

        return call

    def perform(self, node, inputs, output_storage) -> None:
        """Add the products."""
        output_storage[0][0] = np.asarray(self.call_of(node)(*inputs))


def _alike(inputs: Sequence[Variable]) -> list[tuple[int, int, list[int]]]:
    """List axes along which inputs must be equally long, but not known to be, and these inputs."""
    found = []
    for axis in range(inputs[0].type.ndim):
        long = [i for i, x in enumerate(inputs) if x.type.shape[axis] != 1]
        if len(long) > 1 and any(inputs[i].type.shape[axis] is None for i in long):
            found.append((axis, long[0], long[1:]))
    return found


def _require_alike(
    op: Op, arrays: Sequence[np.ndarray], alike: Sequence[tuple[int, int, list[int]]]
) -> None:
    """Raise an error for lengths that NumPy would broadcast and PyTensor took for equal."""
    for axis, first, others in alike:
        length = arrays[first].shape[axis]
        for i in others:
            if arrays[i].shape[axis] != length:
                raise ValueError(
                    f"Inputs of {op} expected equal lengths along axis {axis}, got {length} and "
                    f"{arrays[i].shape[axis]}. Broadcast them explicitly."
                )


@node_rewriter([Elemwise])
def call_ufunc(fgraph, node):
    """Let a function of NumPy or SciPy make an elementwise operation at once, if there is one."""
    op = node.op
    if op.inplace_pattern or len(node.outputs) != 1:
        return None
    if _function_of(op, node) is None:
        return None
    return Apply(ByUfunc(op), node.inputs, [node.outputs[0].type()]).outputs


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


@node_rewriter([Sum])
def multiply_and_add(fgraph, node):
    """Write sums of products of a vector with the rows or columns of a matrix as such."""
    [product] = node.inputs
    axes, made = node.op.axis, product.owner
    if axes is None or len(axes) != 1 or product.ndim < 2 or made is None:
        return None
    if len(fgraph.clients[product]) > 1:
        return None
    is_product = isinstance(made.op, Elemwise) and isinstance(made.op.scalar_op, Mul)
    if not is_product or len(made.inputs) != 2 or {x.dtype for x in made.inputs} != {"float64"}:
        return None
    axis = axes[0] - product.ndim
    if axis not in (-1, -2) or product.type.shape[axis] in range(FEWEST_PRODUCTS):
        return None
    for vector, matrix in (made.inputs, made.inputs[::-1]):
        # All axes are shared but one of the last two, along which the vector is repeated.
        shared = [False] * product.ndim
        shared[-3 - axis] = True
        pairs = zip(vector.type.broadcastable, matrix.type.broadcastable, strict=True)
        if [a and not b for a, b in pairs] == shared and not matrix.type.broadcastable[axis]:
            return [SumOfProducts(axis)(vector, matrix)]
    return None


def _cast(*arrays: np.ndarray, function: Callable[..., Any], dtype: np.dtype) -> np.ndarray:
    return np.asarray(function(*arrays), dtype=dtype)


def _function_of(elemwise: Elemwise, node: Apply) -> Callable[..., Any] | None:
    """Return a function that makes an operation on inputs of certain types; None if there is none.

    It returns a new array, or a number.
    """
    scalar_op, spec = elemwise.scalar_op, elemwise.nfunc_spec
    if isinstance(scalar_op, Cast) or spec is None:
        return None
    function, n_inputs = import_func_from_string(spec[0]), len(node.inputs)
    # Others may return a view, and PyTensor prescribes how integers become fractions.
    if not isinstance(function, np.ufunc) and function is not np.where:
        return None
    if node.outputs[0].dtype.startswith("float") and not node.inputs[0].dtype.startswith("float"):
        is_quotient = isinstance(scalar_op, TrueDiv) and node.outputs[0].dtype == "float64"
        return function if function is np.where or is_quotient else None
    if n_inputs == spec[1]:
        return function
    if isinstance(scalar_op, Add | Mul) and n_inputs > 2:
        return lambda *arrays: reduce(function, arrays)
    return None

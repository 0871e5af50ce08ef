#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Sums and maxima over an axis of a matrix that Numba compiles in a fraction of a second.

PyTensor's own reductions go through an array in the order of its strides. Numba takes about five
seconds to compile the first of them, mostly for sorting strides and for messages.
"""

from __future__ import annotations

import numpy as np

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import Op
from pytensor.graph.rewriting.basic import node_rewriter
from pytensor.link.numba.dispatch.basic import numba_njit, register_funcify_and_cache_key
from pytensor.tensor.math import Max, Sum
from pytensor.tensor.type import TensorType

__all__ = ["MatrixReduction", "to_matrix_reduction"]


class MatrixReduction(Op):
    """Sum or maximum of a matrix of floats over one of its axes.

    Parameters
    ----------
    kind : {"sum", "max"}
        The reduction. A maximum is NaN if an entry is.
    axis : int
        The axis, 0 or 1.
    acc_dtype : str
        Type in which a sum is accumulated: thousands of terms lose digits in single precision.
    """

    __props__ = ("kind", "axis", "acc_dtype")

    def __init__(self, kind: str, axis: int, acc_dtype: str) -> None:
        self.kind, self.axis, self.acc_dtype = kind, axis, acc_dtype

    def make_node(self, x: Variable) -> Apply:
        """Apply to a matrix."""
        return Apply(self, [x], [TensorType(x.dtype, (x.type.shape[1 - self.axis],))()])

    def perform(self, node, inputs, output_storage) -> None:
        """Compute with NumPy, without compilation."""
        [x] = inputs
        reduced = getattr(np, self.kind)(x.astype(self.acc_dtype), axis=self.axis)
        output_storage[0][0] = reduced.astype(x.dtype)


@numba_njit
def _add(total, x):
    return total + x


@numba_njit
def _larger(largest, x):
    # A NaN stays, because no comparison with it is true.
    return x if x > largest or np.isnan(x) else largest


KINDS = {"sum": (_add, 0.0), "max": (_larger, -np.inf)}


@register_funcify_and_cache_key(MatrixReduction)
def _matrix_reduction_numba(op, node, **kwargs):
    dtype = node.outputs[0].type.numpy_dtype
    acc_dtype = np.dtype(op.acc_dtype)
    join, start = KINDS[op.kind]
    start = acc_dtype.type(start)
    rounded = _rounded(dtype, acc_dtype)

    if op.axis == 0:

        @numba_njit
        def matrix_reduction(x):
            result = np.full(x.shape[1], start, acc_dtype)
            for i in range(x.shape[0]):
                for j in range(x.shape[1]):
                    result[j] = join(result[j], x[i, j])
            return rounded(result)

    else:

        @numba_njit
        def matrix_reduction(x):
            result = np.empty(x.shape[0], dtype)
            for i in range(x.shape[0]):
                joined = start
                for j in range(x.shape[1]):
                    joined = join(joined, x[i, j])
                result[i] = joined
            return result

    key = op.kind, op.axis, op.acc_dtype, str(dtype)
    return matrix_reduction, f"pymc_geodesic.MatrixReduction.3{key}"


def _rounded(dtype: np.dtype, acc_dtype: np.dtype):
    """Return a function from sums to the type of their terms."""
    if dtype == acc_dtype:
        return numba_njit(lambda x: x)

    @numba_njit
    def rounded(x):
        result = np.empty(x.shape[0], dtype)
        for i in range(x.shape[0]):
            result[i] = x[i]
        return result

    return rounded


@node_rewriter([Sum, Max])
def to_matrix_reduction(fgraph, node):
    """Replace PyTensor's reductions of one axis of a matrix of floats."""
    [x] = node.inputs
    axis = node.op.axis
    one_dtype = x.dtype == node.outputs[0].dtype and x.dtype.startswith("float")
    if x.type.ndim != 2 or axis is None or len(axis) != 1 or not one_dtype:
        return None
    if isinstance(node.op, Max):
        return [MatrixReduction("max", axis[0], x.dtype)(x)]
    return [MatrixReduction("sum", axis[0], node.op.acc_dtype or x.dtype)(x)]

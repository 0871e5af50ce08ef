#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Sums over an axis of a matrix that Numba compiles in a fraction of a second.

PyTensor's own goes through an array in the order of its strides. Numba takes about five seconds for
the first of them, most of it for how to sort strides and for messages.
"""

from __future__ import annotations

import numpy as np

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import Op
from pytensor.graph.rewriting.basic import node_rewriter
from pytensor.link.numba.dispatch.basic import numba_njit, register_funcify_and_cache_key
from pytensor.tensor.math import Sum
from pytensor.tensor.type import TensorType

__all__ = ["MatrixSum", "to_matrix_sum"]


class MatrixSum(Op):
    """Sum of a matrix of floats over one of its axes.

    Parameters
    ----------
    axis : int
        The axis, 0 or 1.
    """

    __props__ = ("axis",)

    def __init__(self, axis: int) -> None:
        self.axis = axis

    def make_node(self, x: Variable) -> Apply:
        """Apply to a matrix."""
        return Apply(self, [x], [TensorType(x.dtype, (x.type.shape[1 - self.axis],))()])

    def perform(self, node, inputs, output_storage) -> None:
        """Compute by NumPy where nothing is compiled."""
        output_storage[0][0] = inputs[0].sum(axis=self.axis)


@register_funcify_and_cache_key(MatrixSum)
def _matrix_sum_numba(op, node, **kwargs):
    dtype = node.outputs[0].type.numpy_dtype

    if op.axis == 0:

        @numba_njit
        def matrix_sum(x):
            result = np.zeros(x.shape[1], dtype)
            for i in range(x.shape[0]):
                for j in range(x.shape[1]):
                    result[j] += x[i, j]
            return result

    else:

        @numba_njit
        def matrix_sum(x):
            result = np.empty(x.shape[0], dtype)
            for i in range(x.shape[0]):
                total = 0.0
                for j in range(x.shape[1]):
                    total += x[i, j]
                result[i] = total
            return result

    return matrix_sum, f"pymc_geodesic.MatrixSum.1{op.axis, str(dtype)}"


@node_rewriter([Sum])
def to_matrix_sum(fgraph, node):
    """Replace PyTensor's sums over one axis of a matrix of floats."""
    [x] = node.inputs
    axis = node.op.axis
    one_dtype = x.dtype == node.outputs[0].dtype and x.dtype.startswith("float")
    if x.type.ndim != 2 or axis is None or len(axis) != 1 or not one_dtype:
        return None
    return [MatrixSum(axis[0])(x)]

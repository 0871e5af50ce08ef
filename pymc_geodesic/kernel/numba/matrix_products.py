#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Matrix products that Numba compiles in a fraction of a second.

PyTensor's own products accept operands of any stride, and Numba takes about twelve seconds for each
kind of operands. Operands of a kernel are contiguous or transposed; the few others are copied.
"""

from __future__ import annotations

import numpy as np

from numba.extending import overload
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import Op
from pytensor.graph.rewriting.basic import node_rewriter
from pytensor.link.numba.dispatch.basic import numba_njit, register_funcify_and_cache_key
from pytensor.tensor.blas import BatchedDot
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.math import Dot
from pytensor.tensor.type import TensorType

__all__ = ["MatrixProduct", "to_matrix_product"]


class MatrixProduct(Op):
    """Product of matrices of floats of one dtype, each transposed on request.

    Parameters
    ----------
    transpose_left, transpose_right : bool
        Whether the last two axes of an operand are exchanged first.
    batched : bool
        Whether the operands are stacks of matrices along a first axis.
    """

    __props__ = ("transpose_left", "transpose_right", "batched")

    def __init__(
        self,
        *,
        transpose_left: bool = False,
        transpose_right: bool = False,
        batched: bool = False,
    ) -> None:
        self.transpose_left = transpose_left
        self.transpose_right = transpose_right
        self.batched = batched

    def make_node(self, left: Variable, right: Variable) -> Apply:
        """Apply to two matrices, or to two stacks of them."""
        rows = left.type.shape[-1 if self.transpose_left else -2]
        columns = right.type.shape[-2 if self.transpose_right else -1]
        shape = (*left.type.shape[:-2], rows, columns)
        return Apply(self, [left, right], [TensorType(left.dtype, shape)()])

    def perform(self, node, inputs, output_storage) -> None:
        """Compute with NumPy, without compilation."""
        left, right = inputs
        left = left.mT if self.transpose_left else left
        right = right.mT if self.transpose_right else right
        output_storage[0][0] = left @ right


@register_funcify_and_cache_key(MatrixProduct)
def _matrix_product_numba(op, node, **kwargs):
    [output] = node.outputs
    is_row, is_column = (length == 1 for length in output.type.shape[-2:])
    product = _product_of_two(op, is_row=is_row, is_column=is_column)
    if op.batched:
        product = _product_of_stacks(op, product, output.type.numpy_dtype)
    key = *(getattr(op, name) for name in op.__props__), is_row, is_column
    return product, f"pymc_geodesic.MatrixProduct.2{key}"


def _product_of_two(op: MatrixProduct, *, is_row: bool, is_column: bool):
    # Flags are read when the function is created, because Numba would compile both branches.
    left, right = _as_is_or_transposed(op.transpose_left), _as_is_or_transposed(op.transpose_right)

    if is_column:

        @numba_njit
        def matrix_product(x, y):
            return np.dot(_dense(left(x)), _dense(right(y)[:, 0])).reshape(-1, 1)

    elif is_row:

        @numba_njit
        def matrix_product(x, y):
            return np.dot(_dense(left(x)[0]), _dense(right(y))).reshape(1, -1)

    else:

        @numba_njit
        def matrix_product(x, y):
            return np.dot(_dense(left(x)), _dense(right(y)))

    return matrix_product


def _dense(x):
    return x if x.flags.forc else np.ascontiguousarray(x)


@overload(_dense)
def _dense_numba(x):
    """Copy arrays that Numba does not know to be contiguous, as BLAS requires."""
    if x.layout in "CF":
        return lambda x: x
    return lambda x: np.ascontiguousarray(x)


def _product_of_stacks(op: MatrixProduct, product, dtype):
    row_axis = 2 if op.transpose_left else 1
    column_axis = 1 if op.transpose_right else 2

    @numba_njit
    def matrix_products(x, y):
        result = np.empty((x.shape[0], x.shape[row_axis], y.shape[column_axis]), dtype)
        for i in range(x.shape[0]):
            result[i] = product(x[i], y[i])
        return result

    return matrix_products


def _as_is_or_transposed(transpose: bool):
    if transpose:
        return numba_njit(lambda x: x.T)
    return numba_njit(lambda x: x)


@node_rewriter([Dot, BatchedDot])
def to_matrix_product(fgraph, node):
    """Replace PyTensor's products of floats of one dtype."""
    left, right = node.inputs
    dtypes = {left.dtype, right.dtype, node.outputs[0].dtype}
    if dtypes not in ({"float64"}, {"float32"}):
        return None
    (left, transpose_left), (right, transpose_right) = _untransposed(left), _untransposed(right)
    product = MatrixProduct(
        transpose_left=transpose_left,
        transpose_right=transpose_right,
        batched=isinstance(node.op, BatchedDot),
    )
    return [product(left, right)]


def _untransposed(matrix: Variable) -> tuple[Variable, bool]:
    """Return a matrix without its transposition, if it has one."""
    node = matrix.owner
    if node and isinstance(node.op, DimShuffle) and node.op.new_order in ((1, 0), (0, 2, 1)):
        return node.inputs[0], True
    return matrix, False

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Arrays of known shape, checked with a constant message.

PyTensor's message contains the actual shape. Numba compiles the conversion of numbers into text in
every function around it, which takes seconds.
"""

from __future__ import annotations

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.op import Op
from pytensor.graph.rewriting.basic import node_rewriter
from pytensor.link.numba.dispatch.basic import numba_njit, register_funcify_and_cache_key
from pytensor.tensor.shape import SpecifyShape
from pytensor.tensor.type import TensorType

__all__ = ["FixedShape", "to_fixed_shape"]

ANY = -1
"""Stands for any length of an axis."""


class FixedShape(Op):
    """Check the lengths of an array's axes, and declare them to the compiler.

    Parameters
    ----------
    lengths : tuple of int
        One for each axis, or ``ANY``.
    """

    __props__ = ("lengths",)
    view_map = {0: [0]}

    def __init__(self, lengths: tuple[int, ...]) -> None:
        self.lengths = tuple(lengths)

    def make_node(self, x: Variable) -> Apply:
        """Apply to an array."""
        pairs = zip(self.lengths, x.type.shape, strict=True)
        shape = [known if length == ANY else length for length, known in pairs]
        return Apply(self, [x], [TensorType(x.dtype, shape)()])

    def perform(self, node, inputs, output_storage) -> None:
        """Check the shape, without compilation."""
        [x] = inputs
        if any(a not in (ANY, b) for a, b in zip(self.lengths, x.shape, strict=True)):
            raise AssertionError(f"An array expected shape {self.lengths}, got {x.shape}.")
        output_storage[0][0] = x


@register_funcify_and_cache_key(FixedShape)
def _fixed_shape_numba(op, node, **kwargs):
    lengths = op.lengths

    @numba_njit
    def fixed_shape(x):
        for i in range(len(lengths)):
            if lengths[i] not in (ANY, x.shape[i]):
                raise AssertionError("An array has another shape than the kernel was made for.")
        return x

    return fixed_shape, f"pymc_geodesic.FixedShape.2{lengths}"


@node_rewriter([SpecifyShape])
def to_fixed_shape(fgraph, node):
    """Replace PyTensor's check if the lengths are constants."""
    x, *lengths = node.inputs
    if x.type.ndim == 0 or not all(isinstance(length, Constant) for length in lengths):
        return None
    known = [ANY if length.data is None else int(length.data) for length in lengths]
    return [FixedShape(tuple(known))(x)]

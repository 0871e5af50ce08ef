#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The logarithm of a sum of exponentials with its gradient in closed form, the softmax.

PyTensor differentiates it step by step, through the largest entry that it subtracts for stability
too, although the contributions of that entry cancel.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytensor.tensor as pt

from pytensor.graph.fg import FunctionGraph
from pytensor.graph.replace import clone_replace
from pytensor.graph.rewriting.basic import in2out, node_rewriter
from pytensor.tensor import TensorVariable
from pytensor.tensor.special import LogSumExp

__all__ = ["with_softmax_gradients"]


class WithSoftmax(LogSumExp):
    """A logarithm of a sum of exponentials whose gradient is the softmax."""

    def pullback(self, inputs, outputs, cotangents):
        """Return the softmax times the cotangents."""
        [x], [cotangent] = inputs, cotangents
        return [pt.special.softmax(x, axis=self.axis) * pt.expand_dims(cotangent, self.axis)]


@node_rewriter([LogSumExp])
def local_softmax_gradient(fgraph, node):
    """Replace the operation by one with another gradient."""
    return (
        None if isinstance(node.op, WithSoftmax) else [WithSoftmax(axis=node.op.axis)(*node.inputs)]
    )


def with_softmax_gradients(outputs: Sequence[TensorVariable]) -> list[TensorVariable]:
    """Return a graph of the same values that is differentiated in closed form."""
    graph = FunctionGraph(outputs=clone_replace(list(outputs), replace={}), clone=False)
    in2out(local_softmax_gradient).rewrite(graph)
    return list(graph.outputs)

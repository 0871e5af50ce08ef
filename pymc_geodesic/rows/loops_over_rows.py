#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Loops without states whose steps are the rows, as operations on all rows of a batch at once.

Ranges whose lengths differ from row to row are as long as the longest of all rows, which is known
before the model is sampled: shapes of compiled functions do not depend on data. Reductions leave
out what is beyond the end of a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytensor.tensor as pt

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.replace import vectorize_graph
from pytensor.graph.rewriting.basic import in2out
from pytensor.tensor import TensorVariable
from pytensor.tensor.basic import ARange
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise

from pymc_geodesic.kernel.interpreted import write_out
from pymc_geodesic.potential.model_graphs import renew
from pymc_geodesic.rows.graphs import substituted
from pymc_geodesic.rows.selection import Positions, Rows

__all__ = ["beside_each_other"]


def beside_each_other(
    rows: Rows, var: TensorVariable, positions: Positions
) -> TensorVariable | None:
    """Return rows of an output of a loop; None if lengths within rows are not known.

    Parameters
    ----------
    rows : Rows
        The rows of a batch.
    var : TensorVariable
        The output, whose first axis is that of the steps.
    positions : ndarray, optional
        Where rows are found along it.
    """
    node = var.owner
    info, (_, *others) = node.op.info, node.inputs
    inner = node.op.fgraph.unfreeze()
    sequences = dict(zip(inner.inputs[: info.n_seqs], others, strict=False))
    constant = others[info.n_seqs + info.n_nit_sot :]
    shared = dict(zip(inner.inputs[info.n_seqs :], constant, strict=True))
    step = substituted([inner.outputs[node.outputs.index(var)]], shared)
    graph = FunctionGraph(outputs=step, clone=False)
    in2out(write_out).rewrite(graph)
    padding = _Padding(rows, sequences)
    new: dict[Variable, Variable] = {}
    renew(graph.toposort(), new, rewrite=padding)
    [one] = [new.get(x, x) for x in graph.outputs]
    if padding.is_unknown or one in padding.ends:
        return None
    found = vectorize_graph(
        one, replace={x: rows.of(outer, 0, positions) for x, outer in sequences.items()}
    )
    return found if found.ndim > one.ndim else rows.filled(var, found, 0)


class _Padding:
    """Write the ranges of a row as long as the longest, and reductions without what is added.

    Parameters
    ----------
    rows : Rows
        The rows of a batch.
    sequences : mapping
        What the loop is given for all rows, by what stands for it in a step.

    Attributes
    ----------
    ends : dict
        By each padded variable its axis, and which entries are there.
    is_unknown : bool
        Whether a length is not known, or an operation that has no rule.
    """

    def __init__(self, rows: Rows, sequences: Mapping[Variable, Variable]) -> None:
        self._facts, self._sequences = rows.facts, sequences
        self.ends: dict[Variable, tuple[int, TensorVariable]] = {}
        self.is_unknown = False

    def __call__(self, node: Apply, inputs: Sequence[Variable]) -> Sequence[Variable] | None:
        """Rewrite an operation."""
        op = node.op
        if isinstance(op, ARange):
            return self._range(node)
        padded = [self.ends[x] for x in inputs if x in self.ends]
        if not padded:
            return None
        axis, is_there = padded[0]
        if isinstance(op, Elemwise):
            found = op.make_node(*inputs).outputs
            self.ends |= dict.fromkeys(found, (axis, is_there))
            return found
        if isinstance(op, DimShuffle) and axis in op.new_order:
            found = op.make_node(*inputs).outputs
            self.ends[found[0]] = op.new_order.index(axis), is_there
            return found
        if isinstance(op, CAReduce):
            return self._reduced(op, inputs[0], axis, is_there)
        self.is_unknown = True
        return None

    def _range(self, node: Apply) -> Sequence[Variable] | None:
        start, stop, step = node.inputs
        length = pt.maximum(pt.ceil((stop - start) / step), 0).astype("int64")
        [of_all] = vectorize_graph([length], replace=self._sequences)
        if not of_all.ndim:
            return None
        if self._facts.is_random(of_all):
            self.is_unknown = True
            return None
        places = pt.arange(int(self._facts.array(of_all).max(initial=0)))
        # Beyond the end stands the last value again, for which everything is as finite.
        value = start + step * pt.minimum(places, pt.maximum(length - 1, 0))
        found = value.astype(node.outputs[0].dtype)
        self.ends[found] = 0, places < length
        return [found]

    def _reduced(
        self, op: CAReduce, x: TensorVariable, axis: int, is_there: TensorVariable
    ) -> Sequence[Variable]:
        every = range(x.ndim) if op.axis is None else op.axis
        if axis in every:
            shape = [0 if i == axis else "x" for i in range(x.ndim)]
            nothing = np.asarray(op.scalar_op.identity)
            found = op(pt.switch(is_there.dimshuffle(shape), x, nothing).astype(x.dtype))
        else:
            found = op(x)
            self.ends[found] = axis - sum(i < axis for i in every), is_there
        return [found]

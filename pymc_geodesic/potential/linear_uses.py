#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What a model multiplies a variable by, and then adds it to, before it is used in another way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pytensor.scalar as ps
import pytensor.tensor as pt

from pymc.data import MinibatchOp
from pymc.model import Model
from pytensor.compile.ops import ViewOp
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.traversal import ancestors, io_toposort
from pytensor.tensor import TensorVariable
from pytensor.tensor.basic import Join
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.extra_ops import CumOp
from pytensor.tensor.random.op import RandomVariable
from pytensor.tensor.subtensor import AdvancedSubtensor, Subtensor

from pymc_geodesic.graph_inputs import evaluated

__all__ = [
    "Clients",
    "Use",
    "clients_of",
    "is_elemwise",
    "is_random",
    "means_of",
    "random_ancestors",
    "use_of",
]

Clients = Mapping[Variable, Sequence[Apply]]

INDEXING = Subtensor, AdvancedSubtensor
# What names of deterministics are given to.
COPIES = (ps.Identity,)


class Use(NamedTuple):
    """What a variable is multiplied by before it is used in another way, and then added to.

    Attributes
    ----------
    factors, addends : list of TensorVariable
        The factors, and what their product with the variable is added to.
    is_chosen : bool
        Whether entries are chosen before.
    chosen : TensorVariable or None
        The vector of numbers that chooses them, if they are chosen once, and by it.
    axis : int or None
        The axis along which the products are summed cumulatively, if they are, before the sums are
        added to something. The factors of the sums are the same along it.
    """

    factors: list[TensorVariable]
    addends: list[TensorVariable]
    is_chosen: bool
    chosen: TensorVariable | None
    axis: int | None = None


def clients_of(outputs: Sequence[TensorVariable]) -> dict[Variable, list[Apply]]:
    """Return the nodes that use each variable of some graphs."""
    found: dict[Variable, list[Apply]] = {}
    for node in io_toposort([], list(outputs)):
        for x in dict.fromkeys(node.inputs):
            found.setdefault(x, []).append(node)
    return found


def use_of(rv: TensorVariable, clients: Clients) -> Use:
    """Return what a variable is multiplied by and then added to.

    Names of deterministics, indices, other entries before or behind, and cumulative sums are
    looked through, as long as nothing else uses it.

    Parameters
    ----------
    rv : TensorVariable, any shape
        The variable.
    clients : mapping of Variable to sequence of Apply
        What :func:`clients_of` returns for the model.
    """
    use, current = Use([], [], False, None), rv
    is_indexed = are_rows = False
    while len(nodes := clients.get(current, [])) == 1:
        [node] = nodes
        output = node.outputs[0]
        others = [x for x in node.inputs if x is not current]
        is_alone = len(others) == len(node.inputs) - 1
        if isinstance(node.op, INDEXING) and node.inputs[0] is current:
            if use.addends:
                break
            is_first = not use.is_chosen and len(others) == 1
            is_vector = is_first and others[0].type.ndim == rv.ndim == 1
            use = use._replace(is_chosen=True, chosen=others[0] if is_vector else None)
            is_indexed = True
            are_rows = is_first and node.op.idx_list == (0,) and output.ndim == rv.ndim
        elif isinstance(node.op, Join) and is_alone:
            if use.addends and not any(map(_is_sum, clients.get(output, []))):
                break
            # Other entries may stand beside those of a row.
            use, are_rows = use._replace(is_chosen=True, chosen=None), False
        elif _is_sum(node):
            if is_indexed or use.axis is not None:
                # What the data say of sums of sums, and what is added to these, is not measured.
                return use._replace(axis=None, addends=[])
            # What is added to the entries is part of the sums: it need not be part of a mean.
            use = use._replace(axis=node.op.axis, addends=[])
        elif is_elemwise(node, ps.Mul) and is_alone and not use.addends:
            # Rows that are chosen may be multiplied by a row, other entries that are by a number.
            same = slice(1 if are_rows else None)
            if use.is_chosen and not all(all(x.type.broadcastable[same]) for x in others):
                break
            keeps_axes = are_rows or not use.is_chosen
            if keeps_axes and not (
                _may_have_shape_of(output, rv, first=int(are_rows))
                and all(use.axis is None or x.type.broadcastable[use.axis] for x in others)
            ):
                break
            use.factors.extend(x if keeps_axes else x.squeeze() for x in others)
        elif is_elemwise(node, ps.Add) and is_alone and output.ndim == rv.ndim:
            if not use.is_chosen and not _may_have_shape_of(output, rv):
                break
            use.addends.extend(others)
        elif not is_elemwise(node, *COPIES) and not isinstance(node.op, ViewOp):
            break
        [current] = node.outputs
    return use


def _is_sum(node: Apply) -> bool:
    return isinstance(node.op, CumOp) and node.op.mode == "add"


def _may_have_shape_of(x: TensorVariable, rv: TensorVariable, *, first: int = 0) -> bool:
    """Whether a product or sum with a variable has its shape from an axis on, if that is known."""
    pairs = zip(x.type.shape[first:], rv.type.shape[first:], strict=False)
    return x.ndim == rv.ndim and all(n == m or m is None for n, m in pairs)


def means_of(rv: TensorVariable, use: Use, model: Model) -> list[TensorVariable]:
    """Return what a vector's entries are added to, as far as it differs from entry to entry.

    Parameters
    ----------
    rv : TensorVariable, shape (n,) or any other
        The variable. Of one that is no vector nothing is returned, unless it is summed.
    use : Use
        Its use, by :func:`use_of`.
    model : pymc.Model
        The model, whose random variables stay the same in the graphs.

    Returns
    -------
    list of TensorVariable, shape (n,)
        In a model of batches, read from the columns of all rows.
    """
    is_taken = rv.ndim == 1 or use.axis is not None
    if not is_taken or (use.is_chosen and use.chosen is None):
        return []
    graphs = [_of_entries(x, rv, use.chosen, model) for x in use.addends]
    return [x for x in graphs if x is not None and not all(x.type.broadcastable)]


def _of_entries(
    addend: TensorVariable, rv: TensorVariable, chosen: TensorVariable | None, model: Model
) -> TensorVariable | None:
    """Return what an addend is for all entries, if it is a function of the entry alone.

    Where a batch's rows choose the entries, what depends on these alone is a column of its own.
    """
    found = {x: _column(x) for x in ancestors([addend])}
    columns = {x: column for x, column in found.items() if column is not None}
    if chosen is None:
        return None if columns else addend
    if (numbers := _column(chosen)) is None or not columns:
        return None
    n = rv.type.shape[0] or int(evaluated(rv.owner.inputs[1][0]))
    tables = {x: _table(column, numbers, n) for x, column in columns.items()}
    written = {x: pt.constant(table) for x, table in tables.items() if table is not None}
    if len(written) < len(columns):
        return None
    # Random variables would be new ones in a clone.
    for node in io_toposort([*written, *random_ancestors([addend], model)], [addend]):
        if not written.keys().isdisjoint(node.inputs):
            new = node.op.make_node(*(written.get(x, x) for x in node.inputs))
            written |= dict(zip(node.outputs, new.outputs, strict=True))
    return written[addend]


def _column(x: Variable) -> np.ndarray | None:
    """Return all rows of data of which a variable is a batch."""
    if x.owner is None or not isinstance(x.owner.op, MinibatchOp) or x not in x.owner.outputs:
        return None
    source = x.owner.inputs[x.owner.outputs.index(x)]
    if isinstance(source, SharedVariable):
        return source.get_value(borrow=True)
    return source.data if isinstance(source, Constant) else None


def _table(column: np.ndarray, numbers: np.ndarray, n: int) -> np.ndarray | None:
    """Return a column as a function of the number of the entry, if it is one; else None."""
    if column.ndim != 1 or len(column) != len(numbers) or numbers.min() < 0 or numbers.max() >= n:
        return None
    table = np.zeros(n, column.dtype)
    table[numbers] = column
    return table if np.array_equal(table[numbers], column) else None


def is_elemwise(node: Apply, *kinds: type) -> bool:
    """Whether an operation is one of some on numbers."""
    return isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, kinds)


def random_ancestors(graphs: Sequence[TensorVariable], model: Model) -> set[Variable]:
    """Return the random variables that graphs are functions of."""
    found = ancestors(list(graphs), blockers=model.basic_RVs)
    return {x for x in found if is_random(x, model)}


def is_random(x: Variable, model: Model) -> bool:
    """Whether a variable of a graph is random."""
    drawn = x.owner is not None and isinstance(x.owner.op, RandomVariable)
    return drawn or x in model.rvs_to_transforms

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The ``pm.Minibatch`` calls of a model, and the replacement of their rows by given ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pymc.data import MinibatchOp
from pymc.model import Model
from pymc.variational.minibatch_rv import MinibatchRandomVariable
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable
from pytensor.tensor.type_other import NoneTypeT

from pymc_geodesic.graph_inputs import called, evaluated, graph_input, shared_constant
from pymc_geodesic.potential.batch_structure import require_sum_over_rows
from pymc_geodesic.potential.packed import take_rows

__all__ = [
    "BatchSource",
    "batch_sources",
    "described",
    "find_batch_sources",
    "has_minibatch",
    "model_outputs",
    "n_rows",
    "total_size",
]


@dataclass(frozen=True, eq=False)
class BatchSource:
    """One call of ``pm.Minibatch``: tensors whose rows are drawn together.

    Attributes
    ----------
    batches : tuple of TensorVariable
        The random slices in the model.
    tensors : tuple of TensorVariable
        The whole data, one per slice.
    n_rows, batch_size : int
        Rows of the data and of a batch.
    """

    batches: tuple[TensorVariable, ...]
    tensors: tuple[TensorVariable, ...]
    n_rows: int
    batch_size: int

    def placeholder(self, name: str, n_rows: int | None) -> TensorVariable:
        """Create an input for the indices of rows."""
        return graph_input(name, dtype="int64", shape=(n_rows,))

    def replacements(self, rows: TensorVariable | None) -> dict[TensorVariable, TensorVariable]:
        """Map random slices to the rows with these indices, or to all rows."""
        if rows is None:
            return dict(zip(self.batches, self.tensors, strict=True))
        data = [take_rows(array, rows) for array in self.tensors]
        return dict(zip(self.batches, data, strict=True))


def model_outputs(model: Model) -> list[Variable]:
    """List every variable whose graph can hold data: random variables, their values, potentials."""
    values = [model.rvs_to_values[rv] for rv in model.observed_RVs]
    return [*model.basic_RVs, *model.potentials, *values]


def n_rows(tensor: TensorVariable) -> int:
    """Length of the first axis, without compiling if the type or the data contain it."""
    if tensor.type.shape[0] is not None:
        return int(tensor.type.shape[0])
    if isinstance(tensor, SharedVariable):
        return len(tensor.get_value(borrow=True))
    return int(evaluated(tensor.shape[0]))


def _source(node: Apply) -> BatchSource:
    *tensors, _rng = node.inputs
    *batches, _next_rng = node.outputs
    return BatchSource(
        batches=tuple(batches),
        tensors=tuple(map(shared_constant, tensors)),
        n_rows=_common_length(tensors),
        batch_size=n_rows(batches[0]),
    )


def _common_length(tensors: Sequence[TensorVariable]) -> int:
    """Return the number of rows of the arrays of one call, which PyMC compares when it draws."""
    lengths = [n_rows(tensor) for tensor in tensors]
    if len(set(lengths)) > 1:
        listed = ", ".join(
            f"{length} in {described(tensor, i)}"
            for i, (tensor, length) in enumerate(zip(tensors, lengths, strict=True))
        )
        raise ValueError(
            f"`pm.Minibatch` expected arrays with one number of rows, got {listed}. Row i of every "
            "array must belong to the same observation: drop or select rows in all arrays alike."
        )
    return lengths[0]


def described(tensor: TensorVariable, place: int) -> str:
    """Name an array of ``pm.Minibatch``: the ``pm.Data``, or the place among the arguments."""
    return f"`{name}`" if (name := called(tensor)) else f"argument {place + 1}"


def _minibatch_nodes(model: Model) -> list[Apply]:
    nodes: dict[Apply, None] = {}
    for ancestor in ancestors(model_outputs(model)):
        if ancestor.owner is not None and isinstance(ancestor.owner.op, MinibatchOp):
            nodes[ancestor.owner] = None
    return list(nodes)


def has_minibatch(model: Model) -> bool:
    """Return whether any variable of the model depends on ``pm.Minibatch``."""
    return bool(_minibatch_nodes(model))


def batch_sources(model: Model) -> tuple[BatchSource, ...]:
    """List the ``pm.Minibatch`` calls of a model, in the order of its graph, without checks."""
    return tuple(_source(node) for node in _minibatch_nodes(model))


def find_batch_sources(model: Model, *, of_any_size: bool = False) -> tuple[BatchSource, ...]:
    """Find the ``pm.Minibatch`` calls of a model, in the order of its graph, and check the data.

    Parameters
    ----------
    model : Model
        The model.
    of_any_size : bool
        Whether a batch, which is not drawn, may have more rows than there are.

    Raises
    ------
    ValueError
        If the log likelihood is not a sum over rows that ``total_size`` scales, an observed
        variable has the ``dims`` of all rows, or the data are not finite.
    """
    sources = batch_sources(model)
    for source in sources:
        if not (of_any_size or 1 <= source.batch_size <= source.n_rows):
            raise ValueError(
                "`pm.Minibatch` expected a `batch_size` from 1 to the number of rows, "
                f"{source.n_rows}, got {source.batch_size}. Use smaller batches, or all rows "
                "without `pm.Minibatch`."
            )
    if sources:
        require_sum_over_rows(
            model,
            [source.batches for source in sources],
            data="`pm.Minibatch` data",
            size="`total_size=len(data)`",
        )
        _require_length_of_batch(model, sources)
        _require_finite(model, sources)
    return sources


def _require_length_of_batch(model: Model, sources: Sequence[BatchSource]) -> None:
    lengths = {source.batch_size for source in sources}
    for rv in model.observed_RVs:
        dims = model.named_vars_to_dims.get(rv.name)
        if not dims or not isinstance(rv.owner.op, MinibatchRandomVariable):
            continue
        dim, length = dims[0], int(evaluated(model.dim_lengths[dims[0]]))
        if length not in lengths:
            raise ValueError(
                f"The observed variable `{rv.name}` expected as many rows as a batch has, got the "
                f"dimension {dim!r} of length {length}. Leave `dims` out of variables that observe "
                "`pm.Minibatch` data, because the rows of a batch change with every transition."
            )


def _require_finite(model: Model, sources: Sequence[BatchSource]) -> None:
    observed = set(ancestors([model.rvs_to_values[rv] for rv in model.observed_RVs]))
    for source in sources:
        for place, (batch, array) in enumerate(zip(source.batches, source.tensors, strict=True)):
            if not isinstance(array, Constant | SharedVariable):
                continue
            which = described(array, place) if called(array) else "The data of `pm.Minibatch`"
            data = array.data if isinstance(array, Constant) else array.get_value(borrow=True)
            if np.iscomplexobj(data):
                raise ValueError(
                    f"{which} expected real numbers, got {data.dtype} numbers. Pass their real "
                    "and imaginary parts, or their absolute values."
                )
            # Parameters may be infinite, such as the bounds of uncensored rows.
            good = np.isfinite(data) if batch in observed else ~np.isnan(data)
            if bad := np.size(data) - np.count_nonzero(good):
                raise ValueError(
                    f"{which} expected finite numbers, got {bad} of {np.size(data)} entries that "
                    "are NaN or infinite. Drop or impute those rows."
                )


def total_size(model: Model) -> int:
    """Return N, the rows of the largest observed variable: its ``total_size``, or its length."""
    sizes = [1]
    for rv in model.observed_RVs:
        if isinstance(rv.owner.op, MinibatchRandomVariable):
            given = [size for size in rv.owner.inputs[1:] if not isinstance(size.type, NoneTypeT)]
            sizes.append(int(np.prod([evaluated(size) for size in given])))
        elif rv.ndim:
            sizes.append(n_rows(model.rvs_to_values[rv]))
    return max(sizes)

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Checks of a model's arrays: unchanged, padded places that do not count, none of all rows."""

from __future__ import annotations

import zlib

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from pymc.exceptions import SamplingError
from pymc.model import Model
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorConstant, TensorVariable
from pytensor.tensor.random.type import RandomType
from scipy import sparse

from pymc_geodesic.data_checks.indices import indices_of, named
from pymc_geodesic.data_checks.row_density import NoRowDensity, Point, RowDensity
from pymc_geodesic.potential.minibatch import BatchSource, model_outputs
from pymc_geodesic.potential.packed_groups import has_empty_places, widened

__all__ = ["DataRecord", "require_empty_places", "require_rows_of_batches"]


class DataRecord:
    """Checksums of every array of data that a model depends on.

    A step copies ``pm.Data``, which ``pm.set_data`` replaces. It shares the memory of NumPy arrays,
    which are most of the data and would take it twice.

    Parameters
    ----------
    model : pymc.Model
        The model.
    streams : collection of TensorVariable
        Data variables that stand for a stream, whose values do not matter.
    """

    def __init__(self, model: Model, streams: Collection[TensorVariable] = ()) -> None:
        used = set(ancestors(model_outputs(model))) - set(streams)
        shared = [v for v in model.data_vars if isinstance(v, SharedVariable) and v in used]
        arrays = [v for v in used if isinstance(v, TensorConstant) and v.type.ndim]
        self._data: list[TensorConstant | SharedVariable] = [*shared, *arrays]
        self._sums = [_checksum(variable) for variable in self._data]

    def require_unchanged(self) -> None:
        """Raise an error if data have changed since the record was made.

        Raises
        ------
        SamplingError
            If some data differ from the record.
        """
        for variable, known in zip(self._data, self._sums, strict=True):
            if _checksum(variable) != known:
                name = f"`{variable.name}`" if variable.name else f"An array of shape {known[1]}"
                raise SamplingError(
                    f"{name} expected the data with which the step was created, got other data, "
                    "for example from `pm.set_data` or from a change in place. Create the step "
                    "again."
                )


def _checksum(variable: TensorConstant | SharedVariable) -> tuple[int, tuple[int, ...]]:
    value = (
        variable.data if isinstance(variable, TensorConstant) else variable.get_value(borrow=True)
    )
    parts = [value]
    if sparse.issparse(value):
        rows = value.tocsr()
        parts = [rows.data, rows.indices, rows.indptr]
    total = 0
    for part in parts:
        total = zlib.crc32(np.ascontiguousarray(part).reshape(-1).view("uint8"), total)
    return total, value.shape


# Groups whose log densities are compared.
N_GROUPS = 8
# Places added to every group.
N_PLACES = 3


def require_empty_places(densities: Sequence[RowDensity], point: Point) -> None:
    """Refuse an observed variable whose log density depends on how wide packed groups are.

    Parameters
    ----------
    densities : sequence of RowDensity
        Densities of the observed variables.
    point : mapping
        Values of the free variables.

    Raises
    ------
    ValueError
        If more empty places change the log density.
    """
    for here in densities:
        source = here.source
        if not (isinstance(source, BatchSource) and any(map(has_empty_places, source.tensors))):
            continue
        tensors = tuple(widened(tensor, by=N_PLACES) for tensor in source.tensors)
        wider = RowDensity(here.model, here.rv, replace(source, tensors=tensors))
        _require_same(here, wider, point, np.arange(min(N_GROUPS, source.n_rows)))


def _require_same(here: RowDensity, there: RowDensity, point: Point, rows: np.ndarray) -> None:
    try:
        narrow, wide = here(point, rows), there(point, rows)
    except NoRowDensity:
        return
    if not np.allclose(narrow.sum(), wide.sum(), rtol=1e-6, equal_nan=True):
        raise ValueError(
            f"The observed variable `{here.name}` expected a log density of the rows of each group "
            "alone, got one that also counts the empty places of groups with fewer rows than the "
            "largest. Observe the column by `pmg.GroupLikelihood(name, rows, mask, ...)` or "
            "`pmg.MarginalLikelihood`, with `rows.mask` from the same `pm.Minibatch`."
        )


def require_rows_of_batches(density: RowDensity, point: Point, head: np.ndarray) -> None:
    """Refuse an observed variable whose parameters have all rows, where its values are a batch.

    Parameters
    ----------
    density : RowDensity
        Density of the observed variable.
    point : mapping
        Values of the free variables.
    head : ndarray
        Numbers of some rows, or some rows of a stream.

    Raises
    ------
    ValueError
        If the log density cannot be evaluated for a batch.
    """
    if not density.has_density:
        return
    try:
        density(point, head)
    except NoRowDensity as error:
        names, source = list(dict.fromkeys(_whole_arrays(density))), density.source
        cause = error.__cause__
        if not names and isinstance(cause, ValueError | IndexError):
            reason = str(cause).splitlines()[0].strip(" .")
            raise ValueError(
                f"The observed variable `{density.name}` expected a log density of any "
                f"{source.batch_size} rows of a batch, got an error: {reason}. "
                "Give all its data the rows of the batch, and take shapes from them."
            ) from cause
        if not names:
            return
        advice = (
            "Pass them to the same call of `pm.Minibatch` as the other data, such as `x, y = "
            "pm.Minibatch(X, Y, batch_size=100)`."
            if isinstance(source, BatchSource)
            else f"Read them as columns of `{source.name}`."
        )
        raise ValueError(
            f"The observed variable `{density.name}` expected {source.batch_size} rows of a batch "
            f"in all its data, got all {source.n_rows} rows in {' and '.join(names)}. {advice}"
        ) from None


def _whole_arrays(density: RowDensity) -> Iterator[str]:
    """Name the arrays with all rows that are not data of the batches themselves."""
    rows, term = density.graph
    source = density.source
    own: set[Variable] = set(source.tensors) if isinstance(source, BatchSource) else {rows}
    indexed = {index.variable: named(index.array) for index in indices_of([term])}
    for x in ancestors([term]):
        if x in own or not isinstance(x, Constant | SharedVariable):
            continue
        if isinstance(x.type, RandomType):
            continue
        shape = np.shape(x.data if isinstance(x, Constant) else x.get_value(borrow=True))
        if shape[:1] == (source.n_rows,):
            unnamed = f"the index of {indexed[x]}" if x in indexed else f"an array of shape {shape}"
            yield f"`{x.name}`" if x.name else unnamed

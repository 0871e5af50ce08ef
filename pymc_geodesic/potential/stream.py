#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Data read batch by batch, in place of a ``pm.Data`` of the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from pymc.model import Model
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.tensor import TensorVariable

from pymc_geodesic.graph_inputs import evaluated, graph_input
from pymc_geodesic.potential.batch_structure import batched_variables, require_sum_over_rows
from pymc_geodesic.potential.minibatch import BatchSource, find_batch_sources

__all__ = ["RandomRows", "RowCheck", "Source", "StreamSource", "find_sources", "find_streams"]


class RowCheck(Protocol):
    """A check of the rows of a stream, made in its first complete pass.

    Attributes
    ----------
    complete : bool
        Whether a complete pass has been checked.
    """

    complete: bool

    def __call__(self, rows: np.ndarray, first: int) -> str | None:
        """Return why some rows cannot be observed, or None; ``first`` is the first row's index."""
        ...


@runtime_checkable
class RandomRows(Protocol):
    """Data that give rows at random, and can be read in parts.

    Attributes
    ----------
    n_rows : int
        Number of all rows.
    partitions : sequence of iterable of ndarray
        Parts of them. Each gives its rows block by block, by ``rows(places)`` those with given
        places in it, and has the number of its ``first`` row.
    shuffled : bool
        Whether rows are stored in random order, so that they need not be drawn at random.
    """

    n_rows: int
    partitions: Sequence[Any]
    shuffled: bool

    def sample(self, rng: np.random.Generator, n_rows: int, *, spread: Any = None) -> np.ndarray:
        """Read different rows in random order; ``spread`` reads those of several partitions."""
        ...


@dataclass(frozen=True, eq=False)
class StreamSource:
    """A ``pm.Data`` whose batches are read from a loader.

    Attributes
    ----------
    name : str
        Name of the data variable.
    variable : TensorVariable
        The data variable.
    loader : iterable of ndarray
        Yields the batches of one pass each time it is iterated over.
    n_rows, batch_size : int
        Rows of the whole data, by the model's ``total_size``, and of a batch.
    check : RowCheck or None
        Check of the rows.
    """

    name: str
    variable: TensorVariable
    loader: Iterable[np.ndarray]
    n_rows: int
    batch_size: int
    check: RowCheck | None = None

    @property
    def batches(self) -> tuple[TensorVariable, ...]:
        """The tensors of the model that hold a batch."""
        return (self.variable,)

    @property
    def row_shape(self) -> tuple[int, ...]:
        """Shape of one row."""
        return self.variable.get_value(borrow=True).shape[1:]

    @property
    def dtype(self) -> str:
        """Type of the entries."""
        return self.variable.type.dtype

    @property
    def random_rows(self) -> RandomRows | None:
        """The loader, if rows are to be drawn from it at random."""
        loader = self.loader
        return loader if isinstance(loader, RandomRows) and not loader.shuffled else None

    @property
    def partitions(self) -> Sequence[Any]:
        """Parts of the data that can be read by themselves, if the loader has them."""
        return self.loader.partitions if isinstance(self.loader, RandomRows) else ()

    def placeholder(self, name: str, n_rows: int | None) -> TensorVariable:
        """Create an input for rows of the data."""
        return graph_input(name, dtype=self.dtype, shape=(n_rows, *self.row_shape))

    def replacements(self, rows: TensorVariable) -> dict[TensorVariable, TensorVariable]:
        """Map the data variable to rows."""
        return {self.variable: rows}


type Source = BatchSource | StreamSource
"""Where the rows of batches come from: data in memory, or a stream."""


def find_sources(
    model: Model, data: Mapping[str, Iterable[np.ndarray]] | None
) -> tuple[Source, ...]:
    """Return the sources of a model's batches: its minibatches, or the user's ``data=``.

    Raises
    ------
    ValueError
        If there are both, or one of them cannot be read.
    """
    resident, streams = find_batch_sources(model), find_streams(model, data)
    if resident and streams:
        raise ValueError(
            "The model expected either `pm.Minibatch` or streams in `data`, got both. Read all "
            "data from streams, or keep all data in memory."
        )
    return resident or streams


def find_streams(
    model: Model, data: Mapping[str, Iterable[np.ndarray]] | None
) -> tuple[StreamSource, ...]:
    """Read the user's ``data=``.

    Raises
    ------
    ValueError
        If there is not exactly one stream, a name is not that of a ``pm.Data``, a loader cannot be
        iterated over again, or the log likelihood is not a sum over rows that ``total_size``
        scales.
    """
    if data is not None and len(data) != 1:
        raise ValueError(
            f"`data` expected one stream, got {sorted(data)}. Read all columns from one loader "
            "into one `pm.Data`, and use its columns in the model."
        )
    return tuple(_stream(model, name, loader) for name, loader in (data or {}).items())


def _stream(model: Model, name: str, loader: Iterable[np.ndarray]) -> StreamSource:
    variable = model.named_vars.get(name)
    if not isinstance(variable, SharedVariable):
        known = [v.name for v in model.data_vars]
        raise ValueError(f"`data` expected names of `pm.Data` of the model, {known}, got {name!r}.")
    if isinstance(loader, Iterator) or not isinstance(loader, Iterable):
        raise ValueError(
            f"`data` expected an iterable that can be iterated over repeatedly for `{name}`, "
            f"such as a list or a `DataLoader`, got a {type(loader).__name__}. An iterator ends "
            "after one pass."
        )
    require_sum_over_rows(
        model,
        [[variable]],
        data=f"the stream `{name}`",
        size="`total_size=` with the rows of the whole stream",
    )
    scaled = batched_variables(model, [variable])
    if not scaled:
        raise ValueError(
            f"`data` expected a `pm.Data` on which an observed variable depends, got `{name}`."
        )
    n_rows = max(int(evaluated(rv.owner.inputs[1])) for rv in scaled)
    if isinstance(loader, RandomRows) and loader.n_rows != n_rows:
        raise ValueError(
            f"`total_size` expected the rows that `{name}` is read from, {loader.n_rows}, got "
            f"{n_rows}. Pass their `n_rows`."
        )
    batch_size = variable.get_value(borrow=True).shape[0]
    if not 1 <= batch_size <= n_rows:
        raise ValueError(
            f"`{name}` expected a batch of 1 to {n_rows} rows, the `total_size`, got {batch_size}. "
            "Create the `pm.Data` with fewer rows."
        )
    return StreamSource(name, variable, loader, n_rows, batch_size)

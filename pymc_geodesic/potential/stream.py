#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Data that is read batch by batch, in place of a ``pm.Data`` of the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from pymc.model import Model
from pymc.variational.minibatch_rv import MinibatchRandomVariable
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable, tensor

from pymc_geodesic.potential.minibatch import total_size

__all__ = ["StreamSource", "find_streams"]


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
        Gives the batches of one pass each time it is iterated over.
    n_rows, batch_size : int
        Rows of the whole data, by the model's ``total_size``, and of a batch.
    """

    name: str
    variable: TensorVariable
    loader: Iterable[np.ndarray]
    n_rows: int
    batch_size: int

    @property
    def row_shape(self) -> tuple[int, ...]:
        """Shape of one row."""
        return self.variable.get_value(borrow=True).shape[1:]

    @property
    def dtype(self) -> str:
        """Type of the entries."""
        return self.variable.type.dtype

    def placeholder(self, name: str, n_rows: int | None) -> TensorVariable:
        """Make an input for rows of the data."""
        return tensor(name, dtype=self.dtype, shape=(n_rows, *self.row_shape))

    def replacements(self, rows: TensorVariable) -> dict[TensorVariable, TensorVariable]:
        """Put rows in the place of the data variable."""
        return {self.variable: rows}


def find_streams(
    model: Model, data: Mapping[str, Iterable[np.ndarray]] | None
) -> tuple[StreamSource, ...]:
    """Read the user's ``data=``.

    Raises
    ------
    ValueError
        If there is not exactly one stream, a name is not that of a ``pm.Data``, a loader cannot be
        iterated over again, or a variable observes a stream without ``total_size``.
    """
    if data is not None and len(data) != 1:
        raise ValueError(
            f"`data` expected one stream, got {sorted(data)}. Read all columns from one loader "
            "into one `pm.Data`, and take the model's parts from its columns."
        )
    return tuple(_stream(model, name, loader) for name, loader in (data or {}).items())


def _stream(model: Model, name: str, loader: Iterable[np.ndarray]) -> StreamSource:
    variable = model.named_vars.get(name)
    if not isinstance(variable, SharedVariable):
        known = [v.name for v in model.data_vars]
        raise ValueError(f"`data` expected names of `pm.Data` of the model, {known}, got {name!r}.")
    if isinstance(loader, Iterator) or not isinstance(loader, Iterable):
        raise ValueError(
            f"`data` expected something that can be iterated over again and again for `{name}`, "
            f"such as a list or a `DataLoader`, got a {type(loader).__name__}. An iterator ends "
            "after one pass."
        )
    depends = False
    for rv in model.observed_RVs:
        if variable in ancestors([rv, model.rvs_to_values[rv]]):
            depends = True
            if not isinstance(rv.owner.op, MinibatchRandomVariable):
                raise ValueError(
                    f"The observed variable `{rv.name}` depends on the stream `{name}` but has no "
                    "`total_size`, so its log likelihood cannot be scaled to the whole data. Pass "
                    "`total_size=` with the rows of the whole stream to it."
                )
    if not depends:
        raise ValueError(f"No observed variable depends on the `pm.Data` `{name}`.")
    n_rows = variable.get_value(borrow=True).shape[0]
    return StreamSource(name, variable, loader, total_size(model), n_rows)

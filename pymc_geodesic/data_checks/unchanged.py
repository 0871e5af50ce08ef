#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A check that the data of a model have not changed since a step was created."""

from __future__ import annotations

import zlib

from collections.abc import Collection

import numpy as np

from pymc.exceptions import SamplingError
from pymc.model import Model
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorConstant, TensorVariable

from pymc_geodesic.potential.minibatch import model_outputs

__all__ = ["DataRecord"]


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
    value = np.ascontiguousarray(value)
    return zlib.crc32(value.reshape(-1).view("uint8")), value.shape

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A check that the data of a model have not changed since a step copied them."""

from __future__ import annotations

import zlib

from collections.abc import Collection

import numpy as np

from pymc.exceptions import SamplingError
from pymc.model import Model
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable

from pymc_geodesic.potential.minibatch import model_outputs

__all__ = ["DataRecord"]


class DataRecord:
    """Checksums of every ``pm.Data`` that a model depends on.

    Parameters
    ----------
    model : pymc.Model
        The model.
    streams : collection of TensorVariable
        Data variables that stand for a stream, whose values do not matter.
    """

    def __init__(self, model: Model, streams: Collection[TensorVariable] = ()) -> None:
        used = set(ancestors(model_outputs(model)))
        self._data = [
            variable
            for variable in model.data_vars
            if isinstance(variable, SharedVariable) and variable in used - set(streams)
        ]
        self._sums = [_checksum(variable) for variable in self._data]

    def require_unchanged(self) -> None:
        """Raise an error if data have changed since they were copied.

        Raises
        ------
        SamplingError
            If the value of a ``pm.Data`` differs from the record.
        """
        for variable, known in zip(self._data, self._sums, strict=True):
            if _checksum(variable) != known:
                raise SamplingError(
                    f"`{variable.name}` expected the data that the step copied when it was "
                    "created, got other data, for example from `pm.set_data`. Create the step "
                    "again."
                )


def _checksum(variable: SharedVariable) -> tuple[int, tuple[int, ...]]:
    value = np.ascontiguousarray(variable.get_value(borrow=True))
    return zlib.crc32(value.reshape(-1).view("uint8")), value.shape

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The data of a model while its graph is copied."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from pymc.model import Model
from pytensor.compile.sharedvalue import SharedVariable

__all__ = ["held_data"]


@contextmanager
def held_data(model: Model) -> Iterator[dict[SharedVariable, np.ndarray]]:
    """Hold the arrays of ``pm.Data``, so that PyMC, which copies them with a graph, copies nothing.

    Yields
    ------
    dict of SharedVariable to ndarray
        The arrays, to be given to the copies without a copy: ``pm.set_data`` replaces the array of
        one model, and writes into none.
    """
    shared = [x for x in model.data_vars if isinstance(x, SharedVariable)]
    held = {x: x.get_value(borrow=True) for x in shared}
    held = {x: values for x, values in held.items() if isinstance(values, np.ndarray)}
    try:
        for x, values in held.items():
            x.container.storage[0] = np.empty((0,) * values.ndim, values.dtype)
        yield held
    finally:
        for x, values in held.items():
            x.container.storage[0] = values

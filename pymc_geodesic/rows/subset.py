#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The same model of some of its rows."""

from __future__ import annotations

import numpy as np

from numpy.typing import ArrayLike
from pymc.model import Model

from pymc_geodesic.potential.minibatch import n_rows
from pymc_geodesic.rows.conversion import Conversion
from pymc_geodesic.rows.plain_tensors import plain

__all__ = ["subset"]


def subset(model: Model, rows: ArrayLike) -> Model:
    """Return the same model of chosen rows.

    Parameters
    ----------
    model : Model
        With all of its data. It is not changed.
    rows : array_like of int or bool
        The rows of the longest observed variable, and of all that have as many. To leave some out,
        pass a mask that is False there.

    Returns
    -------
    Model
        Its log density has the terms of these rows, and all terms of variables of other lengths.
        Free variables keep all of their entries; Deterministics of the rows are left out.

    Raises
    ------
    DependentRowsError
        If rows depend on each other.
    IndexError
        If there is no such row.
    """
    model = plain(model)
    lengths = [n_rows(model.rvs_to_values[rv]) for rv in model.observed_RVs if rv.ndim]
    longest = max(lengths, default=0)
    conversion = Conversion(model, max(longest - 1, 0))
    [n] = conversion.streams or [0]
    return conversion.model_of_rows(n, np.arange(n)[np.asarray(rows)])

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The map between PyMC's values and those of partially centred coordinates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytensor.tensor as pt

from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.potential import Potential

__all__ = ["CenteredValues"]


class CenteredValues:
    """Values inside a sampler and outside; those of most variables are the same arrays.

    Parameters
    ----------
    potential : Potential
        Knows the variables.
    """

    def __init__(self, potential: Potential) -> None:
        moved = [(i, v) for i, v in enumerate(potential.variables) if v.log_ratio is not None]
        self._places = [i for i, _ in moved]
        values = [variable.value for variable in potential.variables]
        ratios = [pt.exp(variable.log_ratio) for _, variable in moved]
        self._function = Interpreted(values, ratios)

    def inside(self, values: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the values of the sampler's coordinates for those of PyMC."""
        return self._changed(values, np.multiply)

    def outside(self, values: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return PyMC's values for those of the sampler's coordinates."""
        return self._changed(values, np.divide)

    def _changed(self, values: Sequence[np.ndarray], change: np.ufunc) -> list[np.ndarray]:
        changed = list(values)
        if not self._places:
            return changed
        # Ratios depend on other variables, whose values are the same inside and outside.
        for i, ratio in zip(self._places, self._function(*values), strict=True):
            changed[i] = np.asarray(change(values[i], ratio), values[i].dtype)
        return changed

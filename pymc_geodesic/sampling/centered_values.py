#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The map between PyMC's values and those of partially centred coordinates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.centering import inside, outside

__all__ = ["CenteredValues"]


class CenteredValues:
    """Values inside a sampler and outside; those of most variables are the same arrays.

    Parameters
    ----------
    potential : Potential
        Knows the variables.
    """

    def __init__(self, potential: Potential) -> None:
        variables = potential.variables
        self._places = [i for i, v in enumerate(variables) if v.coordinate is not None]
        values = [variable.value for variable in variables]
        inner, outer = inside(variables, values), outside(variables, values)
        self._inside = Interpreted(values, [inner[i] for i in self._places])
        self._outside = Interpreted(values, [outer[values[i]] for i in self._places])

    def inside(self, values: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the values of the sampler's coordinates for those of PyMC."""
        return self._changed(values, self._inside)

    def outside(self, values: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return PyMC's values for those of the sampler's coordinates."""
        return self._changed(values, self._outside)

    def _changed(self, values: Sequence[np.ndarray], change: Interpreted) -> list[np.ndarray]:
        changed = list(values)
        if self._places:
            for i, x in zip(self._places, change(*values), strict=True):
                changed[i] = np.asarray(x, values[i].dtype)
        return changed

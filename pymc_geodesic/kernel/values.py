#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The map from PyMC's values to points of the embedding."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.variables import as_points

__all__ = ["PointMap"]


class PointMap:
    """Map PyMC's values to points. Those of flat variables are the same arrays.

    Parameters
    ----------
    potential : Potential
        Knows the variables.
    """

    def __init__(self, potential: Potential) -> None:
        self._is_flat = [variable.is_flat for variable in potential.variables]
        values = [variable.value for variable in potential.variables]
        points = as_points(potential.variables, values)
        curved = [x for x, flat in zip(points, self._is_flat, strict=True) if not flat]
        self._function = Interpreted(values, curved)

    def __call__(self, values: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
        """Return the points."""
        if all(self._is_flat):
            return tuple(values)
        curved = iter(self._function(*values))
        pairs = zip(values, self._is_flat, strict=True)
        return tuple(x if flat else np.asarray(next(curved), order="C") for x, flat in pairs)

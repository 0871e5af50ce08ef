#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Pictures of draws on manifolds."""

from pymc_geodesic.plots.coordinates import from_longitude_latitude, to_longitude_latitude
from pymc_geodesic.plots.sphere import plot_sphere

__all__ = ["from_longitude_latitude", "plot_sphere", "to_longitude_latitude"]

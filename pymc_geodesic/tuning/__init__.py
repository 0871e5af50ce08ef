#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Measurements of a tuning phase, and the step size, friction and mass derived from them."""

from pymc_geodesic.tuning.center import find_center
from pymc_geodesic.tuning.curvature import curvature_mass, largest_curvature
from pymc_geodesic.tuning.directions import initial_directions
from pymc_geodesic.tuning.mass_adaptation import MassAdaptation, MassRecord
from pymc_geodesic.tuning.monte_carlo_em import MonteCarloEM
from pymc_geodesic.tuning.noise import measure_noise

__all__ = [
    "MassAdaptation",
    "MassRecord",
    "MonteCarloEM",
    "curvature_mass",
    "find_center",
    "initial_directions",
    "largest_curvature",
    "measure_noise",
]

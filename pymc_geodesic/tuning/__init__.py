#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What a tuning phase measures, and the step size, friction and mass it derives from it."""

from pymc_geodesic.tuning.center import find_center
from pymc_geodesic.tuning.curvature import curvature_mass, largest_curvature
from pymc_geodesic.tuning.directions import initial_directions
from pymc_geodesic.tuning.noise import GradientNoise, measure_noise
from pymc_geodesic.tuning.rules import Demands, friction_rule, langevin_rule, thermostat_rule

__all__ = [
    "Demands",
    "GradientNoise",
    "curvature_mass",
    "find_center",
    "friction_rule",
    "initial_directions",
    "langevin_rule",
    "largest_curvature",
    "measure_noise",
    "thermostat_rule",
]

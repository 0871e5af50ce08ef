#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Dynamics: pure symbolic maps from a state, a gradient and noise to the next state."""

from pymc_geodesic.algorithms.gmc import leapfrog
from pymc_geodesic.algorithms.gsgnht import gsgnht
from pymc_geodesic.algorithms.sggmc import sggmc
from pymc_geodesic.algorithms.sgld import sgld
from pymc_geodesic.algorithms.sgnht import sgnht_euler
from pymc_geodesic.algorithms.sgnphmc import sgnphmc
from pymc_geodesic.algorithms.sgrld import metropolis_sgrld, sgrld
from pymc_geodesic.algorithms.state import State
from pymc_geodesic.algorithms.thermostat import Thermostat
from pymc_geodesic.potential.estimate import Estimate, Estimator

__all__ = [
    "Estimate",
    "Estimator",
    "State",
    "Thermostat",
    "gsgnht",
    "leapfrog",
    "metropolis_sgrld",
    "sggmc",
    "sgld",
    "sgnht_euler",
    "sgnphmc",
    "sgrld",
]

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Dynamics: pure symbolic maps from a state, a gradient and noise to the next state."""

from pymc_geodesic.dynamics.gmc import leapfrog
from pymc_geodesic.dynamics.gsgnht import gsgnht
from pymc_geodesic.dynamics.sggmc import sggmc
from pymc_geodesic.dynamics.sgld import sgld
from pymc_geodesic.dynamics.sgnht import sgnht_euler
from pymc_geodesic.dynamics.sgnphmc import sgnphmc
from pymc_geodesic.dynamics.sgrld import metropolis_sgrld, sgrld
from pymc_geodesic.dynamics.state import Estimate, Estimator, State
from pymc_geodesic.dynamics.thermostat import Thermostat

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

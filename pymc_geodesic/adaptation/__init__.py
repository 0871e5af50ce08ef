#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Mass matrices: given, or learned while sampling."""

from pymc_geodesic.adaptation.mass import JointMass, Mass, VariableMasses
from pymc_geodesic.adaptation.mass_adaptation import MassAdaptation, MassRecord
from pymc_geodesic.adaptation.monte_carlo_em import MonteCarloEM
from pymc_geodesic.adaptation.read import read_mass

__all__ = [
    "JointMass",
    "Mass",
    "MassAdaptation",
    "MassRecord",
    "MonteCarloEM",
    "VariableMasses",
    "read_mass",
]

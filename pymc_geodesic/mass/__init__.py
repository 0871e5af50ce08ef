#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Mass matrices: as arrays, and as symbolic frames in which the mass is one."""

from pymc_geodesic.mass.arrays import JointMass, Mass, VariableMasses
from pymc_geodesic.mass.low_rank import LowRankMass
from pymc_geodesic.mass.read import read_mass
from pymc_geodesic.mass.tangent import FrameMass, TangentMass

__all__ = [
    "FrameMass",
    "JointMass",
    "LowRankMass",
    "Mass",
    "TangentMass",
    "VariableMasses",
    "read_mass",
]

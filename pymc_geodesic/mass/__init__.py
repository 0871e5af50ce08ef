#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Mass matrices: as arrays, and as the symbolic frames in which they are one."""

from pymc_geodesic.mass.arrays import JointMass, Mass, VariableMasses
from pymc_geodesic.mass.low_rank import LowRankMass
from pymc_geodesic.mass.read import read_mass
from pymc_geodesic.mass.tangent import TangentMass

__all__ = ["JointMass", "LowRankMass", "Mass", "TangentMass", "VariableMasses", "read_mass"]

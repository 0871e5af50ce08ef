#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Small data sets shipped with the package."""

from pymc_geodesic.datasets.comets import load_comets
from pymc_geodesic.datasets.protein_angles import load_protein_angles

__all__ = ["load_comets", "load_protein_angles"]

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Small data sets shipped with the package."""

from pymc_geodesic.datasets.tables import load_comets, load_protein_angles

__all__ = ["load_comets", "load_protein_angles"]

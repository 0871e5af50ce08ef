#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Step methods: the interface to PyMC."""

from pymc_geodesic.run_record import install as install_run_record
from pymc_geodesic.step_methods.gmc import GMC, GMCWithinGibbs
from pymc_geodesic.step_methods.sggmc import SGGMC
from pymc_geodesic.step_methods.sghmc import SGHMC, SGLD, SGNPHMC
from pymc_geodesic.step_methods.sgnht import SGNHT, gSGNHT
from pymc_geodesic.step_methods.sgrld import SGRLD

install_run_record()

__all__ = [
    "GMC",
    "SGGMC",
    "SGHMC",
    "SGLD",
    "SGNHT",
    "SGNPHMC",
    "SGRLD",
    "GMCWithinGibbs",
    "gSGNHT",
]

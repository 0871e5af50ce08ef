#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Reading what a stochastic-gradient sampler has drawn."""

from pymc_geodesic.diagnostics.directional import (
    angles_to,
    angular_sd,
    cap_radius,
    mean_direction,
    mean_resultant_length,
)
from pymc_geodesic.diagnostics.summary import summary
from pymc_geodesic.diagnostics.weighted import weighted

__all__ = [
    "angles_to",
    "angular_sd",
    "cap_radius",
    "mean_direction",
    "mean_resultant_length",
    "summary",
    "weighted",
]

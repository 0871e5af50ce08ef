#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Whether a model is sampled right: simulation-based calibration."""

from pymc_geodesic.calibration.calibrate import calibrate

__all__ = ["calibrate"]

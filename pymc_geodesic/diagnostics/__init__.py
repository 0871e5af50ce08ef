#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Reading what a stochastic-gradient sampler has drawn."""

from pymc_geodesic.diagnostics.weighted import weighted

__all__ = ["weighted"]

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Quantities of rows at the draws of a posterior: predictions, memberships of components."""

from pymc_geodesic.predictions.membership import membership
from pymc_geodesic.predictions.predict import predict

__all__ = ["membership", "predict"]

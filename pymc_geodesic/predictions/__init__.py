#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Quantities of rows at the draws of a posterior: predictions of rows, old and new."""

from pymc_geodesic.predictions.predict import predict

__all__ = ["predict"]

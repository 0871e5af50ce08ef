#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Checks of the data of a step, before sampling."""

from pymc_geodesic.data_checks.checks import DataChecks

__all__ = ["DataChecks"]

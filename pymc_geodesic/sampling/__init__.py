#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Sampling: a chain is a value, and ``advance`` the only way forward."""

from pymc_geodesic.sampling.advance import advance, begin
from pymc_geodesic.sampling.chain import Chain, Settings

__all__ = ["Chain", "Settings", "advance", "begin"]

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Sampling: a chain is a value; ``advance`` moves one, and ``run`` several."""

from pymc_geodesic.sampling.advance import advance, begin
from pymc_geodesic.sampling.chain import Chain, ChainFailure, Settings
from pymc_geodesic.sampling.run import ChainMethod, run

__all__ = ["Chain", "ChainFailure", "ChainMethod", "Settings", "advance", "begin", "run"]

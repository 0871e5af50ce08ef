#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Very many groups: tables as groups of rows, and their likelihoods."""

from pymc_geodesic.groups.grouped_rows import GroupedRows
from pymc_geodesic.groups.likelihood import GroupLikelihood
from pymc_geodesic.groups.marginal import MarginalLikelihood

__all__ = ["GroupLikelihood", "GroupedRows", "MarginalLikelihood"]

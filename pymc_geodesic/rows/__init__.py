#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Models of some rows, from models that were written for all of their data."""

# Their rules register themselves.
from pymc_geodesic.rows import elementwise_rules, indexing_rules, loop_rules  # noqa: F401
from pymc_geodesic.rows.convert import minibatch
from pymc_geodesic.rows.refusals import DependentRowsError

__all__ = ["DependentRowsError", "minibatch"]

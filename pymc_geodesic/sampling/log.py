#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The logger of everything that is said while sampling."""

from __future__ import annotations

import logging

__all__ = ["log"]

# PyMC's own: who silences PyMC silences these lines too.
log = logging.getLogger("pymc")

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The logger of all messages while sampling."""

from __future__ import annotations

import logging

__all__ = ["log"]

# PyMC's own logger, so that silencing PyMC silences these lines too.
log = logging.getLogger("pymc")

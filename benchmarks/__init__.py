#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Measurements, by subject: ``python -m benchmarks.FOLDER.NAME`` from the repository's root."""

import sys

from pathlib import Path

# Targets that are examples too are written there, once. Examples are scripts that import each other
# by bare names, so that their folder is looked through, after all others.
sys.path.append(str(Path(__file__).parents[1] / "examples"))

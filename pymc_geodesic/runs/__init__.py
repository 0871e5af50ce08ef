#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Whole runs: from a model to the ``DataTree`` that ``pm.sample`` would return."""

from pymc_geodesic.runs.checkpoints.folder import CheckpointError
from pymc_geodesic.runs.few_rows import find_starts
from pymc_geodesic.runs.local_posterior import local_posterior
from pymc_geodesic.runs.refine import refine
from pymc_geodesic.runs.running_moments import RunningMoments
from pymc_geodesic.runs.sample import ChainError, sample
from pymc_geodesic.runs.saved import read, resume, save
from pymc_geodesic.runs.update import update

__all__ = [
    "ChainError",
    "CheckpointError",
    "RunningMoments",
    "find_starts",
    "local_posterior",
    "read",
    "refine",
    "resume",
    "sample",
    "save",
    "update",
]

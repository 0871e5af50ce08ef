#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A check that the variables of the rows of a batch have moved."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pymc_geodesic.diagnostics.findings import Finding, Severity

__all__ = ["check_local_rows"]

# Outlying rows matter most: unmoved rows with a share of 0.0015 moved a scale by 23 posterior sds.
MOST_UNMOVED, FAR_TOO_MANY = 1e-4, 1e-3


def check_local_rows(stats: Mapping[str, np.ndarray]) -> list[Finding]:
    """Look for rows whose local variables never moved, which biases all other variables.

    Parameters
    ----------
    stats : mapping of str to ndarray
        Sample statistics, ``(chain, draw)``, of any step.
    """
    share = float(np.mean(stats.get("local_unmoved", 0.0)))
    if share <= MOST_UNMOVED:
        return []
    sentence = (
        f"The local variables of {100 * share:.2g} per cent of the rows never moved from their "
        "start, which biases the global variables."
    )
    advice = (
        "Leave out `step_size` of `pmg.LocalGMC`, so that each row finds its own, or decrease it. "
        "With few trajectories, increase `tune`. More `draws` do not help."
    )
    severity: Severity = "error" if share > FAR_TOO_MANY else "warning"
    evidence = {"local_unmoved": share}
    return [Finding("local_rows_unmoved", severity, sentence, advice, evidence)]

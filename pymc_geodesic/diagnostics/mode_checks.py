#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A check that chains cross between the modes that were found before the first draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from pymc_geodesic.diagnostics.findings import Finding, Severity
from pymc_geodesic.run_record import ModeRecord, RunRecord, advice_on_modes, of_modes

__all__ = ["SEVERAL", "check_modes", "not_looked", "with_modes"]

SEVERAL = "several_modes"
# What chains in different modes also are.
EXPLAINED = frozenset({"different_modes", "chains_tuned_apart", "not_stationary"})
# Crossings of a chain, on average, from which on its time in two modes tells their shares to a
# third. R-hat judges the rest.
ENOUGH = 10
# Share of the distance between two modes within which a draw is at one of them. Of a wide mode
# some draws are nearer to its neighbour.
CORE = 0.25
# Share of the probability that is an error to leave out.
MATTERS = 0.05


def check_modes(records: Sequence[RunRecord], idata: xr.DataTree) -> list[Finding]:
    """Report modes between which chains do not cross.

    Parameters
    ----------
    records : sequence of RunRecord
        Records of the steps of a run.
    idata : DataTree
        The run.
    """
    draws = idata["posterior"].to_dataset() if "posterior" in idata else xr.Dataset()
    found = []
    for record in records:
        if (modes := record.modes) is None:
            continue
        crossings = [_crossings(one, draws) for one in modes.others]
        apart = [one for one, n in zip(modes.others, crossings, strict=True) if n < ENOUGH]
        if not apart:
            continue
        evidence = {
            "weights": [modes.weight, *(one.weight for one in modes.others)],
            "crossings_per_chain": crossings,
        }
        sentence = f"{of_modes(modes)} Chains hardly cross between them."
        severity: Severity = "error" if max(one.weight for one in apart) > MATTERS else "warning"
        found.append(Finding(SEVERAL, severity, sentence, advice_on_modes(modes), evidence))
    return found


def with_modes(
    findings: Sequence[Finding], records: Sequence[RunRecord], idata: xr.DataTree
) -> list[Finding]:
    """Add modes to findings, and leave out those that they explain."""
    several = check_modes(records, idata)
    return several + [one for one in findings if not (several and one.name in EXPLAINED)]


def not_looked(records: Sequence[RunRecord]) -> str:
    """Say why other modes were not looked for; empty if they were, or if nothing is known."""
    reasons = [record.modes.not_looked for record in records if record.modes is not None]
    return next((f"other modes of the posterior: {why}." for why in reasons if why), "")


def _crossings(mode: ModeRecord, draws: xr.Dataset) -> float:
    """Count how often a chain goes from the heaviest mode to another or back, on average."""
    if mode.variable not in draws:
        return 0.0
    place: tuple[Any, ...] = (..., *mode.place)
    x = draws[mode.variable].transpose("chain", "draw", ...).to_numpy()[place]
    gap = abs(mode.value - mode.heaviest)
    is_there = np.abs(x - mode.value) < CORE * gap
    is_at_one = is_there | (np.abs(x - mode.heaviest) < CORE * gap)
    changes = [
        np.count_nonzero(np.diff(there[at_one].astype(int)))
        for there, at_one in zip(is_there, is_at_one, strict=True)
    ]
    return float(np.mean(changes))

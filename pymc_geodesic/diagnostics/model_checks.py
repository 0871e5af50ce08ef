#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Checks that need the model: rows of data, temperatures of positions, modes, local variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from pymc.model import Model

from pymc_geodesic.diagnostics.findings import TOO_LARGE, TOO_SMALL, Finding, Severity
from pymc_geodesic.diagnostics.thermostat_checks import LARGEST_DAMPING
from pymc_geodesic.potential.minibatch import find_batch_sources
from pymc_geodesic.potential.total_size import wrong_sizes
from pymc_geodesic.run_record import ModeRecord, RunRecord, advice_on_modes, of_modes
from pymc_geodesic.runs.positions import is_tuned, shorter

__all__ = [
    "SEVERAL",
    "check_local_rows",
    "check_modes",
    "check_positions",
    "check_total_size",
    "not_looked",
    "with_modes",
]


# Twice the largest value that a self-tuned step may have.
WRONG_TEMPERATURE = 0.2
SIGNIFICANT = 4.0


def check_total_size(model: Model) -> list[Finding]:
    """Compare ``total_size`` with the rows that ``pm.Minibatch`` draws from."""
    findings = []
    for wrong in wrong_sizes(model, find_batch_sources(model)):
        what = "rows" if wrong.axis == 0 else f"entries along axis {wrong.axis}"
        sentence = (
            f"`total_size` of `{wrong.name}` is {wrong.declared}, but its data has {wrong.held} "
            f"{what}: the likelihood counts {wrong.declared / wrong.held:.3g} times."
        )
        advice = f"Pass `total_size={wrong.held}`."
        evidence = {"total_size": wrong.declared, "rows": wrong.held, "variable": wrong.name}
        findings.append(Finding("total_size", "error", sentence, advice, evidence))
    return findings


def check_positions(
    temperatures: pd.DataFrame,
    *,
    friction: float | None,
    step_size: float | None,
    record: RunRecord | None = None,
) -> list[Finding]:
    """Look for variables whose positions are too wide or too narrow.

    Parameters
    ----------
    temperatures : DataFrame
        Result of :func:`~pymc_geodesic.diagnostics.configurational_temperature`.
    friction : float or None
        Friction of a step if it is fixed, so that only noise can heat positions.
    step_size : float or None
        Step size, for the advice.
    record : RunRecord, optional
        What the run has kept of its step.
    """
    off = temperatures[
        (np.abs(temperatures["mean"] - 1) > WRONG_TEMPERATURE)
        & (np.abs(temperatures["z"]) > SIGNIFICANT)
    ]
    if off.empty:
        return []
    name = (off["mean"] - 1).abs().idxmax()
    temperature = float(off.loc[name, "mean"])
    width = "wide" if temperature > 1 else "narrow"
    named = ", ".join(f"{key} at {row['mean']:.3g}" for key, row in off.iterrows())
    sentence = f"Positions are too {width}: configurational temperatures are {named}."
    evidence = off["mean"].to_dict()
    time = step_size or 0.0
    if friction is not None and temperature > 1 and friction * time <= LARGEST_DAMPING:
        others = "pass `gradient_noise='fisher'`, or change to `pmg.gSGNHT`."
        if is_tuned("friction", record):
            advice = f"{shorter(time, time / 2, record)}. Or {others}"
        else:
            needed = friction * (temperature - 1) / 0.05
            advice = f"Increase `friction` from {friction:.2g} to {needed:.2g}, {others}"
        return [Finding(TOO_SMALL, "error", sentence, advice, evidence)]
    advice = "Decrease `step_size`."
    if step_size is not None:
        advice = f"{shorter(step_size, step_size / 2, record)}."
    return [Finding(TOO_LARGE, "error", sentence, advice, evidence)]


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

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Checks that need the model: the number of rows of its data and the temperature of positions."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pymc.model import Model

from pymc_geodesic.diagnostics.evidence import TOO_LARGE, TOO_SMALL
from pymc_geodesic.diagnostics.findings import Finding
from pymc_geodesic.diagnostics.thermostat_checks import LARGEST_DAMPING
from pymc_geodesic.potential.minibatch import find_batch_sources
from pymc_geodesic.potential.total_size import wrong_sizes
from pymc_geodesic.run_record import RunRecord
from pymc_geodesic.runs.shorter_steps import is_tuned, shorter

__all__ = ["check_positions", "check_total_size"]

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

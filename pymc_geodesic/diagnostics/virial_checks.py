#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A check that the recorded temperatures of the positions of a run are one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pymc_geodesic.diagnostics.findings import Finding
from pymc_geodesic.run_record import RunRecord
from pymc_geodesic.runs.positions import listed, wrong_positions
from pymc_geodesic.runs.shorter_steps import shorter

__all__ = ["check_virial"]


def check_virial(
    stats: Mapping[str, np.ndarray], *, record: RunRecord | None = None
) -> list[Finding]:
    """Look for variables whose positions are too wide or too narrow, without the model.

    Parameters
    ----------
    stats : mapping of str to ndarray
        Sample statistics of one step, ``(chain, draw)``.
    record : RunRecord, optional
        What the run has kept of its step.

    Returns
    -------
    list of Finding
        ``positions_too_wide`` or ``positions_too_narrow``, for the temperature furthest off.
    """
    off = wrong_positions(stats)
    if not off:
        return []
    worst = max(off.values(), key=lambda mean: abs(mean - 1))
    named = listed(off)
    step_size = float(np.median(stats["step_size"]))
    halved = shorter(step_size, step_size / 2, record)
    if worst < 1:
        sentence = f"Positions are too narrow: configurational temperatures are {named}."
        return [Finding("positions_too_narrow", "error", sentence, f"{halved}.", off)]
    sentence = f"Positions are too wide: configurational temperatures are {named}."
    advice = (
        f"{halved}. Use larger batches, and draw a new batch for each transition "
        "(`steps_per_batch=1`): friction does not balance correlated noise."
    )
    return [Finding("positions_too_wide", "error", sentence, advice, off)]

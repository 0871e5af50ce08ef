#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A check that the recorded temperatures of the positions of a run are one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pymc_geodesic.diagnostics.findings import Finding
from pymc_geodesic.diagnostics.monte_carlo import mean_and_mcse, z_score

__all__ = ["check_virial"]

CONFIGURATIONAL = "configurational_temperature"
# In standard errors, and twice the deviation that a self-tuned step accepts: its temperatures are
# between 1 - 0.5^2 / 4 (a thermostat at half a posterior scale) and 1.1 (noise).
SIGNIFICANT, WRONG_TEMPERATURE = 4.0, 0.2
# With fewer draws from fresh batches the standard error is unreliable.
FEWEST_DRAWS = 20


def check_virial(stats: Mapping[str, np.ndarray]) -> list[Finding]:
    """Look for variables whose positions are too wide or too narrow, without the model.

    Parameters
    ----------
    stats : mapping of str to ndarray
        Sample statistics of one step, ``(chain, draw)``.

    Returns
    -------
    list of Finding
        ``positions_too_wide`` or ``positions_too_narrow``, for the temperature furthest off.
    """
    found = {name: _mean_and_z(stats[name]) for name in stats if name.startswith(CONFIGURATIONAL)}
    off = {
        name.removeprefix(CONFIGURATIONAL).removeprefix("_") or "all": mean
        for name, (mean, z) in found.items()
        if abs(mean - 1) > WRONG_TEMPERATURE and abs(z) > SIGNIFICANT
    }
    if not off:
        return []
    # The total adds nothing to its variables.
    off = {name: mean for name, mean in off.items() if name != "all" or len(off) == 1}
    worst = max(off.values(), key=lambda mean: abs(mean - 1))
    named = ", ".join(f"{mean:.3g} for {_who(name)}" for name, mean in off.items())
    step_size = float(np.median(stats["step_size"]))
    halved = f"Decrease `step_size` from {step_size:.2g} to {step_size / 2:.2g}"
    if worst < 1:
        sentence = f"Positions are too narrow: configurational temperatures are {named}."
        return [Finding("positions_too_narrow", "error", sentence, f"{halved}.", off)]
    sentence = f"Positions are too wide: configurational temperatures are {named}."
    advice = (
        f"{halved}, use larger batches, and draw a new batch for each transition "
        "(`steps_per_batch=1`): friction does not balance correlated noise."
    )
    return [Finding("positions_too_wide", "error", sentence, advice, off)]


def _who(name: str) -> str:
    return "all variables" if name == "all" else f"`{name}`"


def _mean_and_z(values: np.ndarray) -> tuple[float, float]:
    """Mean and its distance from one in standard errors, over draws that have a temperature."""
    known = np.isfinite(values)
    fewest = int(known.sum(axis=1).min())
    if fewest < FEWEST_DRAWS:
        return 1.0, 0.0
    # Chains may differ in the number of these draws.
    kept = np.stack([chain[mask][-fewest:] for chain, mask in zip(values, known, strict=True)])
    mean, mcse = mean_and_mcse(kept)
    return mean, z_score(mean - 1, mcse)

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Advice to take shorter steps, in words that can be followed as they are written."""

from __future__ import annotations

from pymc_geodesic.run_record import RunRecord

__all__ = ["is_tuned", "shorter"]

# Parameters beside which a step size is in the units of the model, and nothing is tuned.
PARAMETERS = "friction", "diffusion", "thermal_mass"
DEFAULT_ACCURACY = 0.05
# Steps of which only the step size is tuned.
EXACT = "GMC", "GMCWithinGibbs"


def is_tuned(name: str, record: RunRecord | None) -> bool:
    """Return whether the tuning phase found a parameter of a run, as far as is known."""
    if record is None or name in record.settings:
        return False
    # Steps with local variables are not tuned.
    return "local" not in record.settings


def shorter(step_size: float, target: float, record: RunRecord | None = None) -> str:
    """Return the advice to take shorter steps, without the full stop.

    Parameters
    ----------
    step_size : float
        The step size of a run.
    target : float
        A better one.
    record : RunRecord, optional
        The step method of the run. Without it the step size is taken as given.
    """
    if record is None or not is_tuned("step_size", record):
        return f"Decrease `step_size` from {step_size:.2g} to {target:.2g}"
    if record.step == "SGRLD":
        # Its coordinates depend on whether it tunes itself.
        accuracy = record.settings.get("accuracy", DEFAULT_ACCURACY)
        return f"Decrease `accuracy` from {accuracy:.2g} to {accuracy * target / step_size:.2g}"
    text = (
        f"Decrease the step size: pass `step_size={target:.2g}` instead of the {step_size:.2g} "
        "that was found"
    )
    given = [name for name in PARAMETERS if name in record.settings]
    if given:
        listed = " and ".join(f"`{name}`" for name in given)
        return f"{text}, and leave out {listed}, which is then found"
    return text if record.step in EXACT else f"{text}; everything else is still tuned"

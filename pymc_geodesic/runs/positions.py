#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Whether temperatures of the positions of a run are one, and the advice to take shorter steps."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from pymc.stats.convergence import SamplerWarning, WarningType

from pymc_geodesic.monte_carlo import mean_and_mcse, z_score
from pymc_geodesic.run_record import RunRecord, read_records

__all__ = ["is_tuned", "listed", "shorter", "warnings_of_positions", "wrong_positions"]

# Parameters beside which a step size is in the units of the model, and nothing is tuned.
PARAMETERS = "friction", "diffusion", "thermal_mass"
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
    text = (
        f"Decrease the step size: pass `step_size={target:.2g}` instead of the {step_size:.2g} "
        "that was found"
    )
    given = [name for name in PARAMETERS if name in record.settings]
    if given:
        listed = " and ".join(f"`{name}`" for name in given)
        return f"{text}, and leave out {listed}, which is then found"
    return text if record.step in EXACT else f"{text}; everything else is still tuned"


CONFIGURATIONAL = "configurational_temperature"
# In standard errors, and twice the deviation that a self-tuned step accepts: its temperatures are
# between 1 - 0.5^2 / 4 (a thermostat at half a posterior scale) and 1.1 (noise).
SIGNIFICANT, WRONG_TEMPERATURE = 4.0, 0.2
# With fewer draws from fresh batches the standard error is unreliable.
FEWEST_DRAWS = 20


def wrong_positions(stats: Mapping[str, np.ndarray]) -> dict[str, float]:
    """Return the temperatures of positions that are wrong, without the model.

    Parameters
    ----------
    stats : mapping of str to ndarray
        Sample statistics of one step, ``(chain, draw)``.

    Returns
    -------
    dict of str to float
        Mean temperature of each variable whose positions are too wide or too narrow, or of ``all``.
    """
    found = {name: _mean_and_z(stats[name]) for name in stats if name.startswith(CONFIGURATIONAL)}
    off = {
        name.removeprefix(CONFIGURATIONAL).removeprefix("_") or "all": mean
        for name, (mean, z) in found.items()
        if abs(mean - 1) > WRONG_TEMPERATURE and abs(z) > SIGNIFICANT
    }
    # The total adds nothing to its variables.
    return {name: mean for name, mean in off.items() if name != "all" or len(off) == 1}


def listed(off: Mapping[str, float]) -> str:
    """Write temperatures as part of a sentence."""
    names = {name: "all variables" if name == "all" else f"`{name}`" for name in off}
    return ", ".join(f"{mean:.3g} for {names[name]}" for name, mean in off.items())


def warnings_of_positions(idata: xr.DataTree) -> list[SamplerWarning]:
    """Warn of a run whose positions are too wide or too narrow.

    Parameters
    ----------
    idata : DataTree
        A finished run.

    Returns
    -------
    list of SamplerWarning
        At most one; none for runs of several steps, or without temperatures.
    """
    stats = idata["sample_stats"].data_vars if "sample_stats" in idata else {}
    # With several steps it is unknown which of them moved which variable.
    by_draw = {
        str(name): stats[name].transpose("chain", "draw").to_numpy()
        for name in stats
        if set(stats[name].dims) == {"chain", "draw"} and str(name).startswith(CONFIGURATIONAL)
    }
    off = wrong_positions(by_draw)
    if not off:
        return []
    records, advice = read_records(idata), "Decrease `step_size`"
    if "step_size" in stats:
        now = float(stats["step_size"].median())
        advice = shorter(now, now / 2, records[0] if records else None)
    message = (
        "These draws do not follow the posterior: the temperature of their positions should be 1, "
        f"but is {listed(off)}. Above 1 they are too wide, below 1 too narrow. {advice}. Or take "
        "larger batches. `pmg.diagnose(idata)` may find the cause."
    )
    return [SamplerWarning(WarningType.CONVERGENCE, message, "warn")]


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

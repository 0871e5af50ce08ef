#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Whether the recorded temperatures of the positions of a run are one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from pymc.stats.convergence import SamplerWarning, WarningType

from pymc_geodesic.monte_carlo import mean_and_mcse, z_score
from pymc_geodesic.run_record import read_records
from pymc_geodesic.runs.shorter_steps import shorter

__all__ = ["listed", "warnings_of_positions", "wrong_positions"]

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
    return ", ".join(f"{mean:.3g} for {_who(name)}" for name, mean in off.items())


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

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What the ranks of all simulations say."""

from __future__ import annotations

from collections.abc import Sequence
from logging import INFO, WARNING

import numpy as np
import xarray as xr

from pymc.exceptions import SamplingError
from pymc.model import Model

from pymc_geodesic.calibration.simulations import Simulated
from pymc_geodesic.entry_names import entry_name
from pymc_geodesic.stages import log

__all__ = ["result_of"]

# Probability of a false alarm, for all entries together.
LEVEL = 0.01


def result_of(found: Sequence[Simulated], model: Model) -> xr.DataTree:
    """Put simulations together, in the groups and the form that ArviZ plots, and log a verdict.

    Parameters
    ----------
    found : sequence of Simulated
        All simulations.
    model : Model
        The model, whose dimensions the variables have.
    """
    from arviz_base import from_dict

    complete = [one for one in found if not one.error]
    if not complete:
        raise SamplingError(
            f"All {len(found)} simulations have failed, the first with the error: {found[0].error}"
        )
    names = complete[0].shares
    values = {name: np.array([one.shares[name] for one in complete]) for name in names}
    dims = {name: list(model.named_vars_to_dims.get(name, ())) for name in values}
    named = {d for of in dims.values() for d in of}
    tree = from_dict(
        {"prior_sbc": {name: x[None] for name, x in values.items()}},
        dims={name: of for name, of in dims.items() if of},
        coords={d: list(x) for d, x in model.coords.items() if d in named and x is not None},
    )
    tree["simulations"] = xr.DataTree(
        xr.Dataset(
            {
                "seconds": ("simulation", [one.seconds for one in found]),
                "error": ("simulation", [one.error for one in found]),
            }
        )
    )
    p_value, reason = _tested(tree["prior_sbc"].to_dataset())
    if n_failed := len(found) - len(complete):
        reason += f"; {n_failed} of {len(found)} simulations have failed"
    verdict = "not calibrated" if p_value < LEVEL else "calibrated"
    attrs = {"verdict": verdict, "verdict_reason": reason, "p_value": p_value}
    tree["prior_sbc"].attrs |= attrs
    is_right = p_value >= LEVEL and not n_failed
    log.log(INFO if is_right else WARNING, f"{verdict.capitalize()}: {reason}.")
    return tree


def _tested(values: xr.Dataset) -> tuple[float, str]:
    """Return the p value of uniform shares of draws below true values, and what it says."""
    import arviz_stats  # noqa: F401

    tested = values.azstats.uniformity_test(dim=["chain", "draw"])[0]
    p_values, entries = [], []
    for name, x in values.data_vars.items():
        p_values += np.ravel(tested[name]).tolist()
        for at in np.ndindex(x.shape[2:]):
            entries.append((entry_name(str(name), at), x.to_numpy()[(0, slice(None), *at)]))
    p_value = min(1.0, len(entries) * min(p_values))
    if p_value >= LEVEL:
        what = f"{len(entries)} entries" if len(entries) > 1 else f"`{entries[0][0]}`"
        return p_value, f"all ranks of {what} are equally likely (p {p_value:.2g})"
    name, found = entries[int(np.argmin(p_values))]
    return p_value, f"the draws of `{name}` are {_how(found)} (p {p_value:.1g})"


def _how(x: np.ndarray) -> str:
    """Say how draws differ from the posterior, from the shares of them below true values."""
    # Mean, and mean of the squared deviation from the middle, of a uniform number; their variances.
    shift = (x.mean() - 1 / 2) * np.sqrt(12 * len(x))
    width = (((x - 1 / 2) ** 2).mean() - 1 / 12) * np.sqrt(180 * len(x))
    if abs(shift) > abs(width):
        return "too low" if shift > 0 else "too high"
    return "too narrow" if width > 0 else "too wide"

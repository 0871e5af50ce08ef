#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Whether chains agree with each other and with their own past."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pymc_geodesic.diagnostics.findings import Finding
from pymc_geodesic.diagnostics.monte_carlo import effective_draws, r_hat

__all__ = ["check_chains"]

# PyMC and Stan warn from 1.01 on, for draws enough to see it; this is a fault.
LARGEST_R_HAT = 1.05
# What has been thrown further has diverged, and overflows in every summary.
LARGEST = 1e100
# A chain that has visited its surroundings so many times knows them.
SETTLED = 20
# Standard deviations within chains: what is nearer is one mode that is explored slowly.
APART = 2.0


def check_chains(values: Mapping[str, np.ndarray]) -> list[Finding]:
    """Tell chains in different modes from chains that have not arrived.

    Chains that each have many effective draws and are still far apart are in different places;
    others that disagree are on their way.

    Parameters
    ----------
    values : mapping of str to ndarray
        Scalars to follow, ``(chain, draw)``.
    """
    moving = {name: x for name, x in values.items() if np.abs(x).max() < LARGEST and np.ptp(x) > 0}
    r_hats = {name: r_hat(x) for name, x in moving.items()}
    failed = {name: r for name, r in r_hats.items() if not r <= LARGEST_R_HAT}
    if not failed:
        return []
    name = max(failed, key=lambda key: failed[key])
    draws = values[name]
    effective = float(np.median([effective_draws(chain[None]) for chain in draws]))
    evidence = {"r_hat": failed[name], "variable": name, "effective_draws_a_chain": effective}
    evidence["n_variables"] = len(failed)
    figures = f"R-hat of {name} is {failed[name]:.2f}"
    within = np.sqrt(draws.var(axis=1).mean())
    apart = np.ptp(draws.mean(axis=1)) > APART * within
    if apart and effective >= SETTLED:
        means = ", ".join(f"{mean:.3g}" for mean in draws.mean(axis=1))
        sentence = (
            f"The chains are in different modes: {figures}, although each chain moves freely where "
            f"it is (means {means})."
        )
        advice = (
            "Start all chains in the mode that matters (`initvals`), break the symmetry in the "
            "model, or try `pmg.CyclicalSchedule` as `step_size`; do not average these chains."
        )
        return [Finding("different_modes", "error", sentence, advice, evidence)]
    sentence = (
        f"The chains have not become stationary: {figures}, with about {effective:.0f} effective "
        "draws in a chain."
    )
    advice = "Increase `tune` and `draws`, or `n_steps`, and drop what was drawn so far."
    return [Finding("not_stationary", "error", sentence, advice, evidence)]

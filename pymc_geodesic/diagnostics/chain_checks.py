#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Checks that chains agree with each other, are stationary, and have enough effective draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scipy import stats

from pymc_geodesic.diagnostics.findings import Finding
from pymc_geodesic.diagnostics.scalars import Scalars, worst_mixing
from pymc_geodesic.monte_carlo import effective_draws, halves, r_hat

__all__ = ["check_chains"]

# PyMC and Stan warn from 1.01 on; a value above this is an error even with few draws.
LARGEST_R_HAT = 1.05
# Effective draws with which a chain has explored its surroundings.
SETTLED = 20
# In standard deviations within chains. Chains nearer than this share a mode explored slowly.
APART = 2.0
# For each chain, as PyMC and Stan ask: with fewer, R-hat and this number itself are unreliable.
LEAST_EFFECTIVE = 100
# The estimate from a single chain is accurate to a factor of two.
LEAST_EFFECTIVE_OF_ONE = 50
# The quarters of one chain are short and differ by chance up to this value.
LARGEST_R_HAT_OF_ONE = 1.2
# Probability of a false alarm for each of some tens of scalars.
RARE = 1e-5


def check_chains(variables: Mapping[str, np.ndarray]) -> list[Finding]:
    """Look for chains in different modes, chains that are not stationary, and few effective draws.

    Chains that are far apart although each has many effective draws are in different modes. Other
    chains that disagree have not converged yet.

    Parameters
    ----------
    variables : mapping of str to ndarray
        Variables to follow, ``(chain, draw, *shape)``.
    """
    scalars = dict(worst_mixing(Scalars.of(variables))) if variables else {}
    if not scalars:
        return []
    r_hats = {name: r_hat(x) for name, x in scalars.items()}
    failed = {name: r for name, r in r_hats.items() if r > _limit(scalars[name])}
    if not failed:
        return _few(scalars)
    name = max(failed, key=lambda key: failed[key])
    draws = scalars[name]
    # A chain that moves slowly far from the others has not reached a mode.
    effective = min(effective_draws(chain[None]) for chain in draws)
    evidence = {"r_hat": failed[name], "variable": name, "effective_draws_per_chain": effective}
    evidence["n_variables"] = len(failed)
    if len(draws) > 1 and effective >= SETTLED and _apart(draws):
        return [_different_modes(name, draws, evidence)]
    return [_not_stationary(name, draws, evidence)]


def _limit(draws: np.ndarray) -> float:
    """Largest R-hat that is acceptable.

    For parts of n effective draws each, the square of R-hat exceeds one by ``chi2 / (3 n)``, with
    three degrees of freedom for the four parts of one chain.
    """
    if len(draws) > 1:
        return LARGEST_R_HAT
    effective = np.median([effective_draws(part[None]) for part in np.array_split(draws[0], 4)])
    by_chance = np.sqrt(1 + stats.chi2(3).isf(RARE) / (3 * max(effective, 1.0)))
    return float(np.clip(by_chance, LARGEST_R_HAT, LARGEST_R_HAT_OF_ONE))


def _apart(draws: np.ndarray) -> bool:
    within = np.sqrt(draws.var(axis=1).mean())
    return bool(np.ptp(draws.mean(axis=1)) > APART * within)


def _different_modes(name: str, draws: np.ndarray, evidence: dict[str, Any]) -> Finding:
    means = ", ".join(f"{mean:.3g}" for mean in draws.mean(axis=1))
    sentence = (
        f"The chains are in different modes: R-hat of {name} is {evidence['r_hat']:.2f}, although "
        f"each chain mixes well within its own (means {means})."
    )
    advice = (
        "Start all chains in the relevant mode (`initvals`), break the symmetry in the model, or "
        "try `pmg.CyclicalSchedule` as `step_size`. Do not average these chains."
    )
    return Finding("different_modes", "error", sentence, advice, evidence)


def _not_stationary(name: str, draws: np.ndarray, evidence: dict[str, Any]) -> Finding:
    what, where = ("chains have", "the slowest") if len(draws) > 1 else ("chain has", "it")
    sentence = (
        f"The {what} not yet become stationary: R-hat of {name} is {evidence['r_hat']:.2f}, with "
        f"about {evidence['effective_draws_per_chain']:.0f} effective draws in {where}."
    )
    advice = "Increase `tune` and `draws`, or `n_steps`, and discard these draws."
    return Finding("not_stationary", "error", sentence, advice, evidence)


def _effective(draws: np.ndarray) -> float:
    """Effective draws; a single chain is cut into quarters, whose means reveal slow drifts."""
    return effective_draws(draws if len(draws) > 1 else halves(halves(draws)))


def _few(scalars: Mapping[str, np.ndarray]) -> list[Finding]:
    found = {name: _effective(x) for name, x in scalars.items()}
    name = min(found, key=lambda key: found[key])
    effective, (chains, draws) = found[name], scalars[name].shape
    n = chains * draws
    least = LEAST_EFFECTIVE * chains if chains > 1 else LEAST_EFFECTIVE_OF_ONE
    if effective >= min(least, n / 2):
        return []
    sentence = (
        f"There are few effective draws: {n} draws of {name} are worth {effective:.0f}, so "
        f"the error of its mean is {effective**-0.5:.2g} posterior standard deviations."
    )
    advice = "Increase `draws`, or `n_steps`, the transitions per draw."
    evidence = {"effective_draws": effective, "variable": name, "draws": n}
    return [Finding("few_effective_draws", "warning", sentence, advice, evidence)]

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Whether chains agree with each other and with their own past, and how much they say."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from scipy import stats

from pymc_geodesic.diagnostics.findings import Finding
from pymc_geodesic.diagnostics.monte_carlo import effective_draws, halves, r_hat
from pymc_geodesic.diagnostics.scalars import Scalars, worst_mixing

__all__ = ["check_chains"]

# PyMC and Stan warn from 1.01 on, for draws enough to see it; this is a fault.
LARGEST_R_HAT = 1.05
# A chain that has visited its surroundings so many times knows them.
SETTLED = 20
# Standard deviations within chains: what is nearer is one mode that is explored slowly.
APART = 2.0
# With fewer the error of a mean is more than a tenth of the posterior's standard deviation.
LEAST_EFFECTIVE = 100
# One chain's own estimate of that number is good to a factor of two.
LEAST_EFFECTIVE_OF_ONE = 50
# The quarters of one chain are short: up to here they may differ by chance.
LARGEST_R_HAT_OF_ONE = 1.2
# Probability that chance goes further, for each of some tens of scalars.
RARE = 1e-5


def check_chains(variables: Mapping[str, np.ndarray]) -> list[Finding]:
    """Tell chains in different modes from chains that have not arrived or say little.

    Chains that each have many effective draws and are still far apart are in different places;
    others that disagree are on their way.

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
    # A chain that crawls far away from the others is in no mode.
    effective = min(effective_draws(chain[None]) for chain in draws)
    evidence = {"r_hat": failed[name], "variable": name, "effective_draws_a_chain": effective}
    evidence["n_variables"] = len(failed)
    if len(draws) > 1 and effective >= SETTLED and _apart(draws):
        return [_different_modes(name, draws, evidence)]
    return [_not_stationary(name, draws, evidence)]


def _limit(draws: np.ndarray) -> float:
    """Largest R-hat that is no fault.

    Parts with n effective draws each have R-hats whose squares exceed one by ``chi2 / (3 n)``, with
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


def _different_modes(name: str, draws: np.ndarray, evidence) -> Finding:
    means = ", ".join(f"{mean:.3g}" for mean in draws.mean(axis=1))
    sentence = (
        f"The chains are in different modes: R-hat of {name} is {evidence['r_hat']:.2f}, although "
        f"each chain moves freely where it is (means {means})."
    )
    advice = (
        "Start all chains in the mode that matters (`initvals`), break the symmetry in the "
        "model, or try `pmg.CyclicalSchedule` as `step_size`; do not average these chains."
    )
    return Finding("different_modes", "error", sentence, advice, evidence)


def _not_stationary(name: str, draws: np.ndarray, evidence) -> Finding:
    what, where = ("chains have", "the slowest") if len(draws) > 1 else ("chain has", "it")
    sentence = (
        f"The {what} not become stationary: R-hat of {name} is {evidence['r_hat']:.2f}, with "
        f"about {evidence['effective_draws_a_chain']:.0f} effective draws in {where}."
    )
    advice = "Increase `tune` and `draws`, or `n_steps`, and drop what was drawn so far."
    return Finding("not_stationary", "error", sentence, advice, evidence)


def _effective(draws: np.ndarray) -> float:
    """Effective draws; those of one chain by its quarters, whose means tell slow drifts."""
    return effective_draws(draws if len(draws) > 1 else halves(halves(draws)))


def _few(scalars: Mapping[str, np.ndarray]) -> list[Finding]:
    found = {name: _effective(x) for name, x in scalars.items()}
    name = min(found, key=lambda key: found[key])
    effective, (chains, draws) = found[name], scalars[name].shape
    n = chains * draws
    if effective >= min(LEAST_EFFECTIVE if chains > 1 else LEAST_EFFECTIVE_OF_ONE, n / 2):
        return []
    sentence = (
        f"The draws say little: {n} draws of {name} are worth {effective:.0f} independent ones, so "
        f"the error of its mean is {effective**-0.5:.2g} posterior standard deviations."
    )
    advice = "Increase `draws`, or `n_steps`, the transitions per draw."
    evidence = {"effective_draws": effective, "variable": name, "draws": n}
    return [Finding("few_effective_draws", "warning", sentence, advice, evidence)]

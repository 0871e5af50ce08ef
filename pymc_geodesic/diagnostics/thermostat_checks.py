#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Checks that thermostat, temperatures of positions and tuning are as they should be."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pymc_geodesic.diagnostics.findings import TOO_LARGE, Evidence, Finding, differs
from pymc_geodesic.monte_carlo import effective_draws
from pymc_geodesic.run_record import RunRecord
from pymc_geodesic.runs.positions import is_tuned, listed, shorter, wrong_positions

__all__ = ["LARGEST_DAMPING", "check_tuning", "check_virial", "damping", "thermostat"]

# Self-tuned steps accept heating by noise of up to a tenth.
TOLERANCE = 0.1
# Beyond it the variance of positions is more than cosh(0.4) = 1.08 times too large.
LARGEST_DAMPING = 0.8
# A friction in balance with the noise keeps the mean kinetic temperature far above it.
LOCKED = 0.8
UNSETTLED = "thermostat_unsettled"


def damping(evidence: Evidence) -> list[Finding]:
    """Look for a chain whose velocities are strongly damped in one transition.

    The cause is the gradient noise if the friction balances it, and otherwise the tuning phase.
    """
    # Each chain tunes itself, so a product of means over chains would describe none of them.
    products = np.mean(evidence.stats["thermostat"] * evidence.stats["step_size"], axis=1)
    chain = int(np.argmax(products))
    damping = float(products[chain])
    if damping <= LARGEST_DAMPING:
        return []
    figures = {"damping": damping, "chain": chain}
    kinetic = evidence.stats.get("kinetic_temperature")
    if kinetic is not None and (temperature := float(kinetic[chain].mean())) < LOCKED:
        return [_locked(figures, temperature)]
    step_size = float(np.median(evidence.stats["step_size"][chain]))
    sentence = (
        "The step size is too large for the gradient's noise: a transition damps velocities by "
        f"{damping:.2g} (thermostat times step size), which makes variances too large by a factor "
        f"of {np.cosh(damping / 2):.3g}."
    )
    # The part of the thermostat that balances the noise is itself proportional to the step size.
    advice = (
        f"{shorter(step_size, step_size * (0.3 / damping) ** 0.5, evidence.record)}. Or enlarge "
        "the batch."
    )
    return [Finding(TOO_LARGE, "error" if damping > 2 else "warning", sentence, advice, figures)]


def _locked(figures: dict[str, float], temperature: float) -> Finding:
    sentence = (
        f"The friction of chain {figures['chain']} is larger than the gradient's noise requires: a "
        f"transition damps velocities by {figures['damping']:.2g} (thermostat times step size), "
        f"and their temperature is {temperature:.2g} instead of 1."
    )
    advice = (
        "Increase `tune`, or start nearer to the posterior (`initvals`): the friction is still "
        "that of the approach to the posterior."
    )
    evidence = figures | {"kinetic_temperature": temperature}
    return Finding(UNSETTLED, "error", sentence, advice, evidence)


def thermostat(evidence: Evidence) -> list[Finding]:
    """Look for kinetic temperatures that differ from one, in all or in some variables."""
    table = evidence.temperatures
    if table is None or any(finding.name == UNSETTLED for finding in damping(evidence)):
        return []
    total = table.loc["all"]
    if differs(total, TOLERANCE):
        sentence = (
            f"The thermostat has not found its friction: the kinetic temperature is "
            f"{total['mean']:.3g} instead of 1."
        )
        advice = "Increase `tune`, or increase `diffusion` towards the last value of `thermostat`."
        if is_tuned("diffusion", evidence.record):
            advice = "Increase `tune`."
        return [Finding(UNSETTLED, "warning", sentence, advice, dict(total))]
    off = table[[differs(row, TOLERANCE) for _, row in table.iterrows()]]
    if off.empty:
        return []
    named = ", ".join(f"{name} at {row['mean']:.3g}" for name, row in off.iterrows())
    sentence = f"One thermostat cannot serve all variables: kinetic temperatures are {named}."
    advice = (
        "Pass `thermostat='per_variable'` (or 'per_point'). Or increase `diffusion`, so that the "
        "noise common to all variables dominates."
    )
    if is_tuned("diffusion", evidence.record):
        advice = "Pass `thermostat='per_variable'` (or 'per_point')."
    evidence_of = off["mean"].to_dict()
    return [Finding("shared_thermostat", "warning", sentence, advice, evidence_of)]


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


# Step sizes that chains tune on the same posterior differ by tens of per cent.
LARGEST_RATIO = 3.0
# In standard errors, which are estimated too, between the mean energies of two chains.
SIGNIFICANT = 8.0
# Between mean energies, in standard deviations of the energy over a Gaussian posterior. The
# difference is the log of the ratio of the densities at the draws of the two chains.
APART = 3.0


def check_tuning(stats: Mapping[str, np.ndarray], *, n_entries: int) -> list[Finding]:
    """Compare step sizes and mean energies of the chains.

    Chains that explore one posterior, or copies of it with other labels, have the same mean energy,
    and chains that tuned themselves have about the same step size. Otherwise they have found
    different modes, of which at most one matters.

    Parameters
    ----------
    stats : mapping of str to ndarray
        Sample statistics, ``(chain, draw)``.
    n_entries : int
        Number of entries of the sampled variables: energies vary by the square root of half of it.
    """
    found = _step_sizes(stats["step_size"]) + _energies(stats.get("potential_estimate"), n_entries)
    if not found:
        return []
    figures = " and ".join(text for text, _ in found)
    evidence = {name: value for _, values in found for name, value in values.items()}
    sentence = f"The chains tuned to different posteriors: {figures}."
    advice = (
        "Keep the chains of the lowest energy, or start all chains near one mode with `initvals`; "
        "`pmg.initial_directions` finds a start for mixtures of unit vectors. Do not average these "
        "chains."
    )
    return [Finding("chains_tuned_apart", "error", sentence, advice, evidence)]


def _step_sizes(step_size: np.ndarray) -> list[tuple[str, dict]]:
    if step_size.ndim != 2 or len(step_size) < 2:
        return []
    sizes = np.median(step_size, axis=1)
    if not np.all(sizes > 0) or sizes.max() <= LARGEST_RATIO * sizes.min():
        return []
    return [(f"step sizes are {_listed(sizes)}", {"step_sizes": sizes.tolist()})]


def _energies(energy: np.ndarray | None, n_entries: int) -> list[tuple[str, dict]]:
    if energy is None or energy.ndim != 2 or len(energy) < 2 or not np.isfinite(energy).all():
        return []
    means = energy.mean(axis=1)
    low, high = int(means.argmin()), int(means.argmax())
    distance = float(means[high] - means[low])
    if distance <= APART * np.sqrt(max(n_entries, 2) / 2):
        return []
    variances = [
        chain.var() / max(effective_draws(chain[None]), 1.0) for chain in energy[[low, high]]
    ]
    if distance <= SIGNIFICANT * np.sqrt(sum(variances)):
        return []
    text = f"mean energies (`potential_estimate`) are {_listed(means)}"
    return [(text, {"mean_energies": means.tolist()})]


def _listed(values: np.ndarray) -> str:
    return ", ".join(f"{value:.6g}" for value in values)

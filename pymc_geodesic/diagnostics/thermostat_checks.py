#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Checks that a thermostat has found its friction, and that the friction is not too large."""

from __future__ import annotations

import numpy as np

from pymc_geodesic.diagnostics.evidence import TOO_LARGE, Evidence, differs
from pymc_geodesic.diagnostics.findings import Finding
from pymc_geodesic.runs.shorter_steps import is_tuned, shorter

__all__ = ["LARGEST_DAMPING", "damping", "thermostat"]

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

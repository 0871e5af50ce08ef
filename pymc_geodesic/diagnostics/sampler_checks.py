#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Checks that step size and friction suit the posterior and its gradient noise."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from scipy import optimize

from pymc_geodesic.diagnostics.findings import (
    SIGNIFICANT,
    TOO_LARGE,
    TOO_SMALL,
    Check,
    Evidence,
    Finding,
    differs,
    principal_scales,
)
from pymc_geodesic.diagnostics.thermostat_checks import damping, thermostat
from pymc_geodesic.runs.positions import is_tuned, shorter
from pymc_geodesic.tuning.velocity_balance import HOT

__all__ = ["check_sampler"]

# Velocities that are colder feel less noise than their friction is meant for.
COLD = 0.85
# In squared posterior scales. Beyond it the variance of Langevin draws is more than 1.17 too large.
LARGEST_LANGEVIN_STEP = 0.5
LEAST_ACCEPTANCE = 0.3
# If time runs a fifth faster or slower at the end of a trajectory, energies have a similar error.
LARGEST_TIME_SCALING = 0.2


def check_sampler(
    evidence: Evidence, *, step: str | None = None, one_posterior: bool = True
) -> list[Finding]:
    """Look for parameters of the sampler that are out of range.

    Parameters
    ----------
    evidence : Evidence
        The inputs of the checks.
    step : str, optional
        Name of the step's class; without it the kind of step is inferred from the statistics.
    one_posterior : bool
        Whether all chains sample the same posterior. Checks of single chains are always made.
    """
    known = None if step is None else CHECKS.get(step)
    own = _checks_by_statistics(evidence.stats) if known is None else known
    checks = [check for check in (_divergences, *own) if one_posterior or check in OF_EACH_CHAIN]
    return [finding for check in checks for finding in check(evidence)]


def _checks_by_statistics(stats: Mapping[str, np.ndarray]) -> tuple[Check, ...]:
    """Choose checks for a custom step, or for a run without a record."""
    if "thermostat" in stats:
        return damping, thermostat
    if "friction" in stats:
        return (_heat,)
    if "acceptance_rate" in stats:
        return (_acceptance,)
    return () if "kinetic_temperature" in stats else (_langevin,)


def _divergences(evidence: Evidence) -> list[Finding]:
    share = float(np.mean(evidence.stats.get("diverging", 0.0)))
    if share == 0:
        return []
    sentence = f"{100 * share:.3g} per cent of the draws diverged: the step size is too large."
    advice = (
        f"{evidence.shorter()}. If chains still diverge, check that the posterior is proper: "
        "`total_size`, the signs of potentials, flat priors."
    )
    return [Finding(TOO_LARGE, "error", sentence, advice, {"diverging": share})]


def _heat(evidence: Evidence) -> list[Finding]:
    table = evidence.temperatures
    if table is None:
        return []
    table = table.drop(index="all") if len(table) > 1 else table
    hot = table[[row["mean"] > HOT and row["z"] > SIGNIFICANT for _, row in table.iterrows()]]
    if not hot.empty:
        return _heated(evidence, str(hot["mean"].idxmax()), float(hot["mean"].max()))
    cold = table[[row["mean"] < COLD and row["z"] < -SIGNIFICANT for _, row in table.iterrows()]]
    if cold.empty:
        return []
    sentence = (
        f"Velocities are too cold: the kinetic temperature of {cold['mean'].idxmin()} is "
        f"{cold['mean'].min():.3g} instead of 1."
    )
    advice = "Decrease `gradient_noise`: it is larger than the noise of the gradient."
    found = cold["mean"].to_dict()
    return [Finding("gradient_noise_too_large", "warning", sentence, advice, found)]


def _heated(evidence: Evidence, name: str, velocity: float) -> list[Finding]:
    """Separate heating by the step size, of velocities only, from heating by noise."""
    friction = float(np.mean(evidence.stats["friction"]))
    position, stiffness = _position_temperature(evidence, name, velocity)
    if evidence.exact_gradients:
        position = 1.0
    figures = {"kinetic_temperature": velocity, "position_temperature": position}
    findings, what = [], "the chain" if name == "all" else f"`{name}`"
    by_step, by_noise = velocity / position, position
    if by_step >= HOT or by_step > by_noise:
        sentence = (
            f"The step size is too large: the velocities of {what} have temperature {velocity:.3g} "
            f"at the end of a step, but the positions have temperature {position:.3g}."
        )
        advice = f"{evidence.shorter(0.5 / stiffness if stiffness > 0.5 else 0.5)}."
        evidence_of = figures | {"step_in_smallest_scale": stiffness}
        findings.append(Finding(TOO_LARGE, "error", sentence, advice, evidence_of))
    if by_noise >= HOT or by_noise >= by_step:
        sentence = (
            f"The friction is too small for the gradient's noise, which heats {what} to "
            f"temperature {position:.3g} instead of 1."
        )
        others = "pass `gradient_noise='fisher'`, use larger batches, or change to `pmg.gSGNHT`."
        if is_tuned("friction", evidence.record):
            advice = f"{evidence.shorter()}. Or {others}"
        else:
            needed = friction * (position - 1) / 0.05
            advice = f"Increase `friction` from {friction:.2g} to {needed:.2g}, {others}"
        findings.append(Finding(TOO_SMALL, "error", sentence, advice, figures))
    return findings


def _position_temperature(evidence: Evidence, name: str, velocity: float) -> tuple[float, float]:
    r"""Temperature T of the positions of a variable, and the stiffness of its stiffest direction.

    With exact damping and noise, the splitting gives Gaussian positions their right variance
    :math:`s^2 = T / \omega^2`, and velocities the temperature
    :math:`T / (1 - \epsilon^2 \omega^2 / 4)`. Together
    :math:`T_v = T E[1 / (1 - T \epsilon^2 / 4 s^2)]`, with the mean over the directions of the
    velocity, where only T is unknown. A mass changes the scales. Positions then seem too cold, and
    the step size cannot be judged.
    """
    scales, weights = principal_scales(evidence, name)
    ratios = (evidence.step_size / scales) ** 2 / 4
    most = 1 / ratios.max()

    def excess(t: float) -> float:
        return t * float(weights @ (1 / (1 - t * ratios))) - velocity

    position = optimize.brentq(excess, 0.0, most * (1 - 1e-9))
    if position < COLD:
        return velocity, 0.0
    return position, float(2 * np.sqrt(position * ratios.max()))


def _langevin(evidence: Evidence) -> list[Finding]:
    scales, _ = principal_scales(evidence, "")
    step_size = float(np.median(evidence.stats["step_size"], axis=1).max())
    relative = step_size / scales.min() ** 2
    if relative <= LARGEST_LANGEVIN_STEP:
        return []
    sentence = (
        f"The step size is too large: it is {relative:.2g} of the smallest posterior variance, and "
        "draws along that direction are too wide."
    )
    advice = f"{shorter(step_size, step_size * 0.1 / relative, evidence.record)}."
    return [Finding(TOO_LARGE, "error", sentence, advice, {"step_in_smallest_variance": relative})]


def _acceptance(evidence: Evidence) -> list[Finding]:
    rate = float(np.mean(evidence.stats["acceptance_rate"]))
    if "energy" not in evidence.stats or rate >= LEAST_ACCEPTANCE:
        return []
    sentence = f"The step size is too large: {100 * rate:.2g} per cent of proposals are accepted."
    advice = f"{evidence.shorter()}, or leave it out to have it tuned."
    if is_tuned("step_size", evidence.record):
        shorter = evidence.shorter()
        advice = f"Increase `tune`, or {shorter[0].lower()}{shorter[1:]}."
    return [Finding(TOO_LARGE, "error", sentence, advice, {"acceptance_rate": rate})]


def _time_scaling(evidence: Evidence) -> list[Finding]:
    """Look for trajectories that do not conserve the extended energy."""
    scaling = float(np.mean(np.abs(np.log(evidence.stats["time_scaling"]))))
    off = None if evidence.temperatures is None else evidence.temperatures.loc["all"]
    hot = off is not None and differs(off, HOT - 1)
    if scaling <= LARGEST_TIME_SCALING and not hot:
        return []
    figures = {"time_scaling": float(np.exp(scaling))}
    if off is not None and hot:
        figures["kinetic_temperature"] = float(off["mean"])
    listed = " and ".join(f"the {key.replace('_', ' ')} is {x:.3g}" for key, x in figures.items())
    sentence = f"The step size is too large for the gradient's noise: {listed} instead of 1."
    advice = (
        f"{evidence.shorter()}. Or decrease `n_leapfrog`, pass `gradient_noise='fisher'`, or "
        "enlarge the batch."
    )
    return [Finding(TOO_LARGE, "error", sentence, advice, figures)]


OF_EACH_CHAIN: tuple[Check, ...] = (_divergences, damping)
# On a curved space, dynamics without velocities have no scale here with which to compare a step:
# SGRLD is judged by its chains and by the temperature of its positions.
CHECKS: Mapping[str, tuple[Check, ...]] = {
    "gSGNHT": (damping, thermostat),
    "SGNHT": (damping, thermostat),
    "SGGMC": (_heat,),
    "SGHMC": (_heat,),
    "SGLD": (_langevin,),
    "SGRLD": (),
    "SGNPHMC": (_time_scaling,),
    "GMC": (_acceptance,),
    "GMCWithinGibbs": (_acceptance,),
}

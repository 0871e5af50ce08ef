#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Whether step size and friction suit the posterior and its gradient noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from scipy import optimize

from pymc_geodesic.diagnostics.findings import Finding

__all__ = ["Evidence", "check_sampler"]

# Steps that tune themselves take half of what a direction of curvature one allows, where velocities
# seem 7 per cent too hot, and let noise heat by up to a tenth more.
HOT, COLD = 1.2, 0.85
UNSETTLED = 0.1
# Standard errors.
SIGNIFICANT = 4.0
# Positions are too wide by cosh(0.4) = 1.08 in variance beyond it.
LARGEST_DAMPING = 0.8
# In squared posterior scales: Langevin draws are too wide by 1.17 in variance beyond it.
LARGEST_LANGEVIN_STEP = 0.5
LEAST_ACCEPTANCE = 0.3
# Beyond, covariances are taken as diagonal.
LARGEST_COVARIANCE = 100
# Time that runs by a fifth faster or slower at the end of a trajectory shows energies as far off.
LARGEST_TIME_SCALING = 0.2
TOO_LARGE, TOO_SMALL = "step_size_too_large", "friction_too_small"


class Evidence(NamedTuple):
    """What the checks read.

    Attributes
    ----------
    stats : mapping of str to ndarray
        Sample statistics, ``(chain, draw)``.
    temperatures : DataFrame or None
        Of :func:`~pymc_geodesic.diagnostics.kinetic_temperature`; None if the step has none, or if
        they are those of chains on their way.
    points : mapping of str to ndarray
        Draws of each variable as the sampler moves it, ``(chain, draw, entry)``.
    exact_gradients : bool
        Whether the model is known to have no minibatches.
    """

    stats: Mapping[str, np.ndarray]
    temperatures: pd.DataFrame | None
    points: Mapping[str, np.ndarray]
    exact_gradients: bool = False

    @property
    def step_size(self) -> float:
        """Median step size."""
        return float(np.median(self.stats["step_size"]))


Check = Callable[[Evidence], list[Finding]]


def check_sampler(
    evidence: Evidence, *, step: str | None = None, one_posterior: bool = True
) -> list[Finding]:
    """Look for parameters of the sampler that are out of range.

    Parameters
    ----------
    evidence : Evidence
        What the checks read.
    step : str, optional
        Name of the step's class; without it the statistics tell what kind of step it was.
    one_posterior : bool
        Whether the chains are of one; what is known of each alone is looked at in any case.
    """
    own = CHECKS[step] if step in CHECKS else _checks_by_statistics(evidence.stats)
    checks = [check for check in (_divergences, *own) if one_posterior or check in OF_EACH_CHAIN]
    return [finding for check in checks for finding in check(evidence)]


def _checks_by_statistics(stats: Mapping[str, np.ndarray]) -> tuple[Check, ...]:
    """Choose checks for a step of the user's own, or for a run without a record."""
    if "thermostat" in stats:
        return _damping, _thermostat
    if "friction" in stats:
        return (_heat,)
    if "acceptance_rate" in stats:
        return (_acceptance,)
    return () if "kinetic_temperature" in stats else (_langevin,)


def _divergences(evidence: Evidence) -> list[Finding]:
    share = float(np.mean(evidence.stats.get("diverging", 0.0)))
    if share == 0:
        return []
    sentence = f"{100 * share:.2g} per cent of the draws diverged: the step size is too large."
    advice = f"Decrease `step_size` from {evidence.step_size:.2g}, to half of it at first."
    return [Finding(TOO_LARGE, "error", sentence, advice, {"diverging": share})]


def _damping(evidence: Evidence) -> list[Finding]:
    # Chains tune themselves each on its own: the product of two means belongs to none of them.
    products = np.mean(evidence.stats["thermostat"] * evidence.stats["step_size"], axis=1)
    chain = int(np.argmax(products))
    damping = float(products[chain])
    step_size = float(np.median(evidence.stats["step_size"][chain]))
    if damping <= LARGEST_DAMPING:
        return []
    sentence = (
        f"The step size is too large for the gradient's noise: a transition damps velocities by "
        f"{damping:.2g} (thermostat times step size), which makes variances too wide by a factor "
        f"of {np.cosh(damping / 2):.3g}."
    )
    # The thermostat's share that comes from the noise is itself proportional to the step.
    advice = (
        f"Decrease `step_size` from {step_size:.2g} to {step_size * (0.3 / damping) ** 0.5:.2g} or "
        "enlarge the batch."
    )
    severity = "error" if damping > 2 else "warning"
    return [Finding(TOO_LARGE, severity, sentence, advice, {"damping": damping, "chain": chain})]


def _thermostat(evidence: Evidence) -> list[Finding]:
    table = evidence.temperatures
    if table is None:
        return []
    total = table.loc["all"]
    if _differs(total, UNSETTLED):
        sentence = (
            f"The thermostat has not found its friction: the kinetic temperature is "
            f"{total['mean']:.3g} instead of 1."
        )
        advice = "Increase `tune`, or raise `diffusion` towards the last value of `thermostat`."
        return [Finding("thermostat_unsettled", "warning", sentence, advice, dict(total))]
    off = table[[_differs(row, UNSETTLED) for _, row in table.iterrows()]]
    if off.empty:
        return []
    named = ", ".join(f"{name} at {row['mean']:.3g}" for name, row in off.iterrows())
    sentence = f"One thermostat cannot serve all variables: kinetic temperatures are {named}."
    advice = (
        "Give `thermostat='per_variable'` (or 'per_point'), or raise `diffusion`, which makes the "
        "noise that all share the larger part."
    )
    evidence_of = off["mean"].to_dict()
    return [Finding("shared_thermostat", "warning", sentence, advice, evidence_of)]


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
    advice = "Decrease `gradient_noise`: more is subtracted than the gradient has."
    found = cold["mean"].to_dict()
    return [Finding("gradient_noise_too_large", "warning", sentence, advice, found)]


def _heated(evidence: Evidence, name: str, velocity: float) -> list[Finding]:
    """Tell heat of the step size, which velocities have alone, from heat of noise."""
    step_size, friction = evidence.step_size, float(np.mean(evidence.stats["friction"]))
    position, stiffness = _position_temperature(evidence, name, velocity)
    if evidence.exact_gradients:
        position = 1.0
    figures = {"kinetic_temperature": velocity, "position_temperature": position}
    findings, who = [], "the chain" if name == "all" else f"`{name}`"
    by_step, by_noise = velocity / position, position
    if by_step >= HOT or by_step > by_noise:
        sentence = (
            f"The step size is too large: the velocities of {who} are at temperature "
            f"{velocity:.3g} at the end of a step, of which their positions explain "
            f"{position:.3g}."
        )
        target = step_size * (0.5 / stiffness if stiffness > 0.5 else 0.5)
        advice = f"Decrease `step_size` from {step_size:.2g} to {target:.2g}."
        evidence_of = figures | {"step_in_smallest_scale": stiffness}
        findings.append(Finding(TOO_LARGE, "error", sentence, advice, evidence_of))
    if by_noise >= HOT or by_noise >= by_step:
        sentence = (
            f"The friction is too small for the gradient's noise, which heats {who} to "
            f"temperature {position:.3g} instead of 1."
        )
        needed = friction * (position - 1) / 0.05
        advice = (
            f"Raise `friction` from {friction:.2g} to {needed:.2g}, give "
            "`gradient_noise='fisher'`, take larger batches or a smaller `step_size`, or change "
            "to `pmg.gSGNHT`."
        )
        findings.append(Finding(TOO_SMALL, "error", sentence, advice, figures))
    return findings


def _position_temperature(evidence: Evidence, name: str, velocity: float) -> tuple[float, float]:
    r"""Temperature T of the positions of a variable, and the stiffness of its stiffest direction.

    With exact damping and noise the splitting has Gaussian positions at their right variance
    :math:`s^2 = T / \omega^2` and velocities at :math:`T / (1 - \epsilon^2 \omega^2 / 4)`. Put
    together, :math:`T_v = T E[1 / (1 - T \epsilon^2 / 4 s^2)]` over the directions of the velocity,
    in which only T is not observed. A mass changes the scales, which shows as positions that would
    be too cold: then nothing is known of the step.
    """
    scales, weights = _principal_scales(evidence, name)
    ratios = (evidence.step_size / scales) ** 2 / 4
    most = 1 / ratios.max()

    def excess(t: float) -> float:
        return t * float(weights @ (1 / (1 - t * ratios))) - velocity

    position = optimize.brentq(excess, 0.0, most * (1 - 1e-9))
    if position < COLD:
        return velocity, 0.0
    return position, float(2 * np.sqrt(position * ratios.max()))


def _principal_scales(evidence: Evidence, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Find the standard deviations of the draws within chains along principal axes.

    With each axis goes its share of the velocity of the variable ``name``.
    """
    names = list(evidence.points)
    parts = [evidence.points[key] for key in names]
    owner = np.concatenate([np.full(x.shape[-1], i) for i, x in enumerate(parts)])
    x = np.concatenate(parts, axis=-1)
    x = (x - x.mean(axis=1, keepdims=True)).reshape(-1, x.shape[-1])
    if x.shape[1] > LARGEST_COVARIANCE or len(x) < 10 * x.shape[1]:
        variances, axes = x.var(axis=0), np.eye(x.shape[1])
    else:
        variances, axes = np.linalg.eigh(np.atleast_2d(np.cov(x.T)))
    # Points of curved manifolds have fewer directions than entries; the others do not vary.
    kept = np.argsort(variances)[::-1][: _freedom(evidence, len(variances))]
    mine = owner == names.index(name) if name in names else np.ones(len(owner), dtype=bool)
    weights = (axes[mine][:, kept] ** 2).sum(axis=0)
    return np.sqrt(np.maximum(variances[kept], np.finfo(float).tiny)), weights / weights.sum()


def _freedom(evidence: Evidence, default: int) -> int:
    if evidence.temperatures is None:
        return default
    table = evidence.temperatures
    return int(table.loc["all", "degrees_of_freedom"]) if "all" in table.index else default


def _langevin(evidence: Evidence) -> list[Finding]:
    scales, _ = _principal_scales(evidence, "")
    step_size = float(np.median(evidence.stats["step_size"], axis=1).max())
    relative = step_size / scales.min() ** 2
    if relative <= LARGEST_LANGEVIN_STEP:
        return []
    sentence = (
        f"The step size is too large: it is {relative:.2g} of the smallest posterior variance, and "
        "draws along that direction are too wide."
    )
    advice = f"Decrease `step_size` from {step_size:.2g} to {step_size * 0.1 / relative:.2g}."
    return [Finding(TOO_LARGE, "error", sentence, advice, {"step_in_smallest_variance": relative})]


def _acceptance(evidence: Evidence) -> list[Finding]:
    rate = float(np.mean(evidence.stats["acceptance_rate"]))
    if "energy" not in evidence.stats or rate >= LEAST_ACCEPTANCE:
        return []
    sentence = f"The step size is too large: {100 * rate:.2g} per cent of proposals are accepted."
    advice = f"Decrease `step_size` from {evidence.step_size:.2g}, or leave it to be tuned."
    return [Finding(TOO_LARGE, "error", sentence, advice, {"acceptance_rate": rate})]


def _differs(row: pd.Series, tolerance: float) -> bool:
    return abs(row["mean"] - 1) > tolerance and abs(row["z"]) > SIGNIFICANT


def _time_scaling(evidence: Evidence) -> list[Finding]:
    """Whether trajectories that keep the extended energy have kept it."""
    scaling = float(np.mean(np.abs(np.log(evidence.stats["time_scaling"]))))
    off = None if evidence.temperatures is None else evidence.temperatures.loc["all"]
    hot = off is not None and _differs(off, HOT - 1)
    if scaling <= LARGEST_TIME_SCALING and not hot:
        return []
    figures = {"time_scaling": float(np.exp(scaling))}
    if hot:
        figures["kinetic_temperature"] = float(off["mean"])
    listed = " and ".join(f"the {key.replace('_', ' ')} is {x:.3g}" for key, x in figures.items())
    sentence = f"The step size is too large for the gradient's noise: {listed} instead of 1."
    advice = (
        f"Decrease `step_size` from {evidence.step_size:.2g} or `n_leapfrog`, give "
        "`gradient_noise='fisher'`, or enlarge the batch."
    )
    return [Finding(TOO_LARGE, "error", sentence, advice, figures)]


OF_EACH_CHAIN: tuple[Check, ...] = (_divergences, _damping)
# Dynamics without velocities on a curved space have no scale here that a step could be compared
# with: SGRLD is judged by its chains and by the temperature of its positions.
CHECKS: Mapping[str, tuple[Check, ...]] = {
    "gSGNHT": (_damping, _thermostat),
    "SGNHT": (_damping, _thermostat),
    "SGGMC": (_heat,),
    "SGHMC": (_heat,),
    "SGLD": (_langevin,),
    "SGRLD": (),
    "SGNPHMC": (_time_scaling,),
    "GMC": (_acceptance,),
    "GMCWithinGibbs": (_acceptance,),
}

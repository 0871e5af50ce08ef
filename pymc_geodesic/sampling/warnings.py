#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Warnings of a chain: transitions not finite, tuning not settled, velocities too hot."""

from __future__ import annotations

from typing import Literal

from pymc.stats.convergence import SamplerWarning, WarningType

from pymc_geodesic.sampling.chain import Chain, GradientChain
from pymc_geodesic.sampling.forecast import News
from pymc_geodesic.sampling.monitors import RAN_OFF_ADVICE
from pymc_geodesic.tuning.thermostat_settling import ThermostatSettling

__all__ = ["as_news", "divergence_of", "warning_of"]


def warning_of(
    name: str, chain: GradientChain, diverging: bool, *, mishap: str, advice: str
) -> SamplerWarning | None:
    """Return the warning about a draw, if any."""
    ran_off = chain.monitors.ran_off
    if ran_off is not None:
        found = divergence_of(name, chain, True, mishap=ran_off, advice=RAN_OFF_ADVICE)
    else:
        found = divergence_of(name, chain, diverging, mishap=mishap, advice=advice)
    if found is None and not diverging and not chain.tune and chain.settling is not None:
        found = _unsettled(name, chain.settling)
    if found is None and chain.monitors.too_hot is not None:
        found = _too_hot(name, chain.monitors.too_hot)
    if found is None and chain.monitors.unbalanced is not None:
        found = _unbalanced(name, chain.monitors.unbalanced)
    if found is None and chain.news is not None:
        found, chain.news = as_news(chain.news), None
    return found


def divergence_of(
    name: str, chain: Chain, diverging: bool, *, mishap: str, advice: str
) -> SamplerWarning | None:
    """Return, once per chain, what happened and which parameter to change.

    Divergences in the tuning phase, on the way to the posterior, are only recorded.
    """
    if not diverging or chain.has_warned or chain.tune:
        return None
    chain.has_warned = True
    remedy = advice.format(step_size=chain.settings.step_size)
    message = f"{name} {mishap}; such draws are marked `diverging`. {remedy}"
    return SamplerWarning(WarningType.DIVERGENCE, message, "warn")


def _unsettled(name: str, settling: ThermostatSettling) -> SamplerWarning | None:
    what, settling.unsettled = settling.unsettled, ""
    if not what:
        return None
    message = (
        f"{name} had not settled at the end of the tuning phase: {what}. Its first draws, or all "
        "of them, do not follow the posterior. Increase `tune`, or start nearer to the posterior "
        "(`initvals`)."
    )
    return SamplerWarning(WarningType.CONVERGENCE, message, "warn")


def _too_hot(name: str, what: str) -> SamplerWarning:
    message = (
        f"{name} {what} instead of 1: the step size is too large, or the friction too small for "
        "the noise of the gradient, and draws may be too wide. `pmg.diagnose(idata)` tells which."
    )
    return SamplerWarning(WarningType.CONVERGENCE, message, "warn")


def _unbalanced(name: str, what: str) -> SamplerWarning:
    message = (
        f"{name} velocities {what} instead of 1: one friction cannot balance noise that differs "
        "between entries or directions. Draws are too wide where velocities are hot, and too "
        "narrow where they are cold. Leave out `step_size` to have the noise measured, or pass "
        "`mass=pmg.MonteCarloEM(kind='dense')` and increase `tune`."
    )
    return SamplerWarning(WarningType.CONVERGENCE, message, "warn")


def as_news(news: News) -> SamplerWarning:
    """Turn a sentence into a statistic, which PyMC logs.

    PyMC logs it in the process that shows the progress bar, wherever the chain runs.
    """
    # PyMC has no kind for messages that are not warnings.
    level: Literal["warn", "info"] = "warn" if news.is_warning else "info"
    return SamplerWarning(WarningType.CONVERGENCE, news.text, level)

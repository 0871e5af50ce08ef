#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What a chain reports when its tuning phase ends, and its warnings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from pymc.stats.convergence import SamplerWarning, WarningType

from pymc_geodesic.kernel.row_weights import RowWeights
from pymc_geodesic.kernel.streams import BatchStream
from pymc_geodesic.run_record import of_modes
from pymc_geodesic.sampling.chain import Chain, GradientChain, Settings, Tuning
from pymc_geodesic.sampling.forecast import News, forecast, noise_warning
from pymc_geodesic.sampling.inputs import weights_of
from pymc_geodesic.sampling.larger_batches import share_of_noise
from pymc_geodesic.sampling.monitors import RAN_OFF_ADVICE
from pymc_geodesic.tuning.thermostat_settling import ThermostatSettling

__all__ = ["as_news", "divergence_of", "news_of_tuning", "warning_of"]

# Transitions per draw, and step sizes in posterior scales, that deserve a warning.
MANY_STEPS, SHORT_STEP = 200, 0.05
# A given step is too long if it is so many times the one that would be found: measurements of two
# runs differ by less.
TOO_LONG = 1.5
MISHAP = "made a transition to a state that is not finite and undid it"
ADVICE = "Decrease `step_size` from {step_size:.2g}."


def news_of_tuning(
    name: str,
    chain: GradientChain,
    *,
    window: Sequence[Sequence[np.ndarray]],
    has_batches: bool,
    has_velocity: bool,
    seconds_per_pass: float,
    proposed_step: float | None = None,
) -> News | None:
    """Report what was found, what draws will cost, and what deserves a warning.

    Parameters
    ----------
    name : str
        Name of the step method.
    chain : GradientChain
        At the end of its tuning phase.
    window : sequence of sequence of ndarray
        Its draws since the last choice, in coordinates that do not jump.
    has_batches : bool
        Whether the model has minibatches.
    has_velocity : bool
        Whether the algorithm has velocities: the step sizes of others are in other units.
    seconds_per_pass : float
        Seconds of the processor for a gradient of all rows; not a number if it was not measured.
    proposed_step : float or None
        The step size that would have been found, if the user has given another.
    """
    settings, tuning = chain.settings, chain.tuning
    if tuning is None or tuning.found is None or not tuning.reports:
        return None
    unit = " posterior scales" if has_velocity else ""
    parts = [
        f"step size {settings.step_size:.3g}{unit}{'' if proposed_step is None else ', as given'}",
        *(f"{name} {value:.3g}" for name, value in settings.parameters.items()),
        f"{settings.n_steps} transitions per draw",
        _gradients(tuning, has_batches),
        *_rows(chain.batches, weights_of(chain)),
        *(["friction by the halves of each batch"] if tuning.found.halved else []),
    ]
    text = f"{name} tuned itself: {', '.join(parts)}"
    text += forecast(
        tuning.clock,
        window,
        n_drawn=chain.n_drawn,
        mass=tuning.found.mass,
        seconds_per_pass=seconds_per_pass,
    )
    # Halves of batches balance correlations, too.
    share = 0.0 if tuning.found.halved else _share_of_noise(settings, tuning.found.noise.mean)
    warning = noise_warning(share, n_entries=sum(np.size(x) for x in chain.state.position))
    is_slow = settings.n_steps >= MANY_STEPS or settings.step_size < SHORT_STEP
    if proposed_step is not None:
        warning += _too_long(settings.step_size, proposed_step)
    elif is_slow and has_velocity:
        warning += (
            ". Such short steps mean that the posterior is far from Gaussian or that its gradients "
            "are very noisy. Take larger batches or reparametrise the model, and check R-hat over "
            "several chains"
        )
    if tuning.found.unbalanced:
        warning += (
            ". The noise of gradients changes from place to place, so that standard deviations may "
            "be wrong by a tenth or more. Batches of an even number of rows that `pm.Minibatch` "
            "draws anew for each transition, with replacement, mend this"
        )
    if has_batches and not tuning.controlled and chain.batches.in_passes:
        warning += (
            ". Rows are taken without replacement, and gradients have no control variates. The "
            "noise of a pass then sums to zero, and draws are too narrow, by up to a third. Pass "
            "`variance_reduction='control_variates'`, or take rows with replacement"
        )
    if tuning.modes is not None and tuning.modes.others:
        warning += (
            f". {of_modes(tuning.modes)} Unless chains cross from one to another, which "
            "`pmg.diagnose(idata)` tells, their draws together have other shares"
        )
    return News(text + warning, is_warning=bool(warning))


def _too_long(step_size: float, proposed: float) -> str:
    if step_size <= TOO_LONG * proposed:
        return ""
    return (
        f". The given step size is longer than {proposed:.2g}, with which the bias is about "
        "`accuracy`, so that draws may be too wide or diverge"
    )


def _gradients(tuning: Tuning, has_batches: bool) -> str:
    if not has_batches:
        return "exact gradients"
    if not tuning.controlled:
        return "minibatch gradients"
    return f"control variates (noise {tuning.variance_ratio:.2g} of the plain gradient's)"


def _share_of_noise(settings: Settings, mean_noise: float) -> float:
    if not settings.measured_noise:
        return 0.0
    return share_of_noise(settings.step_size, settings.parameters["diffusion"], mean_noise)


def _rows(batches: BatchStream, weights: RowWeights | None) -> list[str]:
    """Tell how rows are drawn, and name those of a batch if they are not those of the model."""
    drawn = []
    if weights is not None:
        drawn = ["rows by their weight" if weights.factors else "rows evenly from groups"]
    if batches.times == 1:
        return drawn
    sizes = " and ".join(f"{size:,}" for _, size in batches.sizes)
    larger = f"{sizes} rows per batch, {batches.times} times the model's, to keep the noise small"
    return [*drawn, larger]


def warning_of(name: str, chain: GradientChain, diverging: bool) -> SamplerWarning | None:
    """Return the warning about a draw, if any."""
    ran_off = chain.monitors.ran_off
    if ran_off is not None:
        found = divergence_of(name, chain, True, mishap=ran_off, advice=RAN_OFF_ADVICE)
    else:
        found = divergence_of(name, chain, diverging)
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
    name: str, chain: Chain, diverging: bool, *, mishap: str = MISHAP, advice: str = ADVICE
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

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Whether the draws of a finished run follow the posterior, by the gradients of all rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr

from pymc.model import Model
from pymc.stats.convergence import SamplerWarning, WarningType

from pymc_geodesic.kernel.row_weights import factors_by
from pymc_geodesic.monte_carlo import mean_and_mcse, z_score
from pymc_geodesic.run_record import read_records
from pymc_geodesic.runs.direction_coordinates import MOST_COORDINATES, direction_draws
from pymc_geodesic.runs.directions import wrong_direction
from pymc_geodesic.runs.gradients_at_draws import (
    ENOUGH,
    FEWEST,
    MOST_NUMBERS,
    SHARE_OF_BATCHES,
    DrawGradients,
    batches_of_run,
    gradients_of_run,
)
from pymc_geodesic.runs.positions import shorter, warnings_of_positions
from pymc_geodesic.runs.widths import Widths, compared_widths
from pymc_geodesic.sampling import Chain
from pymc_geodesic.sampling.news import MANY_STEPS, SHORT_STEP
from pymc_geodesic.sampling.stochastic import StochasticSampler
from pymc_geodesic.stages import stage

__all__ = ["RowsCheck", "checked_with_rows"]

# Share of the duration of a run that a check may take, and the same if something is suspicious.
SHARE, SHARE_IF_SUSPICIOUS = 0.05, 0.2
# Draws of all chains that are looked at: more gain little.
MOST = 1_000
# Of a kinetic temperature: standard errors, and deviations that deserve a check and that are wrong
# without one. Velocities without a thermostat are hotter by up to a tenth at the end of a step.
SIGNIFICANT, WITH_THERMOSTAT, WRONG_TEMPERATURE = 4.0, 0.1, 0.2
# Seconds of a run with a given step size from which on a check pays that derives gradients anew.
LONG = 10.0
KINETIC = "kinetic_temperature"
# Draws of all chains that show how wide they are.
MOST_OF_ALL = 4_000


class _Suspicion(NamedTuple):
    """What may have gone wrong: what must be cleared, and whether the check may take longer."""

    to_clear: list[str]
    is_any: bool


class RowsCheck(NamedTuple):
    """A check of a run with the gradients of all rows.

    Attributes
    ----------
    warnings : list of SamplerWarning
        Empty if nothing is wrong.
    gradients : DrawGradients or None
        What it has evaluated.
    """

    warnings: list[SamplerWarning]
    gradients: DrawGradients | None = None


@stage("Checking the draws")
def checked_with_rows(
    idata: xr.DataTree,
    sampler: object,
    chains: Sequence[Chain],
    *,
    model: Model,
    seconds: float,
    share: float = SHARE,
) -> RowsCheck:
    """Check a run with the gradients of all rows, and say what follows.

    Batches that hardly ever hold a row cannot tell that draws ignore it. So gradients of all rows
    are evaluated at some draws, as far as that takes a small part of the time of the run.

    Parameters
    ----------
    idata : DataTree
        The run.
    sampler : Sampler
        The sampler of its step.
    chains : sequence of Chain
        The chains after the last draw.
    model : Model
        The model.
    seconds : float
        Duration of the run.
    share : float
        Of the duration, that gradients may take; more if something is suspicious.
    """
    if "sample_stats" not in idata or "posterior" not in idata:
        return RowsCheck([])
    stats = idata["sample_stats"].to_dataset()
    if not isinstance(sampler, StochasticSampler):
        return RowsCheck([_rejected(n, idata)] if (n := _n_diverging(stats)) else [])
    accepted = WITH_THERMOSTAT if "thermostat" in stats else WRONG_TEMPERATURE
    suspicion = _suspicion(stats, chains, accepted=accepted)
    if suspicion.is_any:
        share = max(share, SHARE_IF_SUSPICIOUS)
    tuning = sampler.tuning
    is_weighed = tuning is not None and bool(factors_by(tuning.gradient.weights))
    try:
        gradients, why_not = gradients_of_run(
            idata,
            sampler,
            model,
            seconds=share * seconds,
            most=MOST,
            is_worth_it=tuning is not None or suspicion.is_any or seconds >= LONG,
            fewest=ENOUGH if is_weighed else FEWEST,
        )
        if gradients is None and is_weighed:
            # Batches by weight hold the rows that matter.
            allowed = SHARE_OF_BATCHES * seconds
            gradients = batches_of_run(idata, sampler, model, seconds=allowed)
        found = None if gradients is None else _compared(gradients, chains)
        if found is None:
            why_not = why_not or "the directions of its variables are not known"
    except Exception as error:
        # Draws must survive the failure of a check.
        gradients, found, why_not = None, None, f"that failed: {error}"
    by = "" if found is None or gradients is None else gradients.evaluate.rows
    warnings = _said(idata, stats, chains, suspicion, found, by, why_not)
    return RowsCheck(warnings, gradients)


def _said(
    idata: xr.DataTree,
    stats: xr.Dataset,
    chains: Sequence[Chain],
    suspicion: _Suspicion,
    found: Widths | None,
    by: str,
    why_not: str,
) -> list[SamplerWarning]:
    """Return the warnings that follow from a comparison by some rows, or from there being none."""
    positions = warnings_of_positions(idata)
    if why_not.startswith("that failed"):
        text = f"The draws were not checked with the gradients of all rows, because {why_not}"
        positions.append(SamplerWarning(WarningType.CONVERGENCE, text, "warn"))
    # Of variables whose directions are unknown, temperatures from batches have to do.
    is_cleared = found is not None and found.are_right and (found.are_all or not positions)
    if is_cleared:
        positions = []
    if found is not None and found.wrong:
        said = f"by the gradients of {by} at {found.n_draws} of the draws, {found.wrong}"
        return [_do_not_follow([*suspicion.to_clear, said], idata)]
    if found is None:
        suspicion = _suspicion(stats, chains, accepted=WRONG_TEMPERATURE)
    if not suspicion.to_clear:
        return positions
    if found is None:
        said = f"this was not checked with the gradients of all rows, because {why_not}"
        return [_do_not_follow([*suspicion.to_clear, said], idata), *positions]
    if not is_cleared:
        said = f"the gradients of {by} at {found.n_draws} of the draws do not clear them"
        return [_do_not_follow([*suspicion.to_clear, said], idata), *positions]
    text = (
        f"{_listed(suspicion.to_clear)}. The gradients of {by} at {found.n_draws} of the draws "
        "show that means and standard deviations are nevertheless right to about a quarter of a "
        "standard deviation."
    )
    return [SamplerWarning(WarningType.DIVERGENCES, text[0].upper() + text[1:], "warn")]


def _n_diverging(stats: xr.Dataset) -> int:
    return int(stats["diverging"].sum()) if "diverging" in stats else 0


def _rejected(n: int, idata: xr.DataTree) -> SamplerWarning:
    """Say what divergences mean to a step with a Metropolis test."""
    text = (
        f"{n} of {idata['sample_stats']['diverging'].size} draws after tuning diverged: their "
        "trajectories came to where the energy is not finite and were rejected, and places near "
        f"there may be missing. {_shorter(idata)}Writing the model with other parameters may help."
    )
    return SamplerWarning(WarningType.DIVERGENCES, text, "error")


def _shorter(idata: xr.DataTree) -> str:
    """Return the advice to halve the step size; nothing if steps of several kinds were made."""
    stats, records = idata["sample_stats"], read_records(idata)
    if "step_size" not in stats or len(records) != 1:
        return ""
    now = float(stats["step_size"].median())
    return f"{shorter(now, now / 2, records[0])}. "


def _do_not_follow(reasons: Sequence[str], idata: xr.DataTree) -> SamplerWarning:
    steps = _shorter(idata)
    batches = "Or take larger batches" if steps else "Take larger batches"
    text = (
        f"These draws do not follow the posterior: {_listed(reasons)}. {steps}{batches}, or write "
        "the model with other parameters. `pmg.diagnose(idata)` may find the cause."
    )
    # What is left of it if the draws are corrected.
    return SamplerWarning(WarningType.DIVERGENCES, text, "error", extra=_listed(reasons))


def _listed(reasons: Sequence[str]) -> str:
    return "; ".join(reasons)


def _suspicion(stats: xr.Dataset, chains: Sequence[Chain], *, accepted: float) -> _Suspicion:
    """Collect what may have gone wrong; ``accepted`` is the deviation of a temperature."""
    to_clear = []
    if n := _n_diverging(stats):
        to_clear.append(f"{n} of {stats['diverging'].size} draws after tuning diverged")
    off = {
        str(name): mean
        for name, values in stats.items()
        if str(name).startswith(KINETIC) and values.ndim == 2
        for mean, error in [mean_and_mcse(values.transpose("chain", "draw").to_numpy())]
        if abs(mean - 1) > accepted and abs(z_score(mean - 1, error)) > SIGNIFICANT
    }
    if off:
        named = ", ".join(f"{mean:.3g} for {_whose(name)}" for name, mean in off.items())
        to_clear.append(
            f"the noise of gradients was mis-stated, so that temperatures of velocities are {named}"
        )
    return _Suspicion(to_clear, bool(to_clear) or any(map(_is_suspicious, chains)))


def _whose(name: str) -> str:
    variable = name.removeprefix(KINETIC).removeprefix("_")
    return f"`{variable}`" if variable else "all variables"


def _is_suspicious(chain: Chain) -> bool:
    """Return whether the noise that tuning has found is heavy-tailed or uneven, or steps short."""
    settings, tuning = chain.settings, getattr(chain, "tuning", None)
    if tuning is None or tuning.found is None:
        return False
    is_slow = settings.n_steps >= MANY_STEPS or settings.step_size < SHORT_STEP
    found = tuning.found
    return is_slow or found.noise.is_outweighed or bool(found.unbalanced)


def _compared(gradients: DrawGradients, chains: Sequence[Chain]) -> Widths | None:
    """Compare draws with the gradients at some of them; None if no directions are known."""
    variables, n_chains = gradients.variables, len(gradients.points[0])
    n_draws = gradients.everywhere[0].shape[1]
    every = -(-n_draws // max(1, MOST_OF_ALL // n_chains))
    everywhere = [x[:, ::every] for x in gradients.everywhere]
    draws = direction_draws(
        variables, gradients.points, gradients.gradients, everywhere, most=MOST_NUMBERS
    )
    if draws is None:
        return None
    names = [variable.name for variable in variables]
    informative = dict(zip(names, _tells(chains, len(names)), strict=True))
    used = [bool(informative[name]) for name in draws.owners]
    found = compared_widths(draws.names, draws.here, draws.forces(), are_informative=used)
    if not found.wrong and len(used) <= MOST_COORDINATES:
        found = found._replace(wrong=wrong_direction(draws))
    return found._replace(are_all=set(names) == set(draws.owners))


def _tells(chains: Sequence[Chain], n_variables: int) -> np.ndarray:
    """Return of which variables the temperature by itself means something."""
    monitors = getattr(chains[0], "monitors", None) if chains else None
    return np.ones(n_variables, bool) if monitors is None else monitors.is_informative

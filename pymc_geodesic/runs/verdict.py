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

from pymc_geodesic.kernel.all_rows import gradients_of_all_rows
from pymc_geodesic.kernel.evaluated import clock
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.monte_carlo import mean_and_mcse, z_score
from pymc_geodesic.run_record import read_records
from pymc_geodesic.runs.at_draws import at_draws, to_value
from pymc_geodesic.runs.direction_coordinates import (
    MOST_COORDINATES,
    direction_draws,
    has_directions,
)
from pymc_geodesic.runs.directions import wrong_direction
from pymc_geodesic.runs.positions import warnings_of_positions
from pymc_geodesic.runs.shorter_steps import shorter
from pymc_geodesic.runs.widths import Widths, compared_widths
from pymc_geodesic.sampling import Chain
from pymc_geodesic.sampling.news import MANY_STEPS, SHORT_STEP
from pymc_geodesic.sampling.stochastic import StochasticSampler

__all__ = ["warnings_of_rows"]

# Share of the duration of a run that a check may take, and the same if something is suspicious.
# A second is never too much.
SHARE, SHARE_IF_SUSPICIOUS, NEVER_TOO_MUCH = 0.05, 0.2, 1.0
# Draws of all chains that are looked at: with fewer, nothing can be said, and more gain little.
FEWEST, MOST, MOST_IF_SUSPICIOUS = 80, 400, 1_000
# Of a kinetic temperature: standard errors, and deviations that deserve a check and that are wrong
# without one. Velocities without a thermostat are hotter by up to a tenth at the end of a step.
SIGNIFICANT, WITH_THERMOSTAT, WRONG_TEMPERATURE = 4.0, 0.1, 0.2
# Seconds of a run with a given step size from which on a check pays that derives gradients anew.
LONG = 10.0
KINETIC = "kinetic_temperature"
# Of all draws that are looked at: 40 MB, and a few times as much on the way.
MOST_NUMBERS = 5 * 10**6
# Draws of all chains that show how wide they are.
MOST_OF_ALL = 4_000


class _Suspicion(NamedTuple):
    """What may have gone wrong: what must be cleared, and whether the check may take longer."""

    to_clear: list[str]
    is_any: bool


def warnings_of_rows(
    idata: xr.DataTree, sampler: object, chains: Sequence[Chain], *, model: Model, seconds: float
) -> list[SamplerWarning]:
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

    Returns
    -------
    list of SamplerWarning
        Empty if nothing is wrong.
    """
    if "sample_stats" not in idata or "posterior" not in idata:
        return []
    stats = idata["sample_stats"].to_dataset()
    if not isinstance(sampler, StochasticSampler):
        return [_rejected(n, idata)] if (n := _n_diverging(stats)) else []
    accepted = WITH_THERMOSTAT if "thermostat" in stats else WRONG_TEMPERATURE
    suspicion = _suspicion(stats, chains, accepted=accepted)
    positions = warnings_of_positions(idata)
    try:
        found, why_not = _checked(idata, sampler, chains, model, seconds, suspicion)
    except Exception as error:
        # Draws must survive the failure of a check.
        found, why_not = None, f"that failed: {error}"
        text = f"The draws were not checked with the gradients of all rows, because {why_not}"
        positions.append(SamplerWarning(WarningType.CONVERGENCE, text, "warn"))
    # Of variables whose directions are unknown, temperatures from batches have to do.
    is_cleared = found is not None and found.are_right and (found.are_all or not positions)
    if is_cleared:
        positions = []
    if found is not None and found.wrong:
        said = f"by the gradients of all rows at {found.n_draws} of the draws, {found.wrong}"
        return [_do_not_follow([*suspicion.to_clear, said], idata)]
    if found is None:
        suspicion = _suspicion(stats, chains, accepted=WRONG_TEMPERATURE)
    if not suspicion.to_clear:
        return positions
    if found is None:
        said = f"this was not checked with the gradients of all rows, because {why_not}"
        return [_do_not_follow([*suspicion.to_clear, said], idata), *positions]
    if not is_cleared:
        said = f"the gradients of all rows at {found.n_draws} of the draws do not clear them"
        return [_do_not_follow([*suspicion.to_clear, said], idata), *positions]
    text = (
        f"{_listed(suspicion.to_clear)}. The gradients of all rows at {found.n_draws} of the draws "
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
    return SamplerWarning(WarningType.DIVERGENCES, text, "error")


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


def _checked(
    idata: xr.DataTree,
    sampler: StochasticSampler,
    chains: Sequence[Chain],
    model: Model,
    seconds: float,
    suspicion: _Suspicion,
) -> tuple[Widths | None, str]:
    """Compare as many draws as there is time for; otherwise return why none are."""
    problem, n_chains = sampler.problem, idata["posterior"].sizes["chain"]
    is_worth_it = sampler.tuning is not None or suspicion.is_any or seconds >= LONG
    if why_not := _obstacle(idata, sampler, is_worth_it=is_worth_it):
        return None, why_not
    gradient = (
        HostGradient(problem.potential) if sampler.tuning is None else sampler.tuning.gradient
    )
    each = _seconds_of_one(gradient, _points(idata, sampler, model, 1)[0])
    share, most = (SHARE_IF_SUSPICIOUS, MOST_IF_SUSPICIOUS) if suspicion.is_any else (SHARE, MOST)
    memory = MOST_NUMBERS // problem.manifold.dim
    n = int(min(max(share * seconds, NEVER_TOO_MUCH) / each, most, memory))
    if n < FEWEST:
        return None, f"one of them takes {each:.2g} s"
    points = _points(idata, sampler, model, max(1, n // n_chains))
    everywhere = _points(idata, sampler, model, max(1, min(MOST_OF_ALL, memory) // n_chains))
    columns = [list(zip(*x, strict=True)) for x in (points, everywhere)]
    columns.insert(1, gradients_of_all_rows(gradient, points))
    arrays = [
        [np.reshape(x, (n_chains, -1, *np.shape(x)[1:])) for x in column] for column in columns
    ]
    draws = direction_draws(problem.variables, *arrays, most=memory)
    assert draws is not None, "there is a variable with directions"
    names = [variable.name for variable in problem.variables]
    telling = dict(zip(names, _tells(chains, len(names)), strict=True))
    told = [bool(telling[name]) for name in draws.owners]
    found = compared_widths(draws.names, draws.here, draws.forces(), are_telling=told)
    if not found.wrong and len(told) <= MOST_COORDINATES:
        found = found._replace(wrong=wrong_direction(draws))
    return found._replace(are_all=set(names) == set(draws.owners)), ""


def _obstacle(idata: xr.DataTree, sampler: StochasticSampler, *, is_worth_it: bool) -> str:
    """Return why gradients of all rows cannot be compared with draws, as part of a sentence."""
    problem, sizes = sampler.problem, idata["posterior"].sizes
    if problem.conditioned_names or not problem.has_graph:
        return "the step moves only some of the variables"
    if problem.potential.local is not None or problem.potential.expectations:
        return "variables belong to the rows of a batch"
    kept = idata["posterior"].data_vars
    if missing := [v.name for v in problem.variables if v.name not in kept]:
        return f"the draws of {', '.join(f'`{name}`' for name in missing)} are not kept"
    if not any(map(has_directions, problem.variables)):
        return "the directions of its variables are not known"
    if (n := sizes["chain"] * sizes["draw"]) < FEWEST:
        return f"there are only {n} draws"
    return "" if is_worth_it else "it would take longer than the run"


def _seconds_of_one(gradient: HostGradient, point: Sequence[np.ndarray]) -> float:
    """Return what a gradient of all rows takes; the first one makes the function."""
    for _ in range(2):
        began = clock()
        gradients_of_all_rows(gradient, [point])
    return max(*(clock() - began), 1e-6)


def _tells(chains: Sequence[Chain], n_variables: int) -> np.ndarray:
    """Return of which variables the temperature by itself means something."""
    monitors = getattr(chains[0], "monitors", None) if chains else None
    return np.ones(n_variables, bool) if monitors is None else monitors.is_telling


def _points(
    idata: xr.DataTree, sampler: StochasticSampler, model: Model, n_draws: int
) -> list[tuple[np.ndarray, ...]]:
    """Return draws as points of the embedding, chain after chain, so many of each."""
    names = sampler.problem.names
    # Variables that are integrated out have no draws.
    free = [rv for rv in model.free_RVs if model.rvs_to_values[rv].name in names]
    graphs = [to_value(model, rv) for rv in free]
    arrays = at_draws(idata, free, graphs, max_draws=n_draws)
    values = {model.rvs_to_values[rv].name: x for rv, x in zip(free, arrays, strict=True)}
    shape = arrays[0].shape[:2]
    return [
        sampler.problem.position_of({name: values[name][index] for name in names})
        for index in np.ndindex(shape)
    ]

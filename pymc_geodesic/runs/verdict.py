#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Whether the draws of a finished run follow the posterior, by the gradients of all rows."""

from __future__ import annotations

import time

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr

from pymc.model import Model
from pymc.stats.convergence import SamplerWarning, WarningType

from pymc_geodesic.kernel.all_rows import gradients_of_all_rows
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.mass.arrays import joined
from pymc_geodesic.monte_carlo import mean_and_mcse, z_score
from pymc_geodesic.runs.at_draws import at_draws, to_value
from pymc_geodesic.runs.positions import warnings_of_positions
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
# Of a kinetic temperature, in standard errors, and twice what a self-tuned step accepts.
SIGNIFICANT, WRONG_TEMPERATURE = 4.0, 0.1
KINETIC = "kinetic_temperature_"
ADVICE = (
    "Take larger batches, or a smaller `accuracy` or `step_size`; `pmg.diagnose(idata)` may find "
    "the cause."
)


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
        return [_rejected(n, stats)] if (n := _n_diverging(stats)) else []
    suspicion = _suspicion(stats, chains)
    found, why_not = _checked(idata, sampler, model, seconds, suspicion)
    # Temperatures from batches say nothing that gradients of all rows do not say.
    positions = [] if found is not None and found.are_right else warnings_of_positions(idata)
    if found is not None and found.wrong:
        said = f"by the gradients of all rows at {found.n_draws} of the draws, {found.wrong}"
        return [_do_not_follow([*suspicion.to_clear, said])]
    if not suspicion.to_clear:
        return positions
    if found is None:
        said = f"this was not checked with the gradients of all rows, because {why_not}"
        return [_do_not_follow([*suspicion.to_clear, said]), *positions]
    if not found.are_right:
        said = f"the gradients of all rows at {found.n_draws} of the draws do not clear them"
        return [_do_not_follow([*suspicion.to_clear, said]), *positions]
    text = (
        f"{_listed(suspicion.to_clear)}. The gradients of all rows at {found.n_draws} of the draws "
        "show that means and standard deviations are nevertheless right to about a quarter of a "
        "standard deviation."
    )
    return [SamplerWarning(WarningType.DIVERGENCES, text[0].upper() + text[1:], "warn")]


def _n_diverging(stats: xr.Dataset) -> int:
    return int(stats["diverging"].sum()) if "diverging" in stats else 0


def _rejected(n: int, stats: xr.Dataset) -> SamplerWarning:
    """Say what divergences mean to a step with a Metropolis test."""
    text = (
        f"{n} of {stats['diverging'].size} draws after tuning diverged: a trajectory was rejected, "
        "and places near it may be missing. Decrease `step_size`, or write the model with other "
        "parameters."
    )
    return SamplerWarning(WarningType.DIVERGENCES, text, "error")


def _do_not_follow(reasons: Sequence[str]) -> SamplerWarning:
    text = f"These draws do not follow the posterior: {_listed(reasons)}. {ADVICE}"
    return SamplerWarning(WarningType.DIVERGENCES, text, "error")


def _listed(reasons: Sequence[str]) -> str:
    return "; ".join(reasons)


def _suspicion(stats: xr.Dataset, chains: Sequence[Chain]) -> _Suspicion:
    to_clear = []
    if n := _n_diverging(stats):
        to_clear.append(f"{n} of {stats['diverging'].size} draws after tuning diverged")
    off = {
        str(name).removeprefix(KINETIC): mean
        for name, values in stats.items()
        if str(name).startswith(KINETIC) and values.ndim == 2
        for mean, error in [mean_and_mcse(values.transpose("chain", "draw").to_numpy())]
        if abs(mean - 1) > WRONG_TEMPERATURE and abs(z_score(mean - 1, error)) > SIGNIFICANT
    }
    if off:
        named = ", ".join(f"{mean:.3g} for `{name}`" for name, mean in off.items())
        to_clear.append(
            f"the noise of gradients was mis-stated, so that temperatures of velocities are {named}"
        )
    return _Suspicion(to_clear, bool(to_clear) or any(map(_is_suspicious, chains)))


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
    model: Model,
    seconds: float,
    suspicion: _Suspicion,
) -> tuple[Widths | None, str]:
    """Compare as many draws as there is time for; otherwise return why none are."""
    problem = sampler.problem
    flat = [i for i, factor in enumerate(problem.manifold.factors) if factor.is_flat]
    if not problem.has_graph or problem.potential.local or problem.potential.expectations:
        return None, "variables belong to the rows of a batch"
    if missing := [v.name for v in problem.variables if v.name not in idata["posterior"]]:
        return None, f"the draws of {', '.join(f'`{name}`' for name in missing)} are not kept"
    if not flat:
        return None, "all variables are on curved spaces"
    gradient = (
        HostGradient(problem.potential) if sampler.tuning is None else sampler.tuning.gradient
    )
    n_chains = idata["posterior"].sizes["chain"]
    n_all = n_chains * idata["posterior"].sizes["draw"]
    points = _points(idata, sampler, model, 1)
    # The first evaluation makes the function, the second one shows what it takes.
    for _ in range(2):
        began = time.thread_time()
        gradients_of_all_rows(gradient, points[:1])
    each = max(time.thread_time() - began, 1e-6)
    share, most = (SHARE_IF_SUSPICIOUS, MOST_IF_SUSPICIOUS) if suspicion.is_any else (SHARE, MOST)
    n = int(min(max(share * seconds, NEVER_TOO_MUCH) / each, most, n_all))
    if n < FEWEST:
        return None, f"one of them takes {each:.2g} s"
    points = _points(idata, sampler, model, n // n_chains)
    gradients = gradients_of_all_rows(gradient, points)
    shape = n_chains, len(points) // n_chains, -1
    x = np.array([joined([point[i] for i in flat]) for point in points])
    force = np.concatenate([gradients[i].reshape(len(points), -1) for i in flat], axis=1)
    names = [name for i in flat for name in _entries(problem.variables[i].name, points[0][i])]
    return compared_widths(names, x.reshape(shape), force.reshape(shape)), ""


def _points(
    idata: xr.DataTree, sampler: StochasticSampler, model: Model, n_draws: int
) -> list[tuple[np.ndarray, ...]]:
    """Return draws as points of the embedding, chain after chain, so many of each."""
    names = sampler.problem.names
    free = model.free_RVs
    graphs = [to_value(model, rv) for rv in free]
    arrays = at_draws(idata, free, graphs, max_draws=n_draws)
    values = {model.rvs_to_values[rv].name: x for rv, x in zip(free, arrays, strict=True)}
    shape = arrays[0].shape[:2]
    return [
        sampler.problem.position_of({name: values[name][index] for name in names})
        for index in np.ndindex(shape)
    ]


def _entries(name: str, x: np.ndarray) -> list[str]:
    """Name every entry of a variable."""
    indices = np.ndindex(np.shape(x))
    return [f"{name}[{', '.join(map(str, i))}]" if i else name for i in indices]

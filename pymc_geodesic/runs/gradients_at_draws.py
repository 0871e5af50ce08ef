#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Gradients of all rows at some draws of a finished run, as many as there is time for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr

from pymc.model import Model

from pymc_geodesic.kernel.all_rows import gradients_of_all_rows
from pymc_geodesic.kernel.evaluated import clock
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.potential.variables import SampledVariable
from pymc_geodesic.runs.direction_coordinates import has_directions
from pymc_geodesic.runs.point_maps import PointMaps
from pymc_geodesic.sampling.stochastic import StochasticSampler

__all__ = [
    "FEWEST",
    "DrawGradients",
    "batches_of_run",
    "gradients_of_run",
    "with_batches",
    "with_gradients",
]

# A second is never too much.
NEVER_TOO_MUCH = 1.0
# Draws of all chains that are looked at: with fewer, nothing can be said.
FEWEST = 80
# Draws with gradients from batches, and rows of a batch: with 300 rows the variance of means fell
# eleven times in regressions, with 3,000 a hundred times.
MOST, SMALLEST_BATCH, LARGEST_BATCH = 400, 300, 3_000
# Of all draws that are looked at: 40 MB, and a few times as much on the way.
MOST_NUMBERS = 5 * 10**6


class DrawGradients(NamedTuple):
    """Draws of a run as points, with gradients of all rows at some of them.

    Attributes
    ----------
    maps : PointMaps
        The variables, and the way from points back to PyMC's values.
    everywhere : list of ndarray
        For each variable all draws as points, ``(chain, draw, *shape)``; fewer where they are very
        many.
    points, gradients : list of ndarray
        Those at which there are gradients of the potential energy, in the same form.
    rows : str
        Of which rows the gradients are.
    """

    maps: PointMaps
    everywhere: list[np.ndarray]
    points: list[np.ndarray]
    gradients: list[np.ndarray]
    rows: str = "all rows"

    @property
    def variables(self) -> tuple[SampledVariable, ...]:
        """The variables."""
        return self.maps.variables

    @property
    def n_draws(self) -> int:
        """Draws of all chains at which there are gradients."""
        return self.points[0].shape[0] * self.points[0].shape[1]


def gradients_of_run(
    idata: xr.DataTree,
    sampler: StochasticSampler,
    model: Model,
    *,
    seconds: float,
    most: int,
    is_worth_it: bool,
) -> tuple[DrawGradients | None, str]:
    """Evaluate gradients at as many draws as there is time for; otherwise return why at none.

    Parameters
    ----------
    idata : DataTree
        The run.
    sampler : StochasticSampler
        The sampler of its step.
    model : Model
        The model.
    seconds : float
        What it may take.
    most : int
        Draws of all chains beyond which more gain little.
    is_worth_it : bool
        Whether a function of gradients may be made for it.
    """
    problem, n_chains = sampler.problem, idata["posterior"].sizes["chain"]
    if why_not := _obstacle(idata, sampler, is_worth_it=is_worth_it):
        return None, why_not
    gradient = (
        HostGradient(problem.potential) if sampler.tuning is None else sampler.tuning.gradient
    )
    maps = PointMaps(model, problem.potential)
    memory = MOST_NUMBERS // problem.manifold.dim
    everywhere = maps.points(idata, max_draws=max(1, memory // n_chains))
    each = _seconds_of_one(gradient, [x[0, 0] for x in everywhere])
    n = int(min(max(seconds, NEVER_TOO_MUCH) / each, most, memory))
    if n < FEWEST:
        return None, f"one of them takes {each:.2g} s"
    return with_gradients(maps, gradient, everywhere, max_draws=max(1, n // n_chains)), ""


def batches_of_run(
    idata: xr.DataTree,
    sampler: StochasticSampler,
    model: Model,
    *,
    seconds: float,
    rng: np.random.Generator,
) -> DrawGradients | None:
    """Estimate gradients from batches, as large as there is time for; None if that is too small.

    Parameters
    ----------
    idata, sampler, model
        As for :func:`gradients_of_run`.
    seconds : float
        What it may take.
    rng : Generator
        Draws the rows.
    """
    if sampler.tuning is None or _obstacle(idata, sampler, is_worth_it=True):
        return None
    gradient, n_chains = sampler.tuning.gradient, idata["posterior"].sizes["chain"]
    if gradient.is_stream or len(gradient.n_rows) != 1:
        return None
    # At the draws and at the center.
    of_a_row = 2 * gradient.seconds_per_pass / gradient.n_rows[0]
    n_rows = min(max(seconds, NEVER_TOO_MUCH) / (of_a_row * MOST), LARGEST_BATCH)
    if not n_rows >= SMALLEST_BATCH:
        return None
    maps = PointMaps(model, sampler.problem.potential)
    everywhere = maps.points(idata, max_draws=max(1, MOST_NUMBERS // maps.size // n_chains))
    each = max(1, MOST // n_chains)
    return with_batches(maps, gradient, everywhere, max_draws=each, n_rows=int(n_rows), rng=rng)


def with_gradients(
    maps: PointMaps, gradient: HostGradient, everywhere: list[np.ndarray], *, max_draws: int
) -> DrawGradients:
    """Evaluate gradients at so many draws of each chain."""
    points = _thinned(everywhere, max_draws)
    shape = points[0].shape[:2]
    each = [[x[index] for x in points] for index in np.ndindex(shape)]
    gradients = [
        g.reshape(x.shape)
        for g, x in zip(gradients_of_all_rows(gradient, each), points, strict=True)
    ]
    return DrawGradients(maps, everywhere, points, gradients)


def with_batches(
    maps: PointMaps,
    gradient: HostGradient,
    everywhere: list[np.ndarray],
    *,
    max_draws: int,
    n_rows: int,
    rng: np.random.Generator,
) -> DrawGradients:
    r"""Estimate gradients at so many draws of each chain from batches of rows.

    They are those of all rows at the center, changed by what a batch says of the way from there:
    right on average, with little noise, and independent between draws.
    """
    points = _thinned(everywhere, max_draws)
    shape = points[0].shape[:2]
    each = [[x[index] for x in points] for index in np.ndindex(shape)]
    center = _center(maps, everywhere)
    rows = [gradient.rows(rng, n_rows) for _ in each]
    here, there = gradient.many(each, rows), gradient.many([center] * len(each), rows)
    whole = gradient.whole(center).gradient
    found = [
        [w + a - b for w, a, b in zip(whole, x.gradient, y.gradient, strict=True)]
        for x, y in zip(here, there, strict=True)
    ]
    gradients = [
        np.array(part).reshape(x.shape)
        for part, x in zip(zip(*found, strict=True), points, strict=True)
    ]
    return DrawGradients(maps, everywhere, points, gradients, f"batches of {n_rows:,} rows")


def _center(maps: PointMaps, everywhere: list[np.ndarray]) -> list[np.ndarray]:
    """Return the mean of flat variables, and of others the draw nearest to it."""
    found = []
    for variable, x in zip(maps.variables, everywhere, strict=True):
        flat = x.reshape(-1, *x.shape[2:])
        mean = flat.mean(axis=0)
        if not variable.is_flat:
            away = ((flat - mean) ** 2).reshape(len(flat), -1).sum(axis=1)
            mean = flat[int(away.argmin())]
        found.append(mean.astype(x.dtype))
    return found


def _thinned(everywhere: list[np.ndarray], max_draws: int) -> list[np.ndarray]:
    n_draws = everywhere[0].shape[1]
    every = -(-n_draws // max_draws)
    # If the number is not divisible, the last draws are kept rather than the first.
    return [x[:, (n_draws - 1) % every :: every] for x in everywhere]


def _obstacle(idata: xr.DataTree, sampler: StochasticSampler, *, is_worth_it: bool) -> str:
    """Return why there are no gradients of all rows at draws, as part of a sentence."""
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

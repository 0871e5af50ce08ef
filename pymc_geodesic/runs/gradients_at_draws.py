#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Gradients of all rows at some draws of a finished run, as many as there is time for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from pymc.model import Model

from pymc_geodesic.kernel.all_rows import gradients_of_all_rows
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.kernel.interpreted import clock, seconds_of
from pymc_geodesic.potential.variables import SampledVariable
from pymc_geodesic.refinement.coordinates import has_moves
from pymc_geodesic.runs.at_draws import PointMaps
from pymc_geodesic.runs.direction_coordinates import has_directions
from pymc_geodesic.sampling.stochastic import StochasticSampler

__all__ = [
    "ENOUGH",
    "FEWEST",
    "MOST_NUMBERS",
    "SHARE_OF_BATCHES",
    "DrawGradients",
    "GradientsAt",
    "batches_of_run",
    "gradients_of_run",
    "second_time",
    "seconds_of_one",
]

# A second is never too much.
NEVER_TOO_MUCH = 1.0
# Draws of all chains that are looked at: with fewer, nothing can be said.
FEWEST = 80
# With gradients of all rows at fewer, those of batches at more draws correct better.
ENOUGH = 200
# Draws at which there are gradients of all rows.
N_DRAWS = (1_000, 400, FEWEST)
# Draws with gradients from batches, and rows of a batch: with 300 rows the variance of means fell
# eleven times in regressions, with 3,000 a hundred times.
MOST, BATCHES = 400, (3_000, 1_000, 300)
# Of the duration of a run, what those of batches may take.
SHARE_OF_BATCHES = 0.05
# Of the rows of batches: results depend on the seed of the run alone.
SEED = 0
# Of all draws that are looked at: 80 MB, and a few times as much on the way.
MOST_NUMBERS = 10**7


class DrawGradients(NamedTuple):
    """Draws of a run as points, with gradients of all rows at some of them.

    Attributes
    ----------
    evaluate : GradientsAt
        Has made the gradients, and makes them at other draws.
    everywhere : list of ndarray
        For each variable all draws as points, ``(chain, draw, *shape)``; fewer where they are very
        many.
    points, gradients : list of ndarray
        Those at which there are gradients of the potential energy, in the same form.
    """

    evaluate: GradientsAt
    everywhere: list[np.ndarray]
    points: list[np.ndarray]
    gradients: list[np.ndarray]

    @property
    def maps(self) -> PointMaps:
        """The variables, and the way from points back to PyMC's values."""
        return self.evaluate.maps

    @property
    def variables(self) -> tuple[SampledVariable, ...]:
        """The variables."""
        return self.maps.variables

    @property
    def n_draws(self) -> int:
        """Draws of all chains at which there are gradients."""
        return self.points[0].shape[0] * self.points[0].shape[1]


class GradientsAt:
    r"""Gradients at some of the draws, evenly thinned.

    Those from batches are the gradient of all rows at the center of the draws, changed by what a
    batch says of the way from there: right on average, with little noise, and independent between
    draws.

    Parameters
    ----------
    maps : PointMaps
        The variables.
    gradient : HostGradient
        Gradients of the potential energy.
    max_draws : int
        Draws of each chain.
    n_rows : int, optional
        Rows of the batch of each draw; by default all rows.
    """

    def __init__(
        self,
        maps: PointMaps,
        gradient: HostGradient,
        *,
        max_draws: int,
        n_rows: int | None = None,
    ) -> None:
        self.maps, self.n_rows = maps, n_rows
        self.gradient, self._max_draws = gradient, max_draws

    @property
    def rows(self) -> str:
        """Of which rows the gradients are."""
        return "all rows" if self.n_rows is None else f"batches of {self.n_rows:,} rows"

    def __call__(self, everywhere: list[np.ndarray]) -> DrawGradients:
        """Evaluate gradients at some of all draws."""
        n_draws = everywhere[0].shape[1]
        every = -(-n_draws // self._max_draws)
        # If the number is not divisible, the last draws are kept rather than the first.
        points = [x[:, (n_draws - 1) % every :: every] for x in everywhere]
        each = [[x[index] for x in points] for index in np.ndindex(points[0].shape[:2])]
        if self.n_rows is None:
            found = gradients_of_all_rows(self.gradient, each)
        else:
            found = self._of_batches(each, self._center(everywhere), self.n_rows)
        gradients = [g.reshape(x.shape) for g, x in zip(found, points, strict=True)]
        return DrawGradients(self, everywhere, points, gradients)

    def _of_batches(
        self, each: list[list[np.ndarray]], center: list[np.ndarray], n_rows: int
    ) -> list[np.ndarray]:
        gradient, rng = self.gradient, np.random.default_rng(SEED)
        rows = [gradient.rows(rng, n_rows) for _ in each]
        here, there = gradient.many(each, rows), gradient.many([center] * len(each), rows)
        whole = gradient.whole(center).gradient
        # The negative change of the center's gradient to that of all rows.
        moves = [[b - c for b, c in zip(y.gradient, whole, strict=True)] for y in there]
        if gradient.carried is not None:
            moves = [
                gradient.carried(*move, *center, *point)
                for move, point in zip(moves, each, strict=True)
            ]
        changes = [
            [a - b for a, b in zip(x.gradient, move, strict=True)]
            for x, move in zip(here, moves, strict=True)
        ]
        return [np.array(x) for x in zip(*changes, strict=True)]

    def _center(self, everywhere: list[np.ndarray]) -> list[np.ndarray]:
        """Return the mean of flat variables, and of others the draw nearest to it."""
        found = []
        for variable, x in zip(self.maps.variables, everywhere, strict=True):
            flat = x.reshape(-1, *x.shape[2:])
            mean = flat.mean(axis=0)
            if not variable.is_flat:
                away = ((flat - mean) ** 2).reshape(len(flat), -1).sum(axis=1)
                mean = flat[int(away.argmin())]
            found.append(mean.astype(x.dtype))
        return found


def gradients_of_run(
    idata: xr.DataTree,
    sampler: StochasticSampler,
    model: Model,
    *,
    seconds: float,
    most: int,
    is_worth_it: bool,
    fewest: int = FEWEST,
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
    fewest : int
        Draws of all chains with fewer of which there is no use.
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
    each = seconds_of_one(gradient, [x[0, 0] for x in everywhere])
    n = int(min(max(seconds, NEVER_TOO_MUCH) / each, most, memory))
    # Steps, so that results seldom depend on how fast a run happened to be.
    n = next((x for x in N_DRAWS if x <= n), 0)
    if n < fewest:
        return None, f"one of them takes {each:.2g} s"
    return GradientsAt(maps, gradient, max_draws=max(1, n // n_chains))(everywhere), ""


def batches_of_run(
    idata: xr.DataTree,
    sampler: StochasticSampler,
    model: Model,
    *,
    seconds: float,
) -> DrawGradients | None:
    """Estimate gradients from batches, as large as there is time for; None if that is too small.

    Parameters
    ----------
    idata, sampler, model
        As for :func:`gradients_of_run`.
    seconds : float
        What it may take.
    """
    if sampler.tuning is None or _obstacle(idata, sampler, is_worth_it=True):
        return None
    gradient, n_chains = sampler.tuning.gradient, idata["posterior"].sizes["chain"]
    if gradient.is_stream or len(gradient.n_rows) != 1:
        return None
    # At the draws and at the center.
    of_a_row = 2 * gradient.seconds_per_pass / gradient.n_rows[0]
    n_rows = max(seconds, NEVER_TOO_MUCH) / (of_a_row * MOST)
    # The same holds here; a pass that was never made has taken NaN seconds.
    batch = next((x for x in BATCHES if x <= n_rows), None)
    if batch is None:
        return None
    maps = PointMaps(model, sampler.problem.potential)
    everywhere = maps.points(idata, max_draws=max(1, MOST_NUMBERS // maps.size // n_chains))
    each = max(1, MOST // n_chains)
    return GradientsAt(maps, gradient, max_draws=each, n_rows=batch)(everywhere)


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
    if not any(has_directions(v) or has_moves(v) for v in problem.variables):
        return "no functions of its variables have known averages"
    if (n := sizes["chain"] * sizes["draw"]) < FEWEST:
        return f"there are only {n} draws"
    return "" if is_worth_it else "it would take longer than the run"


def seconds_of_one(gradient: HostGradient, point: Sequence[np.ndarray]) -> float:
    """Return what a gradient of all rows takes, by that of some; the first one makes the function.

    Of data in memory a part is enough, of which all rows consist.
    """
    if gradient.is_stream or not gradient.n_rows:
        seconds = second_time(lambda: gradients_of_all_rows(gradient, [point]))
    else:
        rows = next(gradient.chunks())
        seconds = second_time(lambda: gradient.many([point], [rows], are_drawn=False))
        seconds *= gradient.n_rows[0] / len(rows[0])
    return max(seconds, 1e-6)


def second_time(call: Callable[[], Any]) -> float:
    """Return the seconds of a second call, before which a first one makes functions."""
    for _ in range(2):
        began = clock()
        call()
    return seconds_of(clock() - began)

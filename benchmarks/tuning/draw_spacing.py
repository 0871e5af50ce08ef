#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""``n_steps="auto"`` with given step sizes, beside a grid of numbers of transitions per draw.

Liu, Zhu and Song (2016) choose this number, their L, by hand: "Automatic selection of L for
SG-MCMCs remains to be studied". Step size and friction are given, in the units of the model, as in
the papers. Effective samples are those of the entry with the fewest, over means and squares;
seconds are those of the processor for the draws that are kept.

    python -m benchmarks.tuning.draw_spacing [--quick]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pymc as pm

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import SamplingClock, flat, sample
from benchmarks.harness.statistics import effective_samples, median_and_range

BENCHMARK = Benchmark(
    question='Are the transitions per draw of `n_steps="auto"` as good as the best of a grid?',
    asked=(
        "At least half of the best effective samples per second of the grid, and at least a fifth "
        "of an effective sample per draw: medians of three seeds, for each model."
    ),
    fixed="2026-11-27",
    seeds=(1, 2, 3),
)

GRID = [1, 5, 20, 50, 100, 200, 500]
# Transitions of a chain of the grid, draws at the least, and draws of "auto" and of tuning.
N_TRANSITIONS, FEWEST_DRAWS, N_DRAWS = 20_000, 200, 500
SHARE_OF_BEST, WORTH_OF_A_DRAW = 0.5, 0.2


class Case(NamedTuple):
    """A model, the names of its variables, and a step with the given number of transitions."""

    title: str
    model: pm.Model
    step: Callable[[Any], Any]
    name: str


def directions() -> Case:
    """Mean of directions in ten dimensions: SGGMC, with the noise estimated."""
    rng, n = np.random.default_rng(1), 10_000
    data = rng.normal(size=(n, 10)) + np.eye(10)[0]
    data /= np.linalg.norm(data, axis=1, keepdims=True)
    with pm.Model() as model:
        mu = pmg.VonMisesFisher("mu", np.eye(10)[0], 0.0)
        batch = pm.Minibatch(data, batch_size=100)
        pmg.VonMisesFisher("x", mu, 5.0, observed=batch, total_size=n)
    options = {"step_size": 5e-4, "friction": 50.0, "gradient_noise": "fisher", "model": model}
    return Case("mean direction, SGGMC", model, lambda n: pmg.SGGMC(n_steps=n, **options), "mu")


def logistic() -> Case:
    """Logistic regression with twenty coefficients: SGHMC."""
    rng, n = np.random.default_rng(2), 20_000
    design = rng.normal(size=(n, 20))
    outcome = (rng.random(n) < 1 / (1 + np.exp(-design @ rng.normal(size=20) / 4))).astype(float)
    with pm.Model() as model:
        x, y = pm.Minibatch(design, outcome, batch_size=100)
        beta = pm.Normal("beta", 0, 1, shape=20)
        pm.Bernoulli("y", logit_p=x @ beta, observed=y, total_size=n)
    options = {"step_size": 2e-3, "friction": 30.0, "gradient_noise": "fisher", "model": model}
    return Case("logistic, SGHMC", model, lambda n: pmg.SGHMC(n_steps=n, **options), "beta")


def slow() -> Case:
    """Linear regression with strongly correlated columns: SGNHT."""
    rng, n = np.random.default_rng(3), 5_000
    design = rng.normal(size=(n, 1)) + 0.3 * rng.normal(size=(n, 10))
    outcome = design.sum(axis=1) + rng.normal(size=n)
    with pm.Model() as model:
        x, y = pm.Minibatch(design, outcome, batch_size=100)
        beta = pm.Normal("beta", 0, 10, shape=10)
        pm.Normal("y", x @ beta, 1.0, observed=y, total_size=n)
    options = {"step_size": 1e-3, "diffusion": 20.0, "model": model}
    return Case(
        "correlated columns, SGNHT", model, lambda n: pmg.SGNHT(n_steps=n, **options), "beta"
    )


class Result(NamedTuple):
    """Transitions per draw, effective samples per second and per draw."""

    n_steps: int
    rate: float
    worth: float


def measured(case: Case, n_steps: Any, *, seeds: Sequence[int], n_transitions: int) -> list[Result]:
    """Sample one chain for each seed; the step is compiled once."""
    is_automatic, step = n_steps == "auto", case.step(n_steps)
    draws = N_DRAWS if is_automatic else max(FEWEST_DRAWS, n_transitions // n_steps)
    found = []
    for seed in seeds:
        clock = SamplingClock()
        options = {"chains": 1, "draws": draws, "random_seed": seed, "callback": clock}
        tune = N_DRAWS if is_automatic else draws // 4
        run = sample(case.model, lambda: step, tune=tune, **options)
        effective = effective_samples(flat(run.draws, [case.name]))
        last = int(run.stats["n_steps"][0, -1])
        found.append(Result(last, effective / clock.seconds, effective / draws))
    return found


def compared(case: Case, *, quick: bool) -> tuple[list[list[Any]], list[Check]]:
    """Return a line of the table for each number of transitions, and the checks."""
    grid, seeds = (GRID[2:4], (1,)) if quick else (GRID, BENCHMARK.seeds)
    options = {"seeds": seeds, "n_transitions": 2_000 if quick else N_TRANSITIONS}
    found = {n: measured(case, n, **options) for n in grid}
    automatic = measured(case, "auto", **options)
    best = max(grid, key=lambda n: np.median([one.rate for one in found[n]]))
    share = float(
        np.median([one.rate for one in automatic]) / np.median([one.rate for one in found[best]])
    )
    worth = float(np.median([one.worth for one in automatic]))
    lines = [
        [
            case.title,
            label,
            median_and_range([one.n_steps for one in some], ".0f"),
            median_and_range([one.rate for one in some], ".1f"),
            median_and_range([one.worth for one in some], ".3f"),
        ]
        for label, some in [*((str(n), found[n]) for n in grid), ("auto", automatic)]
    ]
    checks = [
        Check(
            f"{case.title}: share of the best rate, that of {best} transitions",
            f"{share:.2f}",
            f">= {SHARE_OF_BEST}",
            share >= SHARE_OF_BEST,
        ),
        Check(
            f"{case.title}: effective samples per draw",
            f"{worth:.2f}",
            f">= {WORTH_OF_A_DRAW}",
            worth >= WORTH_OF_A_DRAW,
        ),
    ]
    return lines, checks


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    lines, checks = [], []
    for make in (directions, logistic, slow):
        some, of_case = compared(make(), quick=options.quick)
        lines, checks = lines + some, checks + of_case
    header = ["model", "asked for", "transitions per draw", "ESS per second", "ESS per draw"]
    table("transitions per draw", header, lines)
    report("draw_spacing", checks, about=BENCHMARK, quick=options.quick, header=header, rows=lines)


if __name__ == "__main__":
    main()

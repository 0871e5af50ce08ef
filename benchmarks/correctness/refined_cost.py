#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What correction and certificate cost with a thousand parameters.

A linear regression of 10,000 rows, and effects of 1,000 groups of 100 rows with their mean and
deviation, with default arguments; of the regression 300 draws of each chain and one seed, because a
whole run, of which the correction is a smaller share, takes minutes. The checks of draws, in which
gradients of all rows at draws are evaluated, count as a part of the correction. Memory is the most
that `pmg.refine` of the same draws allocates, certificate included.

    python -m benchmarks.correctness.refined_cost [--quick]
"""

from __future__ import annotations

import sys
import time
import tracemalloc

from collections.abc import Callable
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pymc as pm
import xarray as xr

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from pymc_geodesic.runs import results

BENCHMARK = Benchmark(
    question="What do correction and certificate cost with a thousand parameters?",
    asked=(
        "At most a fifth of the CPU seconds of the run, checks included, and 400 MB, an "
        "eighth of a square array for each draw with a gradient."
    ),
    fixed="2026-11-28",
    seeds=(1, 2, 3),
)

# A square array of each of 400 draws, the fewest in these runs, has 3,200 MB.
SHARE, MOST = 0.2, 400
SIZE = 1_000
STAGES = "checked_with_rows", "_refined", "certified"
HEADER = ["model", "seed", "CPU s", "checks", "correction", "certificate"]
HEADER += ["share", "MB", "MB of draws", "worst bias", "verdict"]


class Costly(NamedTuple):
    """A model, the variable whose posterior means are known, and draws of a chain."""

    model: pm.Model
    name: str
    mean: np.ndarray
    sd: np.ndarray
    draws: int


def regression() -> Costly:
    """A regression with known noise and a flat prior."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((10_000, SIZE))
    y = x @ rng.normal(size=SIZE) + rng.normal(size=len(x))
    with pm.Model() as model:
        some, outcome = pm.Minibatch(x, y, batch_size=100)
        beta = pm.Normal("beta", 0.0, 10.0, shape=SIZE)
        pm.Normal("y", some @ beta, 1.0, observed=outcome, total_size=len(y))
    covariance = np.linalg.inv(x.T @ x + np.eye(SIZE) / 100)
    return Costly(model, "beta", covariance @ (x.T @ y), np.sqrt(np.diag(covariance)), 300)


def groups() -> Costly:
    """Effects of groups about a mean; their deviation is known well enough to be left out."""
    rng = np.random.default_rng(2)
    group = np.repeat(np.arange(SIZE), 100)
    y = 1.0 + rng.normal(size=SIZE)[group] + rng.normal(size=len(group))
    with pm.Model() as model:
        of_row, outcome = pm.Minibatch(group, y, batch_size=500)
        mu, tau = pm.Normal("mu", 0.0, 10.0), pm.HalfNormal("tau", 5.0)
        effect = pm.Normal("effect", mu, tau, shape=SIZE)
        pm.Normal("y", effect[of_row], 1.0, observed=outcome, total_size=len(y))
    means = y.reshape(SIZE, -1).mean(axis=1)
    shrunk = 100 / (100 + 1 / means.var())
    mean = shrunk * means + (1 - shrunk) * means.mean()
    return Costly(model, "effect", mean, np.full(SIZE, np.sqrt(shrunk / 100)), 1_000)


MODELS: dict[str, Callable[[], Costly]] = {"regression": regression, "groups": groups}


def timed(name: str, seconds: dict[str, float]) -> Callable[..., Any]:
    """Return a function of :mod:`pymc_geodesic.runs.results` that counts its CPU seconds."""
    call = getattr(results, name)

    def counted(*args: Any, **options: Any) -> Any:
        begun = time.process_time()
        try:
            return call(*args, **options)
        finally:
            seconds[name] = time.process_time() - begun

    return counted


def measured(name: str, seed: int) -> list:
    """Sample once, and correct the same draws again for memory."""
    costly, seconds = MODELS[name](), dict.fromkeys(STAGES, 0.0)
    begun = time.process_time()
    with patch.multiple(results, **{stage: timed(stage, seconds) for stage in STAGES}):
        idata = pmg.sample(costly.draws, model=costly.model, random_seed=seed, progressbar=False)
    total = time.process_time() - begun
    drawn = idata["posterior"][costly.name].to_numpy().reshape(-1, SIZE)
    bias = np.abs(drawn.mean(axis=0) - costly.mean) / costly.sd
    line = [name, seed, f"{total:.1f}", *(f"{s:.1f}" for s in seconds.values())]
    line += [sum(seconds.values()) / total, memory(idata, costly.model)]
    line += [f"{drawn.nbytes / 1e6:.0f}", f"{bias.max():.3f}"]
    line += [idata["posterior"].attrs.get("verdict", "")]
    print(*line, sep=" | ", file=sys.stderr, flush=True)
    return line


def memory(idata: xr.DataTree, model: pm.Model) -> int:
    """Return the most that a correction allocates, in MB."""
    tracemalloc.start()
    pmg.refine(idata, model)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return round(most / 1e6)


def main() -> None:
    quick = arguments(__doc__.splitlines()[0]).quick
    seeds = BENCHMARK.seeds[:1] if quick else BENCHMARK.seeds
    # The regression, whose runs take minutes, has one seed.
    rows = [measured("groups", seed) for seed in seeds] + [measured("regression", seeds[0])]
    checks = []
    for name in MODELS:
        share = max(row[HEADER.index("share")] for row in rows if row[0] == name)
        text = f"{name}: largest share of CPU seconds"
        checks.append(Check(text, f"{share:.1%}", f"<= {SHARE:.0%}", share <= SHARE))
        most = max(row[HEADER.index("MB")] for row in rows if row[0] == name)
        text = f"{name}: largest memory in MB"
        checks.append(Check(text, f"{most}", f"<= {MOST}", most <= MOST))
    table("Costs", HEADER, rows)
    report("refined_cost", checks, about=BENCHMARK, quick=quick, header=HEADER, rows=rows)


if __name__ == "__main__":
    main()

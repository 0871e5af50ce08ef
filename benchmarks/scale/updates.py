#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""More rows for a posterior that is known: cost, and whether many updates drift.

Linear regression with five predictors, whose posterior is that of least squares to a part in a
million. Ten million rows grow by 1 per cent, in the process that has sampled them. Twenty thousand
rows grow by 1 per cent a hundred times, and each update begins with the one before.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time

import numpy as np
import pymc as pm
import xarray as xr

import pymc_geodesic as pmg

from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.parts import part_of
from benchmarks.harness.processes import in_a_process
from benchmarks.harness.records import Check, report

BENCHMARK = Benchmark(
    question="What does 1 per cent more of ten million rows cost, and do a hundred updates drift?",
    asked="At most 3 s of the processor in the process that has sampled them; means within .05 sd; "
    "after each of 100 updates within .1 sd.",
    fixed="2026-11-27",
    seeds=(1, 2, 3),
)

N, FEW, UPDATES = 10_000_000, 20_000, 100
BETA = np.array([0.5, -1.0, 0.0, 2.0, 0.3])
MOST_SECONDS, MOST_SHIFT, MOST_DRIFT = 3.0, 0.05, 0.1


def rows(n: int, seed: int) -> dict[str, np.ndarray]:
    """Simulate rows."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, len(BETA)))
    return {"x": x, "observed": 1.0 + x @ BETA + rng.standard_normal(n)}


def model_of(data: dict[str, np.ndarray]) -> pm.Model:
    """Write the model."""
    with pm.Model() as model:
        x, observed = (pm.Data(name, values) for name, values in data.items())
        intercept = pm.Normal("intercept", 0.0, 10.0)
        beta = pm.Normal("beta", 0.0, 10.0, shape=len(BETA))
        pm.Normal("y", intercept + x @ beta, pm.HalfNormal("sigma", 5.0), observed=observed)
    return model


def shift(idata: xr.DataTree, model: pm.Model) -> float:
    """Return the largest distance of means from least squares, in standard deviations."""
    x, y = (model[name].get_value(borrow=True) for name in ("x", "observed"))
    design = np.column_stack([np.ones(len(x)), x])
    precision = design.T @ design
    mean = np.linalg.solve(precision, design.T @ y)
    variance = np.mean((y - design @ mean) ** 2)
    posterior = idata["posterior"].to_dataset().mean(("chain", "draw"))
    found = np.r_[posterior["intercept"], posterior["beta"]]
    return float(
        np.abs((found - mean) / np.sqrt(variance * np.diag(np.linalg.inv(precision)))).max()
    )


def run_large(n: int, seed: int) -> dict[str, float]:
    """Update once."""
    model, more = model_of(rows(n, seed)), rows(n // 100, 100 + seed)
    began = time.process_time()
    before = pmg.sample(model=model, random_seed=seed, progressbar=False)
    first = time.process_time() - began
    began = time.process_time()
    idata = pmg.update(before, model, more, random_seed=seed, progressbar=False)
    seconds = time.process_time() - began
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "first": first,
        "seconds": seconds,
        "megabytes": megabytes,
        "shift": shift(idata, model),
    }


def run_many(n: int, seed: int, n_updates: int) -> dict[str, float]:
    """Update again and again, with a quarter of the default draws."""
    model = model_of(rows(n, seed))
    idata = pmg.sample(model=model, random_seed=seed, progressbar=False)
    shifts, began = [], time.process_time()
    for i in range(n_updates):
        more = rows(n // 100, 1_000 * seed + i)
        idata = pmg.update(idata, model, more, draws=250, random_seed=i, progressbar=False)
        shifts.append(shift(idata, model))
    each = (time.process_time() - began) / n_updates
    return {"seconds": each, "largest": max(shifts), "last": shifts[-1]}


def main() -> None:
    """Update for each seed in a process of its own."""
    reader = parser(__doc__.splitlines()[0])
    reader.add_argument("--task", choices=["large", "many"], help="run one, and print it")
    reader.add_argument("--seed", type=int, default=1)
    reader.add_argument("--only", choices=["large", "many"], help="run these alone, and keep them")
    given = reader.parse_args()
    n, few, n_updates = (100_000, 5_000, 3) if given.quick else (N, FEW, UPDATES)
    if given.task == "large":
        print(json.dumps(run_large(n, given.seed)))
        return
    if given.task == "many":
        print(json.dumps(run_many(few, given.seed, n_updates)))
        return
    # A hundred updates have an error for each of them.
    tasks = [*(("large", seed) for seed in BENCHMARK.seeds), ("many", 1)]
    found = {}
    for task, seed in tasks[2:] if given.quick else tasks:
        options = ["--quick"] * given.quick + ["--task", task, "--seed", str(seed)]

        def run(options: list[str] = options) -> dict[str, float]:
            with tempfile.TemporaryDirectory() as cache:
                return in_a_process(*options, cache=cache)

        part, now = f"{task} {seed}", given.only in (None, task)
        one = part_of("updates", part, run, now=now, quick=given.quick, resume=True)
        if one is not None:
            found[task, seed] = one
            print(task, seed, one, flush=True, file=sys.stderr)
    large = [one for (task, _), one in found.items() if task == "large"]
    seconds, worst = (max(one[key] for one in large) for key in ("seconds", "shift"))
    checks = [
        Check(f"CPU, {n:,} rows + 1 %", f"{seconds:.1f} s", "<= 3 s", seconds <= MOST_SECONDS),
        Check("largest shift of a mean", f"{worst:.3f} sd", "<= 0.05 sd", worst <= MOST_SHIFT),
    ]
    drift = found["many", 1]["largest"] if ("many", 1) in found else None
    said = "not run" if drift is None else f"{drift:.3f} sd"
    is_small = None if drift is None else drift <= MOST_DRIFT
    what = f"the same after each of {n_updates} updates"
    checks.append(Check(what, said, "<= 0.1 sd", is_small))
    header = ["task", "seed", "what was found"]
    lines = [
        [*task, ", ".join(f"{key} {value:.3g}" for key, value in one.items())]
        for task, one in found.items()
    ]
    table("Updates", header, lines)
    report("updates", checks, about=BENCHMARK, quick=given.quick, header=header, rows=lines)


if __name__ == "__main__":
    main()

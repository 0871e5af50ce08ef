#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Leave-one-out cross-validation from a sample of rows, beside that of all rows.

Each case has 20,000 rows and 1,000 draws. ``az.loo`` of all rows is what the intervals of 100
samples of 1,000 rows should hold. A million rows are scored in a process of their own.

    python -m benchmarks.correctness.loo [--quick] [NAME ...]
"""

from __future__ import annotations

import json
import logging
import tempfile
import time
import warnings

from collections.abc import Callable
from pathlib import Path

import arviz as az
import numpy as np
import pymc as pm

from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.processes import in_a_process
from benchmarks.harness.records import Check, report

BENCHMARK = Benchmark(
    question="Do intervals of the elpd hold what all rows give, and what do they cost?",
    asked=(
        "At least 90 of 100 intervals of 95 per cent hold the elpd of all rows; a million rows and "
        "1,000 draws take 10 seconds of the processor and 300 MB beyond imports."
    ),
    fixed="2026-11-27",
    seeds=(1,),
)

N, REPETITIONS, FEWEST = 20_000, 100, 90
MANY, MOST_SECONDS, MOST_MEGABYTES = 1_000_000, 10.0, 300.0
SLOPES = np.array([0.5, -1.0, 0.0, 2.0, 0.3])


def columns(n: int) -> tuple[np.random.Generator, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng, rng.standard_normal((n, 5))


def normal(n: int = N) -> pm.Model:
    """A regression that is right."""
    rng, x = columns(n)
    with pm.Model() as model:
        intercept, slopes = pm.Normal("intercept", 0, 10), pm.Normal("slopes", 0, 10, shape=5)
        sigma = pm.HalfNormal("sigma", 5.0)
        y = 1.0 + x @ SLOPES + rng.standard_normal(n)
        pm.Normal("y", intercept + x @ slopes, sigma, observed=y)
    return model


def heavy_tails() -> pm.Model:
    """Stores, and outliers that the model does not expect."""
    rng, x = columns(N)
    store = rng.integers(0, 50, N)
    y = 1.0 + x @ SLOPES + rng.standard_normal(50)[store] + rng.standard_t(4, N)
    with pm.Model() as model:
        intercept, slopes = pm.Normal("intercept", 0, 10), pm.Normal("slopes", 0, 10, shape=5)
        width, sigma = pm.HalfNormal("width"), pm.HalfNormal("sigma", 5.0)
        effect = pm.Normal("effect", 0.0, width, shape=50)
        pm.Normal("y", intercept + effect[store] + x @ slopes, sigma, observed=y)
    return model


def counts() -> pm.Model:
    """Counts that vary more than the model says."""
    rng, x = columns(N)
    y = rng.negative_binomial(1, 0.3, N)
    with pm.Model() as model:
        intercept, slopes = pm.Normal("intercept", 0, 10), pm.Normal("slopes", 0, 10, shape=5)
        pm.Poisson("y", pm.math.exp(intercept + x @ slopes), observed=y)
    return model


CASES: dict[str, Callable[[], pm.Model]] = {
    "normal": normal,
    "stores, heavy tails": heavy_tails,
    "counts, overdispersed": counts,
}


def coverage(name: str, n_repetitions: int) -> tuple[int, float, float]:
    """Return how many intervals hold the elpd, their half width, and the error of the elpd."""
    import pymc_geodesic as pmg

    model = CASES[name]()
    idata = pmg.sample(250, model=model, random_seed=1, progressbar=False)
    pm.compute_log_likelihood(idata, model=model, progressbar=False)
    exact, n_held = az.loo(idata), 0
    for seed in range(n_repetitions):
        found = pmg.loo(idata, model, random_seed=seed)
        low, high = found.interval
        n_held += low <= exact.elpd <= high
    return n_held, (high - low) / 2, float(exact.se)


def many() -> None:
    """Score a million rows in this process, and print seconds and megabytes."""
    import pymc_geodesic as pmg

    # Draws of the posterior to rounding; how they were made does not matter to what they cost.
    rng, width = np.random.default_rng(1), MANY**-0.5
    means = {"intercept": np.array(1.0), "slopes": SLOPES, "sigma": np.array(1.0)}
    draws = {n: x + width * rng.standard_normal((4, 250, *x.shape)) for n, x in means.items()}
    model, idata = normal(MANY), az.from_dict({"posterior": draws})
    _ = pmg.loo, az.loo
    before, begun = peak(), time.process_time()
    pmg.loo(idata, model)
    print(json.dumps([time.process_time() - begun, peak() - before]))


def peak() -> float:
    """Return the most megabytes that this process has had."""
    # `ru_maxrss` begins with what the process had that started this one.
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def main() -> None:
    options = parser(__doc__.splitlines()[0])
    options.add_argument("names", nargs="*")
    options.add_argument("--many", action="store_true")
    given = options.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.INFO)
    if given.many:
        return many()
    n = 10 if given.quick else REPETITIONS
    rows, checks = [], []
    for name in given.names or CASES:
        n_held, half, se = coverage(name, n)
        rows.append([name, f"{n_held} of {n}", round(half, 2), round(se, 1)])
        least = FEWEST * n // REPETITIONS
        checks.append(Check(f"{name}: intervals", f"{n_held} of {n}", str(least), n_held >= least))
    with tempfile.TemporaryDirectory() as cache:
        seconds, megabytes = in_a_process("--many", cache=cache)
    checks += [
        Check("1e6 rows: seconds", f"{seconds:.1f}", "10", seconds <= MOST_SECONDS),
        Check("1e6 rows: MB", f"{megabytes:.0f}", "300", megabytes <= MOST_MEGABYTES),
    ]
    header = ["case", "intervals that hold it", "half width", "standard error of future data"]
    table("Elpd of all rows from a sample", header, rows)
    is_short = given.quick or bool(given.names)
    report("loo", checks, about=BENCHMARK, quick=is_short, header=header, rows=rows)


if __name__ == "__main__":
    main()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Effective samples of four models whose chains never ended, or were wrong, in the first version.

Quantile regression, whose density has kinks, and crossed effects, whose posterior has narrow
ridges; ``correctness/models.py`` says whether their posteriors are right. What is asked is what a
sketch of the present tuning had reached. Effective samples are the smallest over means and squares
of all that the model compares. Each run is a process of its own that finds nothing compiled, and
its seconds are those of the processor, all threads together, from the model to its draws.

    python -m benchmarks.speed.first_failures [--quick]
"""

from __future__ import annotations

import json
import logging
import tempfile
import time

from itertools import product
from typing import Any

import numpy as np

import pymc_geodesic as pmg

from benchmarks.correctness.ordinary_models import MODELS
from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.processes import in_a_process
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import flat
from benchmarks.harness.statistics import effective_samples, median_and_range

BENCHMARK = Benchmark(
    question="How fast are models that the first version could not sample?",
    asked=(
        "Quantile regression 70 effective samples per second of the processor, crossed effects "
        "200 x 40 at least 55; crossed effects 3,000 x 500, centred and not, 400 of every "
        "parameter within 60 s; all counted, in every seed."
    ),
    fixed="2026-11-25",
    seeds=(1, 2, 3),
)

# Effective samples per second.
RATES = {"quantile": 70.0, "crossed_small": 55.0}
# Effective samples of every parameter, in so many seconds and draws per chain: a thousand draws
# are more than was asked for.
EFFECTIVE, WITHIN, DRAWS = 400, 60.0, 500
IN_TIME = ("crossed_centered", "crossed_noncentered")
MOST_SECONDS = 300


def measured(name: str, seed: int, *, quick: bool) -> dict[str, float]:
    """Sample a model by default arguments in this process."""
    logging.getLogger("pymc").setLevel(logging.ERROR)
    case, options = MODELS[name], {"draws": DRAWS} if name in IN_TIME else {}
    model = case.model(True)
    cpu, wall = time.process_time(), time.perf_counter()
    if quick:
        options = {"draws": 100, "tune": 100}
    idata = pmg.sample(model=model, random_seed=seed, progressbar=False, **options)
    seconds = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    draws = flat({x: idata.posterior[x].values for x in case.compared}, case.compared)
    return seconds | {"effective": effective_samples(draws)}


def cold(name: str, seed: int, *, quick: bool) -> dict[str, float]:
    """Sample a model in a new process."""
    options = ["--measure", name, "--seed", str(seed), *["--quick"] * quick]
    with tempfile.TemporaryDirectory() as cache:
        found = in_a_process(*options, cache=cache, most_seconds=MOST_SECONDS)
    return found or {"cpu": np.inf, "wall": np.inf, "effective": 0.0}


def checked(name: str, found: list[dict[str, float]]) -> Check:
    """Compare the runs of a model with what was asked, each seed by itself."""
    what = MODELS[name].what
    if name in IN_TIME:
        least, most = min(x["effective"] for x in found), max(x["cpu"] for x in found)
        told = f"at least {least:,.0f} in at most {most:.0f} CPU s"
        asked = f">= {EFFECTIVE} in {WITHIN:.0f} s"
        return Check(what, told, asked, least >= EFFECTIVE and most <= WITHIN)
    rates = [x["effective"] / x["cpu"] for x in found]
    told = f"{median_and_range(rates, '.0f')} per CPU s"
    return Check(what, told, f">= {RATES[name]:.0f}", min(rates) >= RATES[name])


def line(name: str, seed: int, found: dict[str, float]) -> list[Any]:
    """Write a run as a row of the table."""
    figures = f"{found['effective']:,.0f}", f"{found['cpu']:.1f}", f"{found['wall']:.1f}"
    return [MODELS[name].what, str(seed), *figures]


def main() -> None:
    reader = parser(__doc__.splitlines()[0])
    reader.add_argument("--measure", choices=[*RATES, *IN_TIME], help="one, in this process")
    reader.add_argument("--seed", type=int, default=1, help="of what is measured")
    options = reader.parse_args()
    if options.measure:
        print(json.dumps(measured(options.measure, options.seed, quick=options.quick)))
        return
    runs: dict[str, list[dict[str, float]]] = {}
    rows = []
    seeds = BENCHMARK.seeds[:1] if options.quick else BENCHMARK.seeds
    for name, seed in product([*RATES, *IN_TIME], seeds):
        runs.setdefault(name, []).append(cold(name, seed, quick=options.quick))
        rows.append(line(name, seed, runs[name][-1]))
        print(*rows[-1], sep=" | ", flush=True)
    header = ["model", "seed", "effective", "CPU s", "wall s"]
    table("From the model to its draws", header, rows)
    checks = [checked(name, found) for name, found in runs.items()]
    report(
        "first_failures",
        checks,
        about=BENCHMARK,
        quick=options.quick,
        header=header,
        rows=rows,
        runs=runs,
    )


if __name__ == "__main__":
    main()

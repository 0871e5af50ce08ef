#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What corrections cost with a thousand coordinates.

Linear regression with 999 predictors and an unknown noise. What follows the last draw of a run with
defaults, checks with gradients, the correction and the certificate, is timed inside the run. The
worst mean and standard deviation are beside those of least squares.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time

from typing import Any

import numpy as np
import pymc as pm

import pymc_geodesic as pmg

from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.processes import in_a_process
from benchmarks.harness.records import Check, report
from benchmarks.scale.groups import resident
from benchmarks.scale.predictions import forget_peak, peak_since
from pymc_geodesic.runs import results

BENCHMARK = Benchmark(
    question="What do corrections of draws with a thousand coordinates cost?",
    asked="At most a fifth of the processor time of the run, and no memory for the square of the "
    "coordinates at each draw: at most 1 GB.",
    fixed="2026-11-27",
    seeds=(1, 2, 3),
    measures=("refinement", "runs", "tuning", "algorithms"),
)

N, D = 20_000, 1_000
MOST_SHARE, MOST_GIGABYTES = 0.2, 1.0


class Timed:
    """Processor seconds and gigabytes of what follows the last draw."""

    def __init__(self) -> None:
        self.seconds = self.gigabytes = 0.0
        self._checked = results._checked
        results._checked = self

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        before = resident()
        forget_peak()
        began = time.process_time()
        found = self._checked(*arguments, **keywords)
        self.seconds, self.gigabytes = time.process_time() - began, peak_since() - before
        return found


def run(n: int, d: int, seed: int) -> dict[str, float]:
    """Sample, and compare slopes with least squares."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d - 1))
    y = x @ rng.standard_normal(d - 1) + rng.standard_normal(n)
    with pm.Model() as model:
        beta = pm.Normal("beta", 0.0, 10.0, shape=d - 1)
        pm.Normal("y", x @ beta, pm.HalfNormal("sigma", 5.0), observed=y)
    after, began = Timed(), time.process_time()
    idata = pmg.sample(model=model, random_seed=seed, progressbar=False)
    seconds = time.process_time() - began
    gram = x.T @ x
    mean = np.linalg.solve(gram, x.T @ y)
    sd = np.sqrt(np.diag(np.linalg.inv(gram)) * np.sum((y - x @ mean) ** 2) / (n - d + 1))
    draws = idata["posterior"]["beta"].to_numpy().reshape(-1, d - 1)
    return {
        "seconds": seconds,
        "after": after.seconds,
        "gigabytes": after.gigabytes,
        "shift": float(np.abs((draws.mean(axis=0) - mean) / sd).max()),
        "sd": float(np.abs(draws.std(axis=0) / sd - 1).max()),
        "is_corrected": float("raw_posterior" in idata.children),
    }


def main() -> None:
    """Run each seed in a process of its own."""
    reader = parser(__doc__.splitlines()[0])
    reader.add_argument("--task", type=int, metavar="SEED")
    given = reader.parse_args()
    n, d = (5_000, 100) if given.quick else (N, D)
    if given.task:
        print(json.dumps(run(n, d, given.task)))
        return
    found = []
    for seed in BENCHMARK.seeds[:1] if given.quick else BENCHMARK.seeds:
        with tempfile.TemporaryDirectory() as cache:
            options = ["--quick"] * given.quick + ["--task", str(seed)]
            found.append(in_a_process(*options, cache=cache))
        print(seed, found[-1], flush=True, file=sys.stderr)
    share = max(one["after"] / one["seconds"] for one in found)
    more = max(one["gigabytes"] for one in found)
    checks = [
        Check(
            f"share of the run, {d:,} coordinates", f"{share:.2f}", "<= 0.2", share <= MOST_SHARE
        ),
        Check("memory", f"{more:.2f} GB", "<= 1 GB", more <= MOST_GIGABYTES),
    ]
    header = [
        "seed",
        "CPU s",
        "after the last draw",
        "GB",
        "shift, sd",
        "worst sd - 1",
        "corrected",
    ]
    lines = [[seed, *one.values()] for seed, one in zip(BENCHMARK.seeds, found, strict=False)]
    table("Corrections", header, lines)
    quick = given.quick
    report("refined_thousand", checks, about=BENCHMARK, quick=quick, header=header, rows=lines)


if __name__ == "__main__":
    main()

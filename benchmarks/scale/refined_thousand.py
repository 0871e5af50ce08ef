#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What corrections cost with a thousand coordinates.

Linear regression with 999 predictors and an unknown noise. The run with defaults is compared with
the same run without corrections: processor time, the peak of memory, and the worst mean and
standard deviation beside the exact posterior, whose noise hardly depends on the slopes.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time

import numpy as np
import pymc as pm

import pymc_geodesic as pmg

from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.processes import in_a_process
from benchmarks.harness.records import Check, report

BENCHMARK = Benchmark(
    question="What do corrections of draws with a thousand coordinates cost?",
    asked="At most a fifth of the processor time of the run, and no memory for the square of the "
    "coordinates at each draw: at most 1 GB more.",
    fixed="2026-11-27",
    seeds=(1, 2, 3),
    measures=("refinement", "runs", "tuning", "algorithms"),
)

N, D = 50_000, 1_000
MOST_SHARE, MOST_GIGABYTES = 0.2, 1.0


def run(n: int, d: int, seed: int, *, refine: bool) -> dict[str, float]:
    """Sample, and compare slopes with least squares."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d - 1))
    y = x @ rng.standard_normal(d - 1) + rng.standard_normal(n)
    with pm.Model() as model:
        beta = pm.Normal("beta", 0.0, 10.0, shape=d - 1)
        pm.Normal("y", x @ beta, pm.HalfNormal("sigma", 5.0), observed=y)
    began = time.process_time()
    idata = pmg.sample(model=model, random_seed=seed, progressbar=False, refine=refine)
    seconds = time.process_time() - began
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    gram = x.T @ x
    mean = np.linalg.solve(gram, x.T @ y)
    sd = np.sqrt(np.diag(np.linalg.inv(gram)) * np.sum((y - x @ mean) ** 2) / (n - d + 1))
    draws = idata["posterior"]["beta"].to_numpy().reshape(-1, d - 1)
    return {
        "seconds": seconds,
        "gigabytes": gigabytes,
        "shift": float(np.abs((draws.mean(axis=0) - mean) / sd).max()),
        "sd": float(np.abs(draws.std(axis=0) / sd - 1).max()),
        "is_corrected": float("raw_posterior" in idata.children),
    }


def main() -> None:
    """Run both for each seed in processes of their own."""
    reader = parser(__doc__.splitlines()[0])
    reader.add_argument("--task", choices=["corrected", "raw"])
    reader.add_argument("--seed", type=int, default=1)
    given = reader.parse_args()
    n, d = (5_000, 100) if given.quick else (N, D)
    if given.task:
        print(json.dumps(run(n, d, given.seed, refine=given.task == "corrected")))
        return
    lines, shares, more = [], [], []
    for seed in BENCHMARK.seeds[:1] if given.quick else BENCHMARK.seeds:
        both = []
        for task in ("corrected", "raw"):
            with tempfile.TemporaryDirectory() as cache:
                options = ["--quick"] * given.quick + ["--task", task, "--seed", str(seed)]
                both.append(in_a_process(*options, cache=cache))
            lines.append([task, seed, *both[-1].values()])
            print(*lines[-1], flush=True, file=sys.stderr)
        with_it, without = both
        shares.append(1 - without["seconds"] / with_it["seconds"])
        more.append(with_it["gigabytes"] - without["gigabytes"])
    checks = [
        Check(
            f"share of the run, {d:,} coordinates",
            f"{max(shares):.2f}",
            "<= 0.2",
            max(shares) <= MOST_SHARE,
        ),
        Check("more memory", f"{max(more):.2f} GB", "<= 1 GB", max(more) <= MOST_GIGABYTES),
    ]
    header = ["what", "seed", "CPU s", "GB", "largest shift, sd", "worst sd - 1", "corrected"]
    table("Corrections", header, lines)
    report(
        "refined_thousand", checks, about=BENCHMARK, quick=given.quick, header=header, rows=lines
    )


if __name__ == "__main__":
    main()

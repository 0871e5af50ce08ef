#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The value of a million customers: BG/NBD by PyMC-Marketing's own class.

Purchases are simulated as the model has them. The class builds its model, and ``pmg.sample`` is
called with the object. NUTS samples 10,000 of the customers for comparison. Each run is in a
process of its own that finds nothing compiled. It needs the package pymc-marketing.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time

from typing import Any

import numpy as np
import pymc as pm

from pymc_marketing import clv

import pymc_geodesic as pmg

from benchmarks.correctness.foreign_marketing import customers
from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.processes import in_a_process
from benchmarks.harness.records import Check, report

BENCHMARK = Benchmark(
    question="What does the lifetime value of a million customers cost, and is it right?",
    asked="At most 60 s of the processor for a million customers; for 10,000 of them standard "
    "deviations within 5 per cent of those of NUTS, and means within .1 of one.",
    fixed="2026-11-27",
    seeds=(1, 2, 3),
)

N, FEW = 1_000_000, 10_000
MOST_SECONDS, MOST_SPREAD, MOST_SHIFT = 60.0, 0.05, 0.1
# The error of a standard deviation of NUTS is then a hundredth.
NUTS_DRAWS = 2_000


def run(n: int, seed: int, *, exact: bool) -> dict[str, Any]:
    """Fit the customers, and return moments of the logarithms of the parameters."""
    data = customers(n).drop(columns=["x", "monetary_value"])
    began = time.process_time()
    model = clv.BetaGeoModel()
    model.build_model(data)
    if exact:
        with model.model:
            found = pm.sample(
                NUTS_DRAWS, cores=1, nuts_sampler="nutpie", random_seed=seed, progressbar=False
            )
    else:
        found = pmg.sample(model=model, random_seed=seed, progressbar=False)
        assert model.idata is not None
    seconds = time.process_time() - began
    names = [rv.name for rv in model.model.free_RVs]
    draws = {name: np.log(found["posterior"][name].to_numpy()) for name in names}
    return {
        "seconds": seconds,
        "mean": {name: float(x.mean()) for name, x in draws.items()},
        "sd": {name: float(x.std()) for name, x in draws.items()},
        "verdict": found["posterior"].attrs.get("verdict", ""),
    }


def main() -> None:
    """Fit a million customers, and few of them in both ways."""
    reader = parser(__doc__.splitlines()[0])
    reader.add_argument("--task", nargs=3, help="number of customers, seed, and pmg or nuts")
    given = reader.parse_args()
    if given.task:
        n, seed, sampler = given.task
        print(json.dumps(run(int(n), int(seed), exact=sampler == "nuts")))
        return
    many, seeds = (N, BENCHMARK.seeds) if not given.quick else (20_000, BENCHMARK.seeds[:1])
    tasks = [(many, seed, "pmg") for seed in seeds] + [(FEW, seed, "pmg") for seed in seeds]
    found = {}
    for task in [*tasks, (FEW, 1, "nuts")]:
        with tempfile.TemporaryDirectory() as cache:
            found[task] = in_a_process("--task", *map(str, task), cache=cache)
        print(*task, found[task], flush=True, file=sys.stderr)
    nuts = found[FEW, 1, "nuts"]
    few = [found[FEW, seed, "pmg"] for seed in seeds]
    ratios = [one["sd"][name] / sd for one in few for name, sd in nuts["sd"].items()]
    shifts = [
        (one["mean"][name] - nuts["mean"][name]) / sd
        for one in few
        for name, sd in nuts["sd"].items()
    ]
    most = max(found[many, seed, "pmg"]["seconds"] for seed in seeds)
    spread, shift = max(abs(x - 1) for x in ratios), max(map(abs, shifts))
    checks = [
        Check(f"processor, {many:,} customers", f"{most:.1f} s", "<= 60 s", most <= MOST_SECONDS),
        Check(
            f"sds beside NUTS, {FEW:,} customers",
            f"{min(ratios):.3f} to {max(ratios):.3f}",
            "1 +- 0.05",
            spread <= MOST_SPREAD,
        ),
        Check(
            f"largest shift beside NUTS, {FEW:,} customers",
            f"{shift:.3f} sd",
            "<= 0.1 sd",
            shift <= MOST_SHIFT,
        ),
    ]
    header = ["customers", "seed", "sampler", "CPU s", "verdict", "sds of the logarithms"]
    rows = [
        [*task, x["seconds"], x["verdict"], ", ".join(f"{k} {v:.4f}" for k, v in x["sd"].items())]
        for task, x in found.items()
    ]
    table("BG/NBD", header, rows)
    report("customers", checks, about=BENCHMARK, quick=given.quick, header=header, rows=rows)


if __name__ == "__main__":
    main()

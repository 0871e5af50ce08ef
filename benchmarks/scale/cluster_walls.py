#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Wall time of four chains on two workers, over that in one process.

A logistic regression with 40 coefficients and batches of 1,000, sampled long enough that
compilation is a small part; both sides have compiled before. For a quiet machine with two cores.
"""

from __future__ import annotations

import numpy as np
import pymc as pm

from scipy.special import expit

import pymc_geodesic as pmg

from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.scale.cluster import timed, two_workers

BENCHMARK = Benchmark(
    question="How much shorter is a run on two workers than in one process?",
    asked="At most 0.65 of the wall time of one process, with the same draws.",
    fixed="2026-11-22",
    seeds=(1, 2, 3),
)

MOST = 0.65
# Differences of draws: vectorized chains are compiled in blocks of another size.
ALLOWED = {"vectorized": 1e-8, "sequential": 0.0}
HEADER = ["method", "seed", "one process, s", "two workers, s", "ratio", "difference of draws"]


def step_of_model() -> pmg.SGNHT:
    rng, d, n = np.random.default_rng(1), 40, 20_000
    design = rng.normal(size=(n, d))
    outcome = rng.uniform(size=n) < expit(design @ rng.normal(size=d) / np.sqrt(d))
    with pm.Model():
        x, y = pm.Minibatch(design, outcome.astype(float), batch_size=1_000)
        beta = pm.Normal("beta", 0.0, 10.0, shape=d)
        pm.Bernoulli("y", logit_p=x @ beta, observed=y, total_size=n)
        return pmg.SGNHT(step_size=1e-2, diffusion=1.0, n_steps=20)


def compare(method: str, *, draws: int, seeds: tuple[int, ...]) -> list[list]:
    """Time both sides for each seed; both have compiled before."""
    step, lines = step_of_model(), []
    short = {"draws": 20, "tune": 20, "chain_method": method}
    options = {"draws": draws, "tune": 100, "chain_method": method}
    timed(step, **short)
    with two_workers() as client:
        timed(step, client=client, **short)
        for seed in seeds:
            one, seconds = timed(step, seed=seed, **options)
            two, on_workers = timed(step, seed=seed, client=client, **options)
            a, b = (idata.posterior["beta"].values for idata in (one, two))
            difference = float(np.abs(a - b).max())
            lines.append([method, seed, seconds, on_workers, on_workers / seconds, difference])
            print(lines[-1], flush=True)
    return lines


def checked(method: str, lines: list[list]) -> list[Check]:
    """Compare the median ratio and the largest difference with what is asked."""
    ratios, difference = [line[4] for line in lines], max(line[5] for line in lines)
    ratio, allowed = float(np.median(ratios)), ALLOWED[method]
    found = f"{ratio:.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
    return [
        Check(f"wall time, {method}", found, f"<= {MOST}", ratio <= MOST),
        Check(f"draws, {method}", f"{difference:.1e}", f"<= {allowed}", difference <= allowed),
    ]


def main() -> None:
    options = parser(__doc__.splitlines()[0])
    options.add_argument("--draws", type=int, default=4_000)
    given = options.parse_args()
    draws, seeds = (200, BENCHMARK.seeds[:1]) if given.quick else (given.draws, BENCHMARK.seeds)
    lines, checks = [], []
    for method in ALLOWED:
        found = compare(method, draws=draws, seeds=seeds)
        lines, checks = lines + found, checks + checked(method, found)
    table(f"4 chains, {draws} draws of 20 transitions", HEADER, lines)
    report("cluster_walls", checks, about=BENCHMARK, quick=given.quick, header=HEADER, rows=lines)


if __name__ == "__main__":
    main()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Rows of Parquet in files sorted by the response, on a cluster of two workers.

A logistic regression with 20 coefficients on 64 partitions, on two workers and in one process; its
posterior beside the Laplace approximation, peak memory of each worker, and the parts of the cost
model: seconds of a pass, of a pool, of a transition.
"""

from __future__ import annotations

import os
import tempfile
import time

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pymc as pm

from distributed import Client, LocalCluster
from scipy.special import expit

import pymc_geodesic as pmg

from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report

BENCHMARK = Benchmark(
    question=(
        "Do two workers sample rows that are sorted by the response rightly, and in which memory?"
    ),
    asked="1e7 rows within 0.1 sd and 5 per cent of Laplace in less than 1 GB per worker.",
    fixed="2026-11-22",
    seeds=(1, 2, 3),
)

N_COEFFICIENTS, BATCH, N_PARTITIONS = 20, 300, 64
CHAINS, DRAWS, TUNE = 4, 2_000, 1_000
HEADER = ["N", "seed", "GB on disk", "pass, s", "pool, s", "two workers, s", "one process, s"]
HEADER += ["GB of a worker", "bias (sd)", "smallest sd", "largest sd"]
NAMES = [f"x{i}" for i in range(N_COEFFICIENTS)] + ["y"]


@contextmanager
def two_workers() -> Iterator[Client]:
    """Start two processes with one thread each."""
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def timed(step, *, draws: int, tune: int, seed: int = 1, client: Client | None = None, **options):
    """Sample; return the draws, and seconds of the clock."""
    began = time.perf_counter()
    idata = pmg.sample(
        draws,
        tune=tune,
        chains=CHAINS,
        step=step,
        random_seed=seed,
        client=client,
        progressbar=False,
        compute_convergence_checks=False,
        **options,
    )
    return idata, time.perf_counter() - began


def write_sorted(folder: str, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Write partitions sorted by the response; return mode and standard deviations.

    The outcomes are written first, so that no more than a partition is in memory.
    """
    weights = 1.5 * np.random.default_rng(0).standard_normal(N_COEFFICIENTS)
    weights /= np.sqrt(N_COEFFICIENTS)
    rng, size = np.random.default_rng(1), n_rows // N_PARTITIONS
    waiting: dict[bool, list[np.ndarray]] = {False: [], True: []}
    written = 0

    def write(y: bool, rows: np.ndarray) -> None:
        nonlocal written
        columns = {name: rows[:, j] for j, name in enumerate(NAMES[:-1])}
        columns["y"] = np.full(len(rows), float(y))
        path = f"{folder}/{int(y)}-{written:04}.parquet"
        pq.write_table(pa.table(columns), path, row_group_size=50_000, compression="none")
        written += 1

    left = n_rows
    while left:
        x = rng.standard_normal((min(size, left), N_COEFFICIENTS))
        outcome = rng.uniform(size=len(x)) < expit(x @ weights)
        left -= len(x)
        for y, found in waiting.items():
            found.append(x[outcome == y])
            if sum(map(len, found)) >= size or not left:
                write(y, np.concatenate(found))
                found.clear()
    return laplace(folder)


def laplace(folder: str) -> tuple[np.ndarray, np.ndarray]:
    """Mode by Newton's method, and standard deviations from the curvature there."""
    rows = pmg.ParquetRows(folder, columns=NAMES)
    near = rows.sample(np.random.default_rng(1), min(200_000, rows.n_rows))
    beta = np.zeros(N_COEFFICIENTS)
    for blocks in [[near]] * 8 + [rows] * 2:
        gradient, precision, n = -beta / 100, np.eye(N_COEFFICIENTS) / 100, 0
        for block in blocks:
            x, y = block[:, :-1], block[:, -1]
            p = expit(x @ beta)
            gradient = gradient + x.T @ (y - p)
            precision = precision + (x * (p * (1 - p))[:, None]).T @ x
            n += len(block)
        beta = beta + np.linalg.solve(precision, gradient)
    return beta, np.sqrt(np.diag(np.linalg.inv(precision)))


def model_of(n_rows: int) -> pm.Model:
    with pm.Model() as model:
        batch = pm.Data("batch", np.zeros((BATCH, N_COEFFICIENTS + 1)))
        beta = pm.Normal("beta", 0.0, 10.0, shape=N_COEFFICIENTS)
        logit = batch[:, :N_COEFFICIENTS] @ beta
        pm.Bernoulli("y", logit_p=logit, observed=batch[:, -1], total_size=n_rows)
    return model


def peak_memory() -> float:
    """GB that this process has held at most.

    Of Linux's own record: that of `getrusage` begins with what the process held that started this.
    """
    [line] = [x for x in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in x]
    return int(line.split()[1]) / 1e6


def parts_of_the_cost(rows: pmg.ParquetRows) -> list[float]:
    """Measure a pass over the rows, and a pool, in seconds."""
    began = time.perf_counter()
    for block in rows:
        block.sum()
    one_pass = time.perf_counter() - began
    began = time.perf_counter()
    rows.sample(np.random.default_rng(1), min(2**26 // (8 * len(NAMES)), rows.n_rows))
    return [one_pass, time.perf_counter() - began]


class Found(NamedTuple):
    """What a run came to: of its coefficients, of its memory in GB, and seconds of the clock.

    Without a run in one process its seconds and the difference of its draws are not numbers.
    """

    bias: float
    least_sd: float
    largest_sd: float
    memory: float
    seconds: float
    seconds_alone: float
    difference: float


def sampled(
    step: Any, truth: tuple[np.ndarray, np.ndarray], *, seed: int, quick: bool, alone: bool
) -> Found:
    """Sample on two workers, and in this process too."""
    draws, tune = (200, 200) if quick else (DRAWS, TUNE)
    with two_workers() as client:
        found, seconds = timed(step, draws=draws, tune=tune, seed=seed, client=client)
        memory = max(client.run(peak_memory).values())
    mean, sd = truth
    beta = found.posterior["beta"].values
    ratios = beta.std((0, 1)) / sd
    bias = float(np.max(np.abs(beta.mean((0, 1)) - mean) / sd))
    seconds_alone = difference = float("nan")
    if alone:
        other, seconds_alone = timed(step, draws=draws, tune=tune, seed=seed)
        difference = float(np.abs(beta - other.posterior["beta"].values).max() / sd.min())
    spread = float(ratios.min()), float(ratios.max())
    return Found(bias, *spread, memory, seconds, seconds_alone, difference)


def sorted_rows(n_rows: int, *, quick: bool, alone: bool) -> tuple[list[list], list[Found]]:
    """Sample Parquet sorted by the response, for each seed."""
    lines, runs = [], []
    with tempfile.TemporaryDirectory() as folder:
        truth = write_sorted(folder, n_rows)
        size = sum(file.stat().st_size for file in os.scandir(folder)) / 1e9
        rows = pmg.ParquetRows(folder, columns=NAMES)
        costs = parts_of_the_cost(rows)
        with model_of(n_rows):
            step = pmg.SGNHT(data={"batch": rows})
        for seed in BENCHMARK.seeds[:1] if quick else BENCHMARK.seeds:
            run = sampled(step, truth, seed=seed, quick=quick, alone=alone)
            runs.append(run)
            moments = [run.memory, run.bias, run.least_sd, run.largest_sd]
            lines.append(
                [f"{n_rows:.0e}", seed, size, *costs, run.seconds, run.seconds_alone, *moments]
            )
            print(lines[-1], run.difference, flush=True)
    return lines, runs


def checked(n: str, runs: list[Found]) -> list[Check]:
    """Compare the worst of all seeds with what is asked."""
    bias, memory = max(run.bias for run in runs), max(run.memory for run in runs)
    low, high = min(run.least_sd for run in runs), max(run.largest_sd for run in runs)
    checks = [
        Check(f"bias, {n}", f"{bias:.3f}", "<= 0.1 sd", bias <= 0.1),
        Check(
            f"sd ratios, {n}", f"{low:.3f} to {high:.3f}", "1 +- .05", low >= 0.95 and high <= 1.05
        ),
        Check(f"memory of a worker, {n}", f"{memory:.2f}", "< 1 GB", memory < 1.0),
    ]
    differences = [run.difference for run in runs]
    if np.isfinite(differences).all():
        most = max(differences)
        checks.append(Check(f"other draws, {n}", f"{most:.1e}", "<= 1e-5 sd", most <= 1e-5))
    return checks


def main() -> None:
    options = parser(__doc__.splitlines()[0])
    options.add_argument("--sizes", type=float, nargs="*", default=[1e6, 1e7])
    options.add_argument("--no-alone", action="store_true", help="not in one process too")
    given = options.parse_args()
    checks, lines = [], []
    for size in [2e5] if given.quick else given.sizes:
        found, runs = sorted_rows(int(size), quick=given.quick, alone=not given.no_alone)
        lines, checks = lines + found, checks + checked(f"N = {size:.0e}", runs)
    table("Parquet in 64 partitions, sorted by the response", HEADER, lines)
    report("cluster", checks, about=BENCHMARK, quick=given.quick, header=HEADER, rows=lines)


if __name__ == "__main__":
    main()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Seconds per effective sample from a thousand rows to ten million, which are read from Parquet.

Logistic regression with 20 coefficients: NUTS on all rows, and SGNHT that tunes itself with plain
minibatch gradients and with control variates. Every measurement has a process of its own, one
chain, and its peak memory taken. Seconds are the processor's. "Fixed" ones are those before the
first draw that is kept: the search of the center and tuning. Compilation, which a cache may spare,
is apart. The truth is the Laplace approximation or, up to ten thousand rows, a long run of NUTS.
Figures are medians of seeds; errors are those of the worst.

    python -m benchmarks.scale.scaling [--quick] [ROWS ...]
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time

from typing import Any

import numpy as np
import nutpie
import pyarrow as pa
import pyarrow.parquet as pq
import pymc as pm

import pymc_geodesic as pmg

from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark, this_command
from benchmarks.harness.parts import part_of
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import SamplingClock
from benchmarks.harness.statistics import effective_samples, median_and_range
from benchmarks.scale.logistic import (
    BATCH_SIZE,
    N_COEFFICIENTS,
    SMALLEST_LAPLACE,
    accuracy,
    laplace,
    parts,
    regression,
    resident,
)
from benchmarks.scale.scaling_plot import LABELS, plot

BENCHMARK = Benchmark(
    question="What does an effective sample cost, from a thousand rows to ten million?",
    asked=(
        "Memory below 1.5 GB at 1e7 rows; with control variates bias at most 0.15 sd and sd within"
        " 15 per cent at all N, and a cost at 1e6 of at most 3 times that at 1e3."
    ),
    fixed="2026-11-21",
    seeds=(1, 2, 3),
)

SIZES = (10**3, 10**4, 10**5, 10**6, 10**7)
# Beyond this NUTS would pass over the data for the better part of an hour, and hold them in memory;
# plain gradients would need as many passes for few effective samples.
LARGEST = {"nuts": 1_000_000, "plain": 1_000_000}
NAMES = [f"x{i}" for i in range(N_COEFFICIENTS)] + ["y"]
HEADER = ["N", "method", "s per effective sample", "effective", "fixed s", "compiling s"]
HEADER += ["bias (sd)", "smallest sd", "largest sd", "peak memory, GB"]


def write_parquet(folder: str, n_rows: int) -> None:
    """Write the data to a folder of Parquet files."""
    for i, part in enumerate(parts(n_rows)):
        columns = {name: part[:, j] for j, name in enumerate(NAMES)}
        pq.write_table(
            pa.table(columns), f"{folder}/{i:03}.parquet", row_group_size=50_000, compression="none"
        )


def truth_of(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviations of the posterior."""
    if n_rows >= SMALLEST_LAPLACE:
        return laplace(n_rows)
    result = in_new_process("nuts", n_rows, "", draws=2_500, seed=100)
    return np.array(result["mean"]), np.array(result["sd"])


def minibatch_model(n_rows: int, folder: str) -> tuple[pm.Model, dict[str, Any]]:
    """Write the model for minibatches of rows in memory or, with a folder, of Parquet files."""
    if not folder:
        x, y = pm.Minibatch(*resident(n_rows), batch_size=BATCH_SIZE)
        return regression(x, y, total_size=n_rows), {}
    rows = pmg.ParquetRows(folder, columns=NAMES)
    with pm.Model() as model:
        batch = pm.Data("batch", np.zeros((BATCH_SIZE, N_COEFFICIENTS + 1)))
        beta = pm.Normal("beta", 0.0, 10.0, shape=N_COEFFICIENTS)
        logit, outcome = batch[:, :-1] @ beta, batch[:, -1]
        pm.Bernoulli("y", logit_p=logit, observed=outcome, total_size=rows.n_rows)
    return model, {"data": {"batch": rows}}


def summary(draws: np.ndarray, compiling: float, fixed: float, sampling: float) -> dict[str, Any]:
    """Summarise draws ``(chain, draw, coefficient)``; the least of the effective sizes counts."""
    effective = effective_samples(draws)
    return {
        "mean": draws.mean(axis=(0, 1)).tolist(),
        "sd": draws.std(axis=(0, 1)).tolist(),
        "effective": effective,
        "compiling": compiling,
        "fixed": fixed,
        "seconds_per_effective": sampling / effective,
    }


def self_tuned(
    n_rows: int, folder: str, *, draws: int, seed: int, variance_reduction: str | None
) -> dict[str, Any]:
    """Sample with a step that tunes itself."""
    model, data = minibatch_model(n_rows, folder)
    start = time.process_time()
    with model:
        step = pmg.SGNHT(variance_reduction=variance_reduction, **data)
        compiling = time.process_time() - start
        start, clock = time.process_time(), SamplingClock()
        idata = pm.sample(
            draws,
            tune=min(draws // 2, 1_000),
            step=step,
            chains=1,
            cores=1,
            random_seed=seed,
            progressbar=False,
            compute_convergence_checks=False,
            callback=clock,
        )
    total = time.process_time() - start
    posterior = np.asarray(idata.posterior["beta"])
    return summary(posterior, compiling, total - clock.seconds, clock.seconds)


def nuts(n_rows: int, *, draws: int, seed: int) -> dict[str, Any]:
    """Sample all rows with nutpie."""
    model = regression(*resident(n_rows))
    start = time.process_time()
    compiled = nutpie.compile_pymc_model(model)
    compiling = time.process_time() - start
    idata = nutpie.sample(
        compiled,
        draws=draws,
        tune=draws if draws > 100 else 2 * draws,
        chains=1,
        seed=seed,
        progress_bar=False,
    )
    sampling = time.process_time() - start - compiling
    # A draw's time is that of its gradients, so that the two phases have shares of the time.
    kept = float(np.sum(idata.sample_stats["n_steps"]))
    share = kept / (kept + float(np.sum(idata.warmup_sample_stats["n_steps"])))
    posterior = np.asarray(idata.posterior["beta"])
    return summary(posterior, compiling, (1 - share) * sampling, share * sampling)


def in_new_process(what: str, n_rows: int, folder: str, *, draws: int, seed: int) -> dict[str, Any]:
    """Run one measurement in a process of its own."""
    command = this_command("--measure", what, str(n_rows), folder, str(draws), str(seed))
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def measure(what: str, n_rows: int, folder: str, draws: int, seed: int) -> None:
    """Be that process."""
    if what == "nuts":
        result = nuts(n_rows, draws=draws, seed=seed)
    else:
        reduction = "auto" if what == "controlled" else None
        result = self_tuned(n_rows, folder, draws=draws, seed=seed, variance_reduction=reduction)
    # Not less than what the parent process held: a bound where that is more.
    result["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(json.dumps(result))


def draws_of(what: str, n_rows: int, *, quick: bool) -> int:
    """Say how many draws to make: fewer where a run would be too long."""
    if quick:
        return 100
    if what == "nuts":
        return 1_000 if n_rows <= 10_000 else 200 if n_rows <= 100_000 else 40
    return 2_000 if what == "controlled" or n_rows <= 10_000 else 1_000


def of_size(n_rows: int, *, streamed: bool, quick: bool) -> dict[str, list[dict[str, Any]]]:
    """Measure every method that is shown for a number of rows, with each seed."""
    found: dict[str, list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        if streamed:
            write_parquet(temporary, n_rows)
        truth = truth_of(n_rows)
        for what in LABELS:
            if n_rows > LARGEST.get(what, n_rows):
                continue
            found[what] = []
            for seed in BENCHMARK.seeds[:1] if quick else BENCHMARK.seeds:
                draws, folder = draws_of(what, n_rows, quick=quick), temporary * streamed
                result = in_new_process(what, n_rows, folder, draws=draws, seed=seed)
                result["errors"] = accuracy(result.pop("mean"), result.pop("sd"), truth)
                found[what].append(result)
                print(n_rows, what, result, flush=True)
    return found


def row_of(n_rows: int, what: str, runs: list[dict[str, Any]]) -> list[Any]:
    """Write a row of the table: medians with ranges, and the errors of the worst seed."""
    typical = [
        median_and_range([run[name] for run in runs], form)
        for name, form in (("seconds_per_effective", ".2g"), ("effective", ",.0f"))
    ]
    typical += [
        median_and_range([run[name] for run in runs], ".1f") for name in ("fixed", "compiling")
    ]
    memory = f"{max(run['memory'] for run in runs):.2f}"
    return [f"1e{round(np.log10(n_rows))}", LABELS[what], *typical, *worst_of(runs), memory]


def worst_of(runs: list[dict[str, Any]]) -> list[str]:
    """Return the largest bias, and the smallest and largest ratio of deviations."""
    biases, low, high = zip(*(run["errors"] for run in runs), strict=True)
    return [f"{x:.3f}" for x in (max(biases), min(low), max(high))]


def main() -> None:
    if "--measure" in sys.argv:
        what, n_rows, folder, *numbers = sys.argv[sys.argv.index("--measure") + 1 :]
        measure(what, int(n_rows), folder, *map(int, numbers))
        return
    reader = parser(__doc__.splitlines()[0])
    reader.add_argument("rows", nargs="*", type=int, help="the only numbers of rows to measure now")
    options = reader.parse_args()
    sizes = (1_000, 100_000) if options.quick else SIZES
    results = {}
    for n_rows in sizes:
        part = part_of(
            "scaling",
            str(n_rows),
            lambda n=n_rows: of_size(n, streamed=n == sizes[-1], quick=options.quick),
            now=not options.rows or n_rows in options.rows,
            quick=options.quick,
        )
        if part is not None:
            results[n_rows] = part
    rows = [
        row_of(n_rows, what, runs) for n_rows, of in results.items() for what, runs in of.items()
    ]
    table(f"Logistic regression, d = {N_COEFFICIENTS}", HEADER, rows)
    if not options.quick:
        plot(HEADER, rows)
    report(
        "scaling",
        checks_of({n_rows: of["controlled"] for n_rows, of in results.items()}),
        about=BENCHMARK,
        quick=options.quick,
        header=HEADER,
        rows=rows,
        runs=results,
    )


def checks_of(controlled: dict[int, list[dict[str, Any]]]) -> list[Check]:
    """Compare with what was asked."""
    checks = []
    for n_rows in SIZES:
        what = f"bias, sd ratios, N = {n_rows:.0e}"
        if n_rows not in controlled:
            checks.append(Check(what, "", "0.15, 1 +- .15", None))
            continue
        bias, low, high = worst_of(controlled[n_rows])
        right = float(bias) <= 0.15 and float(low) >= 0.85 and float(high) <= 1.15
        checks.append(Check(what, f"{bias}, {low} to {high}", "0.15, 1 +- .15", right))
    if 10**7 in controlled:
        memory = max(run["memory"] for run in controlled[10**7])
        checks.append(Check("memory from Parquet, GB", f"{memory:.2f}", "< 1.5", memory < 1.5))
    if {10**3, 10**6} <= set(controlled):
        few, many = (
            [run["seconds_per_effective"] for run in controlled[n]] for n in (10**3, 10**6)
        )
        growth = float(np.median(many) / np.median(few))
        checks.append(Check("cost of N = 1e6 over 1e3", f"{growth:.2f}", "<= 3", growth <= 3))
    return checks


if __name__ == "__main__":
    main()

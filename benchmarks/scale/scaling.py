#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Seconds per effective sample from a thousand rows to ten million, which are read from Parquet.

Logistic regression with 20 coefficients: NUTS on all rows, mean-field ADVI, and SGNHT that tunes
itself with plain minibatch gradients and with control variates. Every measurement has a process of
its own, one chain, and its peak memory taken. Seconds are the processor's. "Fixed" ones are those
before the first draw that is kept: the search of the center and tuning. Compilation, which a cache
may spare, is apart. The truth is the Laplace approximation or, up to ten thousand rows, a long run
of NUTS.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time

from collections.abc import Iterator
from itertools import chain, repeat

import numpy as np
import nutpie
import pyarrow as pa
import pyarrow.parquet as pq
import pymc as pm

from pymc_extras.variational.dataloader import DataLoader, parquet_source

import pymc_geodesic as pmg

from benchmarks.harness.console import table
from benchmarks.harness.declared import Benchmark, this_command
from benchmarks.harness.records import PARTS, Check, keep, report
from benchmarks.harness.sampling import SamplingClock
from benchmarks.harness.statistics import effective_samples
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
    seeds=(1,),
    measures=("tuning", "algorithms", "kernel", "potential", "parquet"),
)

# Beyond this NUTS would pass over the data for the better part of an hour, and hold them in memory;
# plain gradients would need as many passes for few effective samples.
LARGEST = {"nuts": 1_000_000, "plain": 1_000_000}
# What was measured before; delete the file to measure anew.
KEPT = PARTS / "scaling_runs.json"
ADVI_STEPS, ADVI_EVERY = 60_000, 1_000


def write_parquet(folder: str, n_rows: int) -> None:
    """Write the data to a folder of Parquet files."""
    names = [f"x{i}" for i in range(N_COEFFICIENTS)] + ["y"]
    for i, part in enumerate(parts(n_rows)):
        columns = {name: part[:, j] for j, name in enumerate(names)}
        pq.write_table(
            pa.table(columns), f"{folder}/{i:03}.parquet", row_group_size=50_000, compression="none"
        )


def truth_of(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviations of the posterior."""
    if n_rows >= SMALLEST_LAPLACE:
        return laplace(n_rows)
    result = in_new_process("nuts", n_rows, "", 2_500)
    return np.array(result["mean"]), np.array(result["sd"])


def minibatch_model(n_rows: int, folder: str) -> tuple[pm.Model, DataLoader | None]:
    """Write the model for minibatches of rows in memory or, with a folder, of a stream."""
    if not folder:
        x, y = pm.Minibatch(*resident(n_rows), batch_size=BATCH_SIZE)
        return regression(x, y, total_size=n_rows), None
    loader = DataLoader(parquet_source(folder), batch_size=BATCH_SIZE)
    with pm.Model() as model:
        batch = pm.Data("batch", np.zeros((BATCH_SIZE, N_COEFFICIENTS + 1)))
        beta = pm.Normal("beta", 0.0, 10.0, shape=N_COEFFICIENTS)
        logit, outcome = batch[:, :-1] @ beta, batch[:, -1]
        pm.Bernoulli("y", logit_p=logit, observed=outcome, total_size=loader.total_size)
    return model, loader


def summary(draws: np.ndarray, compiling: float, fixed: float, sampling: float) -> dict:
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


def self_tuned(n_rows: int, folder: str, draws: int, variance_reduction: str | None) -> dict:
    """Sample with a step that tunes itself."""
    model, loader = minibatch_model(n_rows, folder)
    start = time.process_time()
    with model:
        data = {} if loader is None else {"data": {"batch": loader}}
        step = pmg.SGNHT(variance_reduction=variance_reduction, backend="jax", **data)
        compiling = time.process_time() - start
        start, clock = time.process_time(), SamplingClock()
        idata = pm.sample(
            draws,
            tune=min(draws // 2, 1_000),
            step=step,
            chains=1,
            cores=1,
            random_seed=1,
            progressbar=False,
            compute_convergence_checks=False,
            callback=clock,
        )
    total = time.process_time() - start
    posterior = np.asarray(idata.posterior["beta"])
    return summary(posterior, compiling, total - clock.seconds, clock.seconds)


def nuts(n_rows: int, _folder: str, draws: int) -> dict:
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
        seed=1,
        progress_bar=False,
    )
    sampling = time.process_time() - start - compiling
    # A draw's time is that of its gradients, so that the two phases have shares of the time.
    kept = float(np.sum(idata.sample_stats["n_steps"]))
    share = kept / (kept + float(np.sum(idata.warmup_sample_stats["n_steps"])))
    posterior = np.asarray(idata.posterior["beta"])
    return summary(posterior, compiling, (1 - share) * sampling, share * sampling)


def advi(n_rows: int, folder: str, n_steps: int) -> dict:
    """Fit a mean-field approximation, and note its parameters on the way."""
    model, loader = minibatch_model(n_rows, folder)
    # One pass after another, cut into batches.
    batches = chain.from_iterable(_batches(loader) for _ in repeat(None)) if loader else None
    path, start = [], time.process_time()

    def note(approximation, _losses, i):
        if batches is not None:
            model.set_data("batch", next(batches))
        if i == 1 or i % ADVI_EVERY == 0:
            values = {k: v.get_value() for k, v in approximation.groups[0].params_dict.items()}
            sd = np.log1p(np.exp(values["rho"]))
            path.append([time.process_time() - start, values["mu"].tolist(), sd.tolist()])

    with model:
        if batches is not None:
            model.set_data("batch", next(batches))
        pm.fit(n_steps, method="advi", callbacks=[note], progressbar=False, random_seed=1)
    return {"path": path}


def _batches(loader: DataLoader) -> Iterator[np.ndarray]:
    for block in loader:
        for start in range(0, len(block) - BATCH_SIZE + 1, BATCH_SIZE):
            yield block[start : start + BATCH_SIZE]


MEASUREMENTS = {
    "nuts": nuts,
    "advi": advi,
    "plain": lambda n, folder, draws: self_tuned(n, folder, draws, None),
    "controlled": lambda n, folder, draws: self_tuned(n, folder, draws, "auto"),
}


def in_new_process(what: str, n_rows: int, folder: str, size: int) -> dict:
    """Run one measurement in a process of its own."""
    command = this_command("--only", what, str(n_rows), folder, str(size))
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def measure(what: str, n_rows: int, folder: str, size: int) -> None:
    """Be that process."""
    result = MEASUREMENTS[what](n_rows, folder, size)
    # Not less than what the parent process held: a bound where that is more.
    result["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(json.dumps(result))


def judged(what: str, result: dict, truth: tuple[np.ndarray, np.ndarray]) -> dict:
    """Add the errors to what a process found; of ADVI, tell when it had converged, and to what."""
    if what != "advi":
        return result | {"errors": accuracy(result["mean"], result["sd"], truth)}
    path = [(seconds, accuracy(mean, sd, truth)) for seconds, mean, sd in result["path"]]
    biases = np.array([errors[0] for _, errors in path])
    widths = np.array([np.max(np.abs(np.log(errors[1:]))) for _, errors in path])
    half = len(path) // 2
    last = np.median([errors for _, errors in path[half:]], axis=0)
    # Converged: when nothing is further off than half as much again as in the second half.
    settled = (biases < 1.5 * np.median(biases[half:])) & (widths < 1.5 * np.median(widths[half:]))
    compiling = path[0][0]
    fixed = path[int(np.argmax(settled))][0] - compiling
    return {
        "errors": last.tolist(),
        "compiling": compiling,
        "fixed": fixed,
        "all_steps": path[-1][0] - compiling,
        "seconds_per_effective": float("nan"),
        "effective": float("nan"),
        "memory": result["memory"],
    }


def sizes_of(what: str, n_rows: int, *, quick: bool) -> int:
    """Draws, or optimisation steps: fewer where a run would be too long."""
    if what == "advi":
        return 3_000 if quick else ADVI_STEPS
    if quick:
        return 100
    if what == "nuts":
        return 1_000 if n_rows <= 10_000 else 200 if n_rows <= 100_000 else 40
    return 2_000 if what == "controlled" or n_rows <= 10_000 else 1_000


def wanted_of(n_rows: int, kept: dict[str, dict] | None, *, quick: bool) -> list[str]:
    """List the methods to show for a number of rows; if ``kept``, only those that are there."""
    wanted = [what for what in LABELS if quick or n_rows <= LARGEST.get(what, n_rows)]
    return [what for what in wanted if kept is None or f"{what} {n_rows}" in kept]


def measure_size(
    n_rows: int, wanted: list[str], kept: dict[str, dict], *, streamed: bool, quick: bool
) -> dict[str, dict]:
    """Measure what has not been measured before for one number of rows; by method."""
    missing = [what for what in wanted if f"{what} {n_rows}" not in kept]
    with tempfile.TemporaryDirectory() as temporary:
        folder = temporary if streamed else ""
        if missing and folder:
            write_parquet(folder, n_rows)
        truth = truth_of(n_rows) if missing else None
        for what in missing:
            size = sizes_of(what, n_rows, quick=quick)
            result = judged(what, in_new_process(what, n_rows, folder, size), truth)
            kept[f"{what} {n_rows}"] = result
            if not quick:
                keep(KEPT, kept)
            print(n_rows, what, result["seconds_per_effective"], result["errors"], flush=True)
    return {what: kept[f"{what} {n_rows}"] for what in wanted}


def main() -> None:
    if "--only" in sys.argv:
        what, n_rows, folder, size = sys.argv[sys.argv.index("--only") + 1 :]
        measure(what, int(n_rows), folder, int(size))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few draws, to see that it runs")
    parser.add_argument("--kept", action="store_true", help="table and plot of what is measured")
    options = parser.parse_args()
    quick = options.quick
    all_sizes = [1_000, 20_000] if quick else [10**3, 10**4, 10**5, 10**6, 10**7]
    kept = json.loads(KEPT.read_text()) if KEPT.exists() and not quick else {}
    results: dict[str, dict[int, dict]] = {what: {} for what in LABELS}
    rows = []
    for n_rows in all_sizes:
        streamed = n_rows == all_sizes[-1]
        wanted = wanted_of(n_rows, kept if options.kept else None, quick=quick)
        for what, found in measure_size(
            n_rows, wanted, kept, streamed=streamed, quick=quick
        ).items():
            results[what][n_rows] = found
            rows.append([f"{n_rows:.0e}", LABELS[what], found["compiling"], found["fixed"]])
            rows[-1] += [found["effective"], found["seconds_per_effective"]]
            rows[-1] += [*found["errors"], found["memory"]]
    header = ["N", "method", "compiling s", "fixed s", "effective", "s per effective", "bias (sd)"]
    header += ["smallest sd", "largest sd", "memory, GB"]
    table(f"Logistic regression, d = {N_COEFFICIENTS}", header, rows)
    if not quick:
        plot(header, rows)
    report(
        "scaling",
        checks_of(results),
        about=BENCHMARK,
        quick=quick,
        header=header,
        rows=rows,
        results=results,
    )


def checks_of(results: dict[str, dict[int, dict]]) -> list[Check]:
    """Compare with what was asked."""
    controlled = results["controlled"]
    largest, million = max(controlled), min(10**6, max(controlled))
    memory = controlled[largest]["memory"]
    checks = [Check("memory from Parquet, GB", f"{memory:.2f}", "< 1.5", memory < 1.5)]
    for n_rows, result in controlled.items():
        bias, low, high = result["errors"]
        text = f"{bias:.3f}, {low:.3f} to {high:.3f}"
        right = bias <= 0.15 and low >= 0.85 and high <= 1.15
        checks.append(Check(f"bias, sd ratios, N = {n_rows:.0e}", text, "0.15, 1 +- .15", right))
    growth = (
        controlled[million]["seconds_per_effective"]
        / controlled[min(controlled)]["seconds_per_effective"]
    )
    checks.append(Check("cost of N = 1e6 over 1e3", f"{growth:.2f}", "<= 3", growth <= 3))
    return checks


if __name__ == "__main__":
    main()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Predictions of a million rows at a thousand draws: cost, memory, and the whole matrix.

Logistic regression with 20 predictors. Mean and 90 per cent interval of each row are compared with
those of the matrix of rows and draws, for 20,000 random rows. Each task runs in a process of its
own. Memory is the peak of the call beyond what the process has after its imports, with the data,
which are there twice: as an array or a table, and as the data of the model.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time

from contextlib import chdir
from pathlib import Path

import numpy as np
import pandas as pd

# As the other packages, before the memory is read.
import pyarrow.parquet  # noqa: F401
import pymc as pm
import xarray as xr

import pymc_geodesic as pmg

from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.processes import in_a_process
from benchmarks.harness.records import Check, report
from benchmarks.scale.groups import resident

BENCHMARK = Benchmark(
    question="What do the mean and interval of each of a million rows cost?",
    asked="At most 15 s of the processor and 500 MB for a million rows and 1,000 draws; means "
    "equal to those of the matrix to 1e-6, quantiles to 1 per cent of the interval's width.",
    fixed="2026-11-27",
    seeds=(1, 2, 3),
)

N, K, S, N_COMPARED = 1_000_000, 20, 1_000, 20_000
TASKS = {
    "mean and interval": {},
    "the same of a table of new rows": {},
    "the same to a Parquet file": {"out": "found.parquet"},
    "mean and interval of responses": {"kind": "response"},
}
MOST_SECONDS, MOST_MEGABYTES, MOST_ERROR, MOST_SHARE = 15.0, 500.0, 1e-6, 0.01
NAMES = [f"x{i}" for i in range(K)]


def model_of(x: np.ndarray, y: np.ndarray) -> pm.Model:
    """Write the model."""
    with pm.Model(coords={"feature": NAMES}) as model:
        data = pm.Data("x", x, dims=("row", "feature"))
        intercept = pm.Normal("intercept", 0.0, 2.0)
        slopes = pm.Normal("slopes", 0.0, 2.0, dims="feature")
        pm.Bernoulli("y", logit_p=intercept + data @ slopes, observed=y, dims="row")
    return model


def forget_peak() -> None:
    """Let the kernel forget the peak of the memory of this process."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak_since() -> float:
    """Peak of the memory of this process since then, in gigabytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    [line] = [line for line in lines if line.startswith("VmHWM")]
    return int(line.split()[1]) / 2**20


def run_task(task: str, seed: int, n: int) -> dict[str, float]:
    """Predict, and compare some rows with the matrix."""
    rng, predict = np.random.default_rng(seed), pmg.predict  # imported before the memory is read
    before = resident()
    x, y = rng.standard_normal((n, K)), rng.integers(0, 2, n).astype("int8")
    draws = {
        "intercept": (("chain", "draw"), rng.normal(0.3, 0.1, (4, S // 4))),
        "slopes": (("chain", "draw", "feature"), rng.normal(0.5, 0.1, (4, S // 4, K))),
    }
    idata = xr.DataTree.from_dict({"posterior": xr.Dataset(draws)})
    is_new = "new" in task
    model = model_of(x[:100] if is_new else x, y[:100] if is_new else y)
    new = pd.DataFrame(x, columns=NAMES) if is_new else None
    forget_peak()
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        found = predict(idata, model, new, random_seed=seed, progressbar=False, **TASKS[task])
        seconds, megabytes = time.process_time() - began, (peak_since() - before) * 2**10
        if "out" in TASKS[task]:
            found = {"y": pd.read_parquet("found.parquet").drop(columns="row")}
        found = found["y"].to_numpy()
    chosen = rng.choice(n, min(n, N_COMPARED), replace=False)
    flat = [draws[name][1].reshape(S, -1) for name in ("intercept", "slopes")]
    matrix = 1 / (1 + np.exp(-(flat[0].T + x[chosen] @ flat[1].T)))
    low, high = np.quantile(matrix, [0.05, 0.95], axis=1)
    error = np.abs(found[chosen, 0] - matrix.mean(axis=1)).max()
    share = np.abs((found[chosen, 1:] - np.stack([low, high], axis=1)) / (high - low)[:, None])
    return {
        "seconds": seconds,
        "megabytes": megabytes,
        "error": float(error),
        "share": float(share.max()),
    }


def checked(runs: list[dict[str, float]], task: str) -> list[Check]:
    """Compare the worst of all seeds with what was asked."""
    worst = {key: max(run[key] for run in runs) for key in runs[0]}
    asked = [
        ("processor", f"{worst['seconds']:.1f} s", "seconds", MOST_SECONDS),
        ("memory", f"{worst['megabytes']:.0f} MB", "megabytes", MOST_MEGABYTES),
        ("error of means", f"{worst['error']:.1g}", "error", MOST_ERROR),
        ("error of quantiles, share of the width", f"{worst['share']:.1g}", "share", MOST_SHARE),
    ]
    return [
        Check(f"{what}, {task}", found, f"<= {most:g}", worst[key] <= most)
        for what, found, key, most in asked
    ]


def main() -> None:
    """Run each task for each seed in a process of its own."""
    reader = parser(__doc__.splitlines()[0])
    reader.add_argument("--task", choices=TASKS, help="run one, and print it for the others")
    reader.add_argument("--seed", type=int, default=1)
    given = reader.parse_args()
    n = 20_000 if given.quick else N
    if given.task:
        print(json.dumps(run_task(given.task, given.seed, n)))
        return
    rows, checks = [], []
    for task in TASKS:
        runs = []
        for seed in BENCHMARK.seeds[:1] if given.quick else BENCHMARK.seeds:
            with tempfile.TemporaryDirectory() as cache:
                options = ["--quick"] * given.quick + ["--task", task, "--seed", str(seed)]
                run = in_a_process(*options, cache=cache, **{"OPENBLAS_NUM_THREADS": "1"})
            runs.append(run)
            rows.append([task, seed, run["seconds"], run["megabytes"], run["error"], run["share"]])
            if task == "mean and interval of responses":
                # A new observation has no matrix to compare with.
                rows[-1][-2:] = [float("nan")] * 2
            print(*rows[-1], flush=True, file=sys.stderr)
        if task == "mean and interval":
            checks += checked(runs, f"{n:,} rows, {S:,} draws")
    header = ["what", "seed", "CPU s", "MB", "error of means", "error of quantiles / width"]
    table(f"{n:,} rows, {S:,} draws, {os.cpu_count()} cores", header, rows)
    report("predictions", checks, about=BENCHMARK, quick=given.quick, header=header, rows=rows)


if __name__ == "__main__":
    main()

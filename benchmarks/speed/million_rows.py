#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A million rows: effective samples a second of a step that tunes itself, and of NUTS.

Logistic regression with 20 coefficients. Times count everything from a model to its draws:
compilation, the search of the center, tuning. The truth is the Laplace approximation at the mode,
which NUTS confirms on ten thousand rows.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time

from collections.abc import Callable

import numpy as np
import pymc as pm

from arviz import ess
from million import N_COEFFICIENTS, build_model, laplace, make_data

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark, this_command
from benchmarks.harness.records import Check, report

BENCHMARK = Benchmark(
    question=(
        "How many effective samples per second on a million rows, compared with NUTS on all rows?"
    ),
    asked="1,000 times nutpie's, compilation counted; bias at most 0.1 sd, sd within 5 per cent.",
    fixed="2026-11-21",
    seeds=(1,),
    measures=("algorithms", "kernel", "potential", "tuning"),
)


def errors(draws: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> list[float]:
    """Largest error of a mean in standard deviations, smallest and largest of their ratios."""
    flat = draws.reshape(-1, draws.shape[-1])
    ratios = flat.std(axis=0) / sd
    bias = np.max(np.abs(flat.mean(axis=0) - mean) / sd)
    return [float(bias), float(ratios.min()), float(ratios.max())]


def smallest_ess(draws: np.ndarray) -> float:
    """Effective samples of the coefficient that has the fewest."""
    return float(min(ess(draws[..., i]) for i in range(draws.shape[-1])))


def self_tuned(n_rows: int, draws: int) -> dict:
    """Sample with all defaults."""

    def options():
        step = pmg.SGNHT(variance_reduction="auto")
        return {"draws": draws, "step": step, "chains": 2, "cores": 1}

    return timed(n_rows, options, minibatch=True)


def nuts(n_rows: int, draws: int, tune: int) -> dict:
    """Sample the full data with nutpie."""
    options = {"draws": draws, "tune": tune, "nuts_sampler": "nutpie", "chains": 1}
    return timed(n_rows, lambda: options, minibatch=False)


def timed(n_rows: int, options: Callable[[], dict], *, minibatch: bool) -> dict:
    """Sample with ``options``, which are made within the model, and time it from the model on."""
    design, outcome = make_data(n_rows)
    start = time.perf_counter()
    with build_model(design, outcome, minibatch=minibatch):
        idata = pm.sample(
            random_seed=1, progressbar=False, compute_convergence_checks=False, **options()
        )
    return measured(idata, time.perf_counter() - start, design, outcome)


def measured(idata, seconds: float, design: np.ndarray, outcome: np.ndarray) -> dict:
    draws = np.asarray(idata.posterior["beta"])
    mean, sd = laplace(design, outcome)
    n_effective = smallest_ess(draws)
    return {
        "seconds": seconds,
        "effective": n_effective,
        "rate": n_effective / seconds,
        "errors": errors(draws, mean, sd),
    }


def in_new_process(folder: str, what: str, *numbers: int) -> dict:
    """Run one measurement in a process of its own, with what ``folder`` holds compiled before."""
    # Of two settings of a flag the last one counts.
    flags = f"{os.environ.get('PYTENSOR_FLAGS', '')},base_compiledir={folder}"
    done = subprocess.run(
        this_command("--only", what, *map(str, numbers)),
        env=os.environ | {"PYTENSOR_FLAGS": flags.lstrip(",")},
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


MEASUREMENTS = {
    "ours": self_tuned,
    "nutpie": nuts,
}


def main() -> None:
    if "--only" in sys.argv:
        what, *numbers = sys.argv[sys.argv.index("--only") + 1 :]
        print(json.dumps(MEASUREMENTS[what](*map(int, numbers))))
        return
    quick = arguments(__doc__.splitlines()[0]).quick
    # About a minute at most for each of ours, and several for NUTS.
    n_rows, draws, few, tune = (20_000, 500, 100, 200) if quick else (1_000_000, 60_000, 300, 300)
    with tempfile.TemporaryDirectory() as empty:
        runs = {
            "SGNHT": in_new_process(empty, "ours", n_rows, draws),
            "SGNHT, compiled before": in_new_process(empty, "ours", n_rows, draws),
            "nutpie": in_new_process(empty, "nutpie", n_rows, few, tune),
        }
        check = in_new_process(empty, "nutpie", 10_000, 2_000, 1_000)
    header = [
        "method",
        "s in all",
        "effective",
        "a second",
        "bias (sd)",
        "smallest sd",
        "largest sd",
    ]
    rows = [
        [name, run["seconds"], run["effective"], run["rate"], *run["errors"]]
        for name, run in [*runs.items(), ("nutpie, N = 10,000", check)]
    ]
    table(f"Logistic regression, N = {n_rows:,}, d = {N_COEFFICIENTS}", header, rows)
    checks = []
    for name in list(runs)[:2]:
        ratio = runs[name]["rate"] / runs["nutpie"]["rate"]
        bias, low, high = runs[name]["errors"]
        checks += [
            Check(f"{name}: over nutpie", f"{ratio:.0f}", ">= 1000", ratio >= 1000),
            Check(f"{name}: bias of a mean (sd)", f"{bias:.3f}", "<= 0.1", bias <= 0.1),
            Check(
                f"{name}: ratios of sd",
                f"{low:.3f} to {high:.3f}",
                "1 +- 0.05",
                0.95 <= low <= high <= 1.05,
            ),
        ]
    bias, low, high = check["errors"]
    close = bias <= 0.1 and 0.95 <= low <= high <= 1.05
    found = f"{bias:.3f}, {low:.3f} to {high:.3f}"
    checks.append(Check("NUTS against Laplace, N = 10,000", found, "as above", close))
    report("million_rows", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)


if __name__ == "__main__":
    main()

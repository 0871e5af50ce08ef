#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Means and widths of mean-field ADVI at its default learning rate and at one that falls.

The regression of ``scaling.py``. Its posterior is nearly an independent normal, which ADVI can
represent, so that what is wrong is the optimisation's. The rate falls geometrically, by Adam.
Convergence: the errors at three quarters of the steps are within half as much again of the last.
"""

from __future__ import annotations

import time

from collections.abc import Callable
from typing import Any

import numpy as np
import pymc as pm
import pytensor

from scipy.special import expit

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.scale.logistic import (
    BATCH_SIZE,
    N_COEFFICIENTS,
    SMALLEST_LAPLACE,
    accuracy,
    laplace,
    regression,
    resident,
)

BENCHMARK = Benchmark(
    question="How right is ADVI at a learning rate that falls, where its default is too large?",
    asked=(
        "Of the falling rate: converged, bias at most 0.15 sd and sd within 15 per cent, as of our "
        "steps."
    ),
    fixed="2026-11-22",
    seeds=(1, 2, 3),
)

ROWS = (10**3, 10**4, 10**5)
STEPS, EVERY = 60_000, 500
N_WEIGHTED = 20_000
FIRST_RATE, LAST_RATE = 0.05, 1e-4


def truth_of(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviations; of few rows by weighted draws around Laplace's."""
    mode, sd = laplace(n_rows)
    if n_rows >= SMALLEST_LAPLACE:
        return mode, sd
    x, y = resident(n_rows)
    p = expit(x @ mode)
    precision = (x * (p * (1 - p))[:, None]).T @ x + np.eye(N_COEFFICIENTS) / 100
    noise = np.random.default_rng(1).standard_normal((N_WEIGHTED, N_COEFFICIENTS))
    beta = mode + 1.1 * np.linalg.solve(np.linalg.cholesky(precision).T, noise.T).T
    log_weight = 0.5 * (noise**2).sum(axis=1) - (beta**2).sum(axis=1) / 200
    log_weight += [y @ (x @ b) - np.logaddexp(0, x @ b).sum() for b in beta]
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    mean = weight @ beta
    return mean, np.sqrt(weight @ (beta - mean) ** 2)


def default(_note: list[Callable]) -> dict[str, Any]:
    """PyMC's own optimizer."""
    return {}


def falling(note: list[Callable], steps: int) -> dict[str, Any]:
    """Adam with a rate that falls from the first to the last."""
    rate = pytensor.shared(np.asarray(FIRST_RATE), name="rate")

    def fall(_approximation, _losses, i):
        if i % EVERY == 0:
            rate.set_value(np.asarray(FIRST_RATE * (LAST_RATE / FIRST_RATE) ** (i / steps)))

    note.append(fall)
    return {"obj_optimizer": pm.adam(learning_rate=rate)}


def fit(n_rows: int, truth: tuple, *, seed: int, steps: int, falls: bool) -> dict[str, Any]:
    """Errors on the way, and processor seconds."""
    x, y = pm.Minibatch(*resident(n_rows), batch_size=BATCH_SIZE)
    model = regression(x, y, total_size=n_rows)
    path: list[list[float]] = []

    def note(approximation, _losses, i):
        if i % (steps // 4) == 0:
            values = {k: v.get_value() for k, v in approximation.groups[0].params_dict.items()}
            path.append(accuracy(values["mu"], np.log1p(np.exp(values["rho"])), truth))

    callbacks: list[Callable] = [note]
    options = falling(callbacks, steps) if falls else default(callbacks)
    start = time.process_time()
    with model:
        pm.fit(
            steps,
            method="advi",
            callbacks=callbacks,
            progressbar=False,
            random_seed=seed,
            **options,
        )
    bias, low, high = path[-1]
    widths = [max(abs(np.log(errors[1])), abs(np.log(errors[2]))) for errors in path]
    settled = path[-2][0] < 1.5 * bias and widths[-2] < 1.5 * widths[-1]
    seconds = time.process_time() - start
    return {"bias": bias, "low": low, "high": high, "settled": bool(settled), "seconds": seconds}


def main() -> None:
    quick = arguments(__doc__.splitlines()[0]).quick
    seeds = BENCHMARK.seeds[:1] if quick else BENCHMARK.seeds
    sizes, steps = (ROWS[:1], 2_000) if quick else (ROWS, STEPS)
    rows, checks, raw = [], [], {}
    for n_rows in sizes:
        truth = truth_of(n_rows)
        for falls in (False, True):
            found = [fit(n_rows, truth, seed=s, steps=steps, falls=falls) for s in seeds]
            name = "falling rate" if falls else "default rate"
            raw[f"{n_rows:.0e}, {name}"] = found
            each = {key: [one[key] for one in found] for key in found[0]}
            bias, low, high = max(each["bias"]), min(each["low"]), max(each["high"])
            settled = sum(each["settled"])
            rows.append([f"{n_rows:.0e}", name, float(np.median(each["bias"])), bias, low, high])
            rows[-1] += [f"{settled} of {len(seeds)}", float(np.median(each["seconds"]))]
            print(rows[-1], flush=True)
            if falls:
                right = bias <= 0.15 and low >= 0.85 and high <= 1.15 and settled == len(seeds)
                text = f"{bias:.3f}, {low:.3f} to {high:.3f}, {settled} of {len(seeds)} settled"
                asked = "0.15, 1 +- .15, all"
                checks.append(Check(f"ADVI, falling rate, N = {n_rows:.0e}", text, asked, right))
    header = ["N", "ADVI", "median bias (sd)", "largest", "smallest sd", "largest sd", "settled"]
    header += ["CPU s"]
    table("ADVI by learning rate", header, rows)
    report("advi", checks, about=BENCHMARK, quick=quick, header=header, rows=rows, raw=raw)


if __name__ == "__main__":
    main()

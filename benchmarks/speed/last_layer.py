#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A Bayesian last layer of 650 weights: is it right, and what does it cost?

Ten digits from 64 noisy pixels, as anybody would write it: a weight of each pixel for each digit,
no digit of reference, standard normal priors, a model of all rows. Everything is by default. Each
run has a process of its own. The truth of 60,000 rows is that of Hamiltonian Monte Carlo with all
of them, in the frame of the curvature at the mode; it is kept, since it does not depend on this
package. The log loss is that of 20,000 new rows.

    python -m benchmarks.speed.last_layer [--quick]
"""

from __future__ import annotations

import json
import sys
import tempfile
import time

from typing import Any

import numpy as np
import pymc as pm

from scipy.special import logsumexp, softmax
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import pymc_geodesic as pmg

from benchmarks.correctness.models import kept, largest_rhat
from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.processes import in_a_process
from benchmarks.harness.records import TRUTHS, Check, report
from benchmarks.harness.statistics import effective_samples

BENCHMARK = Benchmark(
    question="Is a last layer of 650 weights right by default arguments, and what does it cost?",
    asked=(
        "R-hat at most 1.01, bias at most .15 sd, sds within 15 per cent, log loss within .001 of "
        "scikit-learn's, in every run; 30 CPU s with 60,000 rows, 40 with a million."
    ),
    fixed="2026-11-27",
    seeds=(1, 2, 3),
)

ROWS, N_NEW, N_CLASSES = (60_000, 1_000_000), 20_000, 10
MOST_SECONDS = {60_000: 30.0, 1_000_000: 40.0}
BIAS, RATIOS, R_HAT, LOSS = 0.15, (0.85, 1.15), 1.01, 0.001
NOISE = 2.0
N_HMC, N_BURN, N_LEAPFROG, STEP = 1_500, 20, 5, 0.35


def rows(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return standardised pixels of noisy digits, and the digits."""
    rng, digits = np.random.default_rng(seed), load_digits()
    chosen = rng.integers(0, len(digits.target), n)
    x = digits.data[chosen] + rng.normal(0, NOISE, (n, digits.data.shape[1]))
    return (x - x.mean(axis=0)) / x.std(axis=0), digits.target[chosen].astype("int32")


def run(n: int, seed: int) -> dict[str, Any]:
    """Fit by default arguments, and predict new rows."""
    x, y = rows(n)
    began = time.process_time()
    with pm.Model(coords={"pixel": range(x.shape[1]), "digit": range(N_CLASSES)}) as model:
        bias = pm.Normal("bias", 0, 1, dims="digit")
        weight = pm.Normal("weight", 0, 1, dims=("pixel", "digit"))
        pm.Categorical("y", logit_p=x @ weight + bias, observed=y)
    posterior = pmg.sample(model=model, random_seed=seed, progressbar=False)["posterior"]
    seconds = time.process_time() - began
    bias, weight = posterior["bias"].to_numpy(), posterior["weight"].to_numpy()
    draws = np.concatenate([bias[:, :, None], weight], axis=2)
    flat = draws.reshape(*draws.shape[:2], -1)
    new_x, new_y = rows(N_NEW, seed=99)
    some = draws.reshape(-1, *draws.shape[2:])[::20]
    p = np.mean([softmax(new_x @ w[1:] + w[0], axis=1) for w in some], axis=0)
    return {
        "seconds": seconds,
        "r_hat": largest_rhat(flat),
        "ess": float(effective_samples(flat)),
        "loss": float(-np.log(p[np.arange(len(p)), new_y]).mean()),
        "mean": flat.mean(axis=(0, 1)).tolist(),
        "sd": flat.std(axis=(0, 1)).tolist(),
    }


def by_scikit_learn() -> float:
    """Return the log loss of penalised maximum likelihood with 60,000 rows."""
    x, y = rows(ROWS[0])
    new_x, new_y = rows(N_NEW, seed=99)
    p = LogisticRegression(C=1.0, max_iter=2_000).fit(x, y).predict_proba(new_x)
    return float(-np.log(p[np.arange(len(p)), new_y]).mean())


def mode_of(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mode and the curvature there, of all rows, by Newton's method."""
    size, chosen = (x.shape[1], N_CLASSES), np.eye(N_CLASSES)[y]
    w = np.zeros(size)
    for _ in range(12):
        p = softmax(x @ w, axis=1)
        curvature = np.zeros((*size, *size))
        for k in range(N_CLASSES):
            for m in range(N_CLASSES):
                curvature[:, k, :, m] = (x * (p[:, k] * ((k == m) - p[:, m]))[:, None]).T @ x
        curvature = curvature.reshape(w.size, -1) + np.eye(w.size)
        slope = x.T @ (chosen - p) - w
        w = w + np.linalg.solve(curvature, slope.ravel()).reshape(size)
    return w, curvature


def truth() -> dict[str, list[float]]:
    """Return means and deviations by Hamiltonian Monte Carlo with all rows."""
    x, y = rows(ROWS[0])
    x = np.c_[np.ones(len(x)), x]
    mode, curvature = mode_of(x, y)
    frame = np.linalg.inv(np.linalg.cholesky(curvature)).T
    chosen = np.eye(N_CLASSES)[y]

    def energy(q: np.ndarray) -> tuple[float, np.ndarray]:
        w = mode + (frame @ q).reshape(mode.shape)
        eta = x @ w
        total = logsumexp(eta, axis=1)
        slope = x.T @ (np.exp(eta - total[:, None]) - chosen) + w
        value = total.sum() - (eta * chosen).sum() + 0.5 * np.sum(w**2)
        return float(value), frame.T @ slope.ravel()

    rng = np.random.default_rng(1)
    q = rng.standard_normal(mode.size)
    value, slope = energy(q)
    found = []
    for i in range(N_HMC):
        v, step = rng.standard_normal(len(q)), STEP * rng.uniform(0.8, 1.1)
        new, new_value, new_slope, before = q, value, slope, value + 0.5 * v @ v
        for _ in range(N_LEAPFROG):
            v = v - 0.5 * step * new_slope
            new = new + step * v
            new_value, new_slope = energy(new)
            v = v - 0.5 * step * new_slope
        if np.log(rng.uniform()) < before - new_value - 0.5 * v @ v:
            q, value, slope = new, new_value, new_slope
        if i >= N_BURN:
            found.append(mode.ravel() + frame @ q)
    return {"mean": np.mean(found, axis=0).tolist(), "sd": np.std(found, axis=0).tolist()}


def errors(found: dict[str, Any], exact: dict[str, list[float]]) -> tuple[float, float, float]:
    """Return the largest bias in deviations, and the smallest and largest ratio of deviations."""
    bias = np.abs(np.subtract(found["mean"], exact["mean"])) / exact["sd"]
    ratios = np.divide(found["sd"], exact["sd"])
    return float(bias.max()), float(ratios.min()), float(ratios.max())


def main() -> None:
    """Run all, and report."""
    reader = parser(__doc__.splitlines()[0])
    reader.add_argument("--task", nargs=2, type=int, help="number of rows, and seed")
    given = reader.parse_args()
    if given.task:
        print(json.dumps(run(*given.task)))
        return
    sizes, seeds = ((2_000,), (1,)) if given.quick else (ROWS, BENCHMARK.seeds)
    found = {}
    for task in [(n, seed) for n in sizes for seed in seeds]:
        with tempfile.TemporaryDirectory() as cache:
            found[task] = in_a_process("--task", *map(str, task), cache=cache)
        print(*task, f"{found[task]['seconds']:.0f} s", flush=True, file=sys.stderr)
    loss, lines, checks = by_scikit_learn(), [], []
    exact = (
        None if given.quick else kept(TRUTHS / "last_layer.json", "60,000 rows", truth, quick=False)
    )
    for n in sizes:
        each = [found[n, seed] for seed in seeds]
        seconds = [one["seconds"] for one in each]
        r_hat, worst = max(one["r_hat"] for one in each), max(one["loss"] for one in each)
        fewest = min(one["ess"] for one in each)
        lines.append([f"{n:,}", float(np.median(seconds)), r_hat, fewest, worst, loss])
        asked = MOST_SECONDS.get(n, np.inf)
        checks += [
            Check(f"{n:,} rows: largest R-hat", f"{r_hat:.3f}", f"<= {R_HAT}", r_hat <= R_HAT),
            Check(
                f"{n:,} rows: CPU s, slowest run",
                f"{max(seconds):.0f}",
                f"<= {asked:g}",
                max(seconds) <= asked,
            ),
            Check(
                f"{n:,} rows: log loss above scikit-learn's",
                f"{worst - loss:+.4f}",
                f"<= {LOSS}",
                worst - loss <= LOSS,
            ),
        ]
        if exact is not None and n == ROWS[0]:
            of_all = [errors(one, exact) for one in each]
            bias = max(e[0] for e in of_all)
            low, high = min(e[1] for e in of_all), max(e[2] for e in of_all)
            checks += [
                Check(f"{n:,} rows: worst bias, sd", f"{bias:.3f}", f"<= {BIAS}", bias <= BIAS),
                Check(
                    f"{n:,} rows: sds over those of HMC",
                    f"{low:.3f} to {high:.3f}",
                    f"{RATIOS[0]} to {RATIOS[1]}",
                    low >= RATIOS[0] and high <= RATIOS[1],
                ),
            ]
    header = ["rows", "CPU s", "largest R-hat", "smallest effective size", "log loss, new rows"]
    header += ["scikit-learn, 60,000 rows"]
    table("A last layer of 650 weights", header, lines)
    report("last_layer", checks, about=BENCHMARK, quick=given.quick, header=header, rows=lines)


if __name__ == "__main__":
    main()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Bias of SGRLD against step size on Dirichlet posteriors: Euler's step and exact transitions.

Dirichlet(alpha) prior and 40 rows of 5 counts each. A variable of shape (M, K) is M chains, so that
the standard errors come from M independent averages. For minibatches every chain has its rows in an
order of its own: the same draw of rows then gives each chain noise of its own. Biases are medians
of seeds, errors the largest.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
import pymc as pm

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import set_step_size
from benchmarks.harness.statistics import median_and_range

BENCHMARK = Benchmark(
    question="What is the bias of SGRLD on Dirichlet posteriors, by step size?",
    asked=(
        "With full gradients `cir` within 4 standard errors at every step size; `euler` at alpha ="
        " 5 at its smallest."
    ),
    fixed="2026-11-21",
    seeds=(1, 2, 3),
)

N_ROWS, PER_ROW, BATCH_SIZE = 40, 5, 8
ALPHAS, SIZES = (0.1, 1.0, 5.0), (3, 10, 100)
# Exact transitions have the name of the process that made them when the thresholds were fixed, and
# steps of its time h: means keep the share exp(-h) of their distance.
DYNAMICS = {"euler": "euler", "cir": "exact"}
STEP_SIZES = {"euler": (1e-3, 1e-2, 1e-1), "cir": (0.1, 1.0, 10.0)}
# The relaxation time in steps: the Gamma coordinates of Euler's method relax at rate 1/2.
RATE = {"euler": 0.5, "cir": 1.0}


def make_counts(size: int) -> np.ndarray:
    """Draw rows whose first half of the entries, rounded up, is never seen."""
    weights = np.zeros(size)
    seen = np.arange((size + 1) // 2, size)
    weights[seen] = 1.0 / np.arange(1, len(seen) + 1)
    rng = np.random.default_rng(size)
    return rng.multinomial(PER_ROW, weights / weights.sum(), size=N_ROWS).astype("int32")


def make_model(alpha: float, counts: np.ndarray, n_chains: int, *, minibatch: bool) -> pm.Model:
    rng = np.random.default_rng(1)
    with pm.Model() as model:
        p = pm.Dirichlet("p", np.full((n_chains, counts.shape[1]), alpha))
        if minibatch:
            rows = np.stack([rng.permutation(counts) for _ in range(n_chains)], axis=1)
            batch = pm.Minibatch(rows, batch_size=BATCH_SIZE)
            pm.Multinomial("x", PER_ROW, p, observed=batch, total_size=N_ROWS)
        else:
            totals = np.tile(counts.sum(axis=0), (n_chains, 1))
            pm.Multinomial("x", counts.sum(), p, observed=totals)
    return model


def probabilities(value: np.ndarray) -> np.ndarray:
    x = np.concatenate([value, -value.sum(axis=-1, keepdims=True)], axis=-1)
    x = np.exp(x - x.max(axis=-1, keepdims=True))
    return x / x.sum(axis=-1, keepdims=True)


def averages(step, step_size: float, transitions: float, seed: int):
    """Average p and p^2 of every chain over time, the first third left out."""
    set_step_size(step, step_size)
    step.setup_chain(np.random.default_rng(seed), 0, 1)
    point = step.model.initial_point()
    [name] = point
    n = max(60, int(np.ceil(transitions / step.sampler.settings.n_steps)))
    first = second = 0.0
    for draw in range(n):
        point, _ = step.step(point)
        if draw >= n // 3:
            p = probabilities(point[name])
            first, second = first + p, second + p**2
    kept = n - n // 3
    return first / kept, second / kept


def compare(by_chain: np.ndarray, exact: float) -> tuple[float, float]:
    """Relative bias in per cent, and the bias in standard errors."""
    error = by_chain.std(ddof=1) / np.sqrt(len(by_chain))
    bias = by_chain.mean() - exact
    return float(100 * bias / exact), float(bias / error)


def measure(first, second, alpha: np.ndarray) -> dict[str, tuple[float, float]]:
    """Compare mean and variance of the fullest entry, and of the unseen ones on average."""
    total = alpha.sum()
    mean = alpha / total
    variance = mean * (1 - mean) / (total + 1)
    # Around the exact mean, the average of squares is an average over time and has an error.
    spread = second - 2 * mean * first + mean**2
    full, empty = int(alpha.argmax()), np.flatnonzero(alpha == alpha.min())
    return {
        "mean, fullest": compare(first[:, full], mean[full]),
        "variance, fullest": compare(spread[:, full], variance[full]),
        "mean, unseen": compare(first[:, empty].mean(axis=1), mean[empty[0]]),
        "variance, unseen": compare(spread[:, empty].mean(axis=1), variance[empty[0]]),
    }


def unseen_means(found: dict) -> tuple[str, list[str], list[list[str]]]:
    """Biases of the means of entries that are never seen, with full gradients."""
    columns = [(dynamics, step) for dynamics, steps in STEP_SIZES.items() for step in steps]
    rows = [
        [f"{alpha:g}, {size}"]
        + [
            median_and_range(found["full", dynamics, alpha, size, step]["mean, unseen"], ".1f")
            for dynamics, step in columns
        ]
        for alpha in ALPHAS
        for size in SIZES
    ]
    header = ["alpha, K", *(f"{dynamics} {step:g}" for dynamics, step in columns)]
    return "bias of the mean of an entry without counts in per cent, full gradients", header, rows


def fullest_variances(found: dict) -> tuple[str, list[str], list[list[str]]]:
    """Least and largest biases of the variance of the fullest entry, with minibatches."""
    rows = []
    for step in STEP_SIZES["cir"]:
        biases = [
            bias
            for (kind, dynamics, _, size, h), each in found.items()
            if (kind, dynamics, h) == ("minibatches", "cir", step) and size > min(SIZES)
            for bias in each["variance, fullest"]
        ]
        rows.append([f"{step:g}", f"{min(biases):.0f}", f"{max(biases):.0f}"])
    title = "minibatches: variance of the fullest entry too large by, per cent, K = 10 and 100"
    return title, ["step of cir", "least", "largest"], rows


def main() -> None:
    quick = arguments(__doc__.splitlines()[0]).quick
    relaxations = 6 if quick else 18
    seeds = BENCHMARK.seeds[:1] if quick else BENCHMARK.seeds
    rows, worst, found = [], {}, {}
    for minibatch in (False, True):
        for size in SIZES:
            counts = make_counts(size)
            # Fewer chains of more entries: what the table costs is its entries.
            n_chains = 100 if size < 100 else 40
            for alpha in ALPHAS:
                model = make_model(alpha, counts, n_chains, minibatch=minibatch)
                posterior = alpha + counts.sum(axis=0)
                for dynamics, step_sizes in STEP_SIZES.items():
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", UserWarning)
                        step = pmg.SGRLD(
                            model=model,
                            step_size=0.1,
                            dynamics=DYNAMICS[dynamics],
                            variance_reduction=None,
                            n_steps=20 if dynamics == "euler" else 2,
                        )
                    for step_size in step_sizes:
                        own = step_size
                        if dynamics == "cir":
                            own = 2 * np.expm1(step_size) / posterior.sum()
                        start = time.perf_counter()
                        of_seeds = [
                            averages(step, own, relaxations / RATE[dynamics] / step_size, seed)
                            for seed in seeds
                        ]
                        seconds = time.perf_counter() - start
                        each = [measure(*one, posterior) for one in of_seeds]
                        biases = {key: [one[key][0] for one in each] for key in each[0]}
                        z = max(abs(z) for one in each for _, z in one.values())
                        kind = "minibatches" if minibatch else "full"
                        rows.append([kind, dynamics, alpha, size, step_size])
                        rows[-1] += [float(np.median(bias)) for bias in biases.values()]
                        rows[-1] += [z, seconds]
                        worst[kind, dynamics, alpha, size, step_size] = z
                        found[kind, dynamics, alpha, size, step_size] = biases
                print(*rows[-1][:4], flush=True)
    header = ["gradient", "dynamics", "alpha", "K", "step"]
    header += [f"{name} (%)" for name in biases] + ["largest |z|", "seconds"]
    rows.sort(key=lambda row: (row[0], row[1]))
    table("relative bias in per cent", header, rows)

    cir = [z for key, z in worst.items() if key[:2] == ("full", "cir")]
    smallest = STEP_SIZES["euler"][0]
    euler = [
        z
        for (kind, dynamics, alpha, _, step), z in worst.items()
        if (kind, dynamics, alpha, step) == ("full", "euler", 5.0, smallest)
    ]
    checks = [
        Check(
            f"cir, full gradients, {len(cir)} settings of 4 figures, worst seed: error / MCSE",
            f"{max(cir):.2f}",
            "<= 4",
            max(cir) <= 4,
        ),
        Check(
            f"euler, alpha = 5, step {smallest}, K = 3, 10, 100, worst seed: error / MCSE",
            f"{max(euler):.2f}",
            "<= 4",
            max(euler) <= 4,
        ),
    ]
    tables = [unseen_means(found), fullest_variances(found), ("all figures", header, rows)]
    report("simplex_conjugate", checks, about=BENCHMARK, quick=quick, tables=tables)


if __name__ == "__main__":
    main()

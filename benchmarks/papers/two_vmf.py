#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The posterior of two directions of Liu, Zhu and Song (2016), section 5.2, from minibatches."""

from __future__ import annotations

import numpy as np

from two_directions import (
    BATCH_SIZE,
    LEARNING_RATE,
    MOMENTUM_DECAY,
    N_ROWS,
    angle,
    build_model,
    grid_posterior,
    make_data,
)

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import sample
from benchmarks.harness.statistics import histogram, mcse, total_variation

BENCHMARK = Benchmark(
    question="Liu, Zhu and Song (2016), section 5.2: two directions from minibatches.",
    asked=(
        "With fresh batches and Fisher noise: total variation at most 0.05, correlation within "
        "0.05, temperature 1 +- 0.05."
    ),
    fixed="2026-11-21",
    seeds=(1, 2, 3, 4),
)

EDGES = np.arange(-1.5, 1.5001, 0.05)


def correlation(grid: np.ndarray, posterior: np.ndarray) -> float:
    p, q = posterior.sum(axis=1), posterior.sum(axis=0)
    a, b = grid - p @ grid, grid - q @ grid
    return float(a @ posterior @ b / np.sqrt((p @ a**2) * (q @ b**2)))


def exact(data: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Return a fine grid of angles, the posterior on it, and both shares of each bin."""
    grid = np.arange(EDGES[0] + 0.00125, EDGES[-1], 0.0025)
    posterior = grid_posterior(data, grid)
    bins = [posterior.sum(axis=axis).reshape(len(EDGES) - 1, -1).sum(axis=1) for axis in (1, 0)]
    return grid, posterior, bins


def main() -> None:
    quick = arguments(__doc__).quick
    draws, n_steps = (500, 10) if quick else (10_000, 200)
    data = make_data()
    grid, posterior, bins = exact(data)
    true_correlation = correlation(grid, posterior)

    def step(model, **options):
        return lambda: pmg.SGGMC.from_learning_rate(
            LEARNING_RATE, MOMENTUM_DECAY, model=model, n_steps=n_steps, **options
        )

    minibatch, full = build_model(data, BATCH_SIZE), build_model(data, None)
    step_size = float(np.sqrt(LEARNING_RATE / N_ROWS))
    methods = {
        "fresh batches, Fisher": (minibatch, step(minibatch, gradient_noise="fisher")),
        "fresh batches, V ignored": (minibatch, step(minibatch)),
        "10 transitions a batch, Fisher": (
            minibatch,
            step(minibatch, gradient_noise="fisher", steps_per_batch=10),
        ),
        "full batch": (
            full,
            lambda: pmg.SGGMC(
                step_size=step_size,
                friction=MOMENTUM_DECAY / step_size,
                n_steps=n_steps,
                model=full,
            ),
        ),
    }
    paper = {
        "fresh batches, Fisher": 1.013,
        "fresh batches, V ignored": 1.15,
        "10 transitions a batch, Fisher": 2.06,
        "full batch": 0.997,
    }
    rows, checks = [], []
    for seed, (name, (model, build)) in enumerate(methods.items()):
        run = sample(model, build, draws=draws, tune=500, chains=4, random_seed=seed + 1)
        angles = [angle(run.draws[variable]) for variable in ("v1", "v2")]
        distances = [
            total_variation(histogram(a, EDGES), p) for a, p in zip(angles, bins, strict=True)
        ]
        r = float(np.corrcoef(angles[0].ravel(), angles[1].ravel())[0, 1])
        temperature = float(run.stats["kinetic_temperature"].mean())
        ess = [float((a.std() / mcse(a)) ** 2) for a in angles]
        rows.append([name, *distances, r, r - true_correlation, temperature, paper[name]])
        rows[-1] += [round(min(ess)), run.seconds]
        if name == "fresh batches, Fisher":
            checks += [
                Check(f"{name}: total variation, {v}", f"{d:.4f}", "<= 0.05", d <= 0.05)
                for v, d in zip(("v1", "v2"), distances, strict=True)
            ]
            error = abs(r - true_correlation)
            checks += [
                Check(
                    f"{name}: correlation",
                    f"{r:.3f}",
                    f"{true_correlation:.3f} +- 0.05",
                    error <= 0.05,
                ),
                Check(
                    f"{name}: temperature",
                    f"{temperature:.4f}",
                    "1 +- 0.05",
                    abs(temperature - 1) <= 0.05,
                ),
            ]
    header = ["method", "TV v1", "TV v2", "correlation", "error", "temperature"]
    header += ["before", "smallest ESS", "seconds"]
    table(f"Correlation by the grid: {true_correlation:.3f}", header, rows)
    report("two_vmf", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)


if __name__ == "__main__":
    main()

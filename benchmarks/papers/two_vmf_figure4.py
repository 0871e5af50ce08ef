#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Figure 4 of Liu, Zhu and Song (2016), section 5.2, at the paper's length: with GMC beside it.

Two directions on the circle from 100 rows in batches of 10. Each chain makes 25,000 draws after
15,000, of 10 transitions each; GMC has all rows, and trajectories of 20 leapfrogs.
"""

from __future__ import annotations

import numpy as np

from two_directions import (
    BATCH_SIZE,
    LEARNING_RATE,
    MOMENTUM_DECAY,
    angle,
    build_model,
    make_data,
)

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import of_seeds
from benchmarks.harness.statistics import histogram, total_variation
from benchmarks.papers.pictures import panels, save
from benchmarks.papers.two_vmf import EDGES, correlation, exact

BENCHMARK = Benchmark(
    question=(
        "Liu, Zhu and Song (2016), Figure 4: two directions at the paper's 400,000 transitions, "
        "with GMC."
    ),
    asked=(
        "For GMC and for SGGMC and gSGNHT with fresh batches, three chains together: total "
        "variation of both angles at most 0.08, correlation within 0.05; temperature 1 +- 0.05."
    ),
    fixed="2026-11-22",
    seeds=(1, 2, 3),
)

PUBLISHED = "SGGMC, 10 transitions a batch (the paper)"
PLOTTED = np.arange(-0.8, 0.8001, 0.04)


def methods(data: np.ndarray, length: int) -> dict:
    """Return the model of each method and the step that samples it."""
    batches, full = build_model(data, BATCH_SIZE), build_model(data, None)
    common = {"n_steps": length, "model": batches}
    fisher = common | {"gradient_noise": "fisher"}
    rate = (LEARNING_RATE, MOMENTUM_DECAY)
    return {
        "GMC, all rows": (
            full,
            pmg.GMC(step_size=1e-3, n_leapfrog=20, jitter=0.0, model=full),
        ),
        "SGGMC, fresh batches": (
            batches,
            pmg.SGGMC.from_learning_rate(*rate, **fisher),
        ),
        "gSGNHT, fresh batches": (
            batches,
            pmg.gSGNHT.from_learning_rate(*rate, **common),
        ),
        PUBLISHED: (
            batches,
            pmg.SGGMC.from_learning_rate(*rate, steps_per_batch=length, **fisher),
        ),
    }


def draw(densities: dict[str, np.ndarray]) -> None:
    """Draw the joint densities of the two angles, the exact one first."""
    figure, axes = panels(1, len(densities), sharex=True, sharey=True)
    for ax, (name, density) in zip(axes[0], densities.items(), strict=True):
        ax.pcolormesh(PLOTTED, PLOTTED, density.T, cmap="Blues", vmax=densities["exact"].max())
        ax.set_title(name.replace(" (", "\n("), fontsize=9)
        ax.set_xlabel("angle of v1", fontsize=8)
        ax.set_aspect("equal")
    axes[0, 0].set_ylabel("angle of v2", fontsize=8)
    save(figure, "two_vmf_figure4")


def main() -> None:
    quick = arguments(__doc__.splitlines()[0]).quick
    tune, draws = (100, 300) if quick else (15_000, 25_000)
    data = make_data()
    grid, posterior, bins = exact(data)
    true = correlation(grid, posterior)
    index = np.digitize(grid, PLOTTED)
    inside = [posterior[index == i].T for i in range(1, len(PLOTTED))]
    densities = {
        "exact": np.array([[p[index == j].sum() for j in range(1, len(PLOTTED))] for p in inside])
    }
    rows, checks = [], []
    for name, (model, step) in methods(data, 10).items():
        runs = of_seeds(model, step, BENCHMARK.seeds, draws=draws, tune=tune)
        a, b = (np.concatenate([angle(run.draws[v]) for run in runs]) for v in ("v1", "v2"))
        distances = [
            total_variation(histogram(x, EDGES), p) for x, p in zip((a, b), bins, strict=True)
        ]
        r = float(np.corrcoef(a.ravel(), b.ravel())[0, 1])
        temperature = float(np.mean([run.stats["kinetic_temperature"].mean() for run in runs]))
        counts = np.histogram2d(a.ravel(), b.ravel(), bins=[PLOTTED, PLOTTED])[0]
        densities[name] = counts / a.size
        rows.append([name, *(f"{d:.3f}" for d in distances), f"{r:.3f}", f"{temperature:.3f}"])
        rows[-1].append(f"{sum(run.seconds for run in runs):.0f}")
        if name == PUBLISHED:
            continue
        worst, error, heat = max(distances), abs(r - true), abs(temperature - 1)
        checks += [
            Check(f"{name}: larger total variation", f"{worst:.3f}", "<= 0.08", worst <= 0.08),
            Check(f"{name}: correlation", f"{r:.3f}", f"{true:.3f} +- 0.05", error <= 0.05),
            Check(f"{name}: temperature", f"{temperature:.3f}", "1 +- 0.05", heat <= 0.05),
        ]
    header = ["method", "total variation, v1", "v2", "correlation", "temperature", "s"]
    table(f"Correlation by the grid: {true:.3f}", header, rows)
    report("two_vmf_figure4", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)
    if not quick:
        draw(densities)


if __name__ == "__main__":
    main()

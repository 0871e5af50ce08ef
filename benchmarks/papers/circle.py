#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The circle experiment of Liu, Zhu and Song (2016), section 5.1: strong gradient noise."""

from __future__ import annotations

import numpy as np

from noisy_circle import DIFFUSION as FRICTION
from noisy_circle import NOISE, STEP_SIZE, build_model, log_density
from two_directions import angle

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import Run, sample
from benchmarks.harness.statistics import histogram, mcse, median_and_range, total_variation

BENCHMARK = Benchmark(
    question=(
        "Liu, Zhu and Song (2016), section 5.1: is the circle right under strong gradient noise?"
    ),
    asked="Total variation at most 0.03 and |z| at most 4 for SGGMC with known noise and gSGNHT.",
    fixed="2026-11-21",
    seeds=(1, 2, 3),
)

EDGES = np.linspace(-np.pi, np.pi, 64)  # bins of 0.0997


def truth():
    """Probability of each bin, E cos and E sin by the midpoint rule."""
    per_bin = 1000
    fine = -np.pi + (np.arange((len(EDGES) - 1) * per_bin) + 0.5) * (EDGES[1] - EDGES[0]) / per_bin
    density = np.exp(log_density(np.c_[np.cos(fine), np.sin(fine)], np.logaddexp))
    density /= density.sum()
    bins = density.reshape(-1, per_bin).sum(axis=1)
    return bins, (density * np.cos(fine)).sum(), (density * np.sin(fine)).sum()


def figures_of(run: Run, bins: np.ndarray, cosine: float, sine: float) -> list[float]:
    """Total variation, errors of both means in standard errors, temperature and thermostat."""
    x = run.draws["x"]
    return [
        total_variation(histogram(angle(x), EDGES), bins),
        *((x[..., i].mean() - exact) / mcse(x[..., i]) for i, exact in enumerate((cosine, sine))),
        float(run.stats["kinetic_temperature"].mean()),
        float(run.stats.get("thermostat", np.array(np.nan)).mean()),
    ]


def main() -> None:
    quick = arguments(__doc__).quick
    draws, n_steps = (500, 20) if quick else (10_000, 100)
    model = build_model()
    seeds = BENCHMARK.seeds[:1] if quick else BENCHMARK.seeds
    options = {"draws": draws, "tune": 500, "chains": 4}
    common = {"step_size": STEP_SIZE, "n_steps": n_steps, "model": model}
    methods = {
        "SGGMC, V known": pmg.SGGMC(friction=FRICTION, gradient_noise=NOISE, **common),
        "gSGNHT, V unknown": pmg.gSGNHT(diffusion=FRICTION, **common),
        "SGGMC, V ignored": pmg.SGGMC(friction=FRICTION, **common),
    }
    paper = {"SGGMC, V known": 0.011, "gSGNHT, V unknown": 0.006, "SGGMC, V ignored": 0.100}
    exact = truth()
    rows, checks = [], []
    for name, step in methods.items():
        runs = [sample(model, lambda step=step: step, random_seed=s, **options) for s in seeds]
        of_seeds = zip(*(figures_of(run, *exact) for run in runs), strict=True)
        distances, z_cos, z_sin, temperatures, thermostats = of_seeds
        distance = median_and_range(distances, ".4f")
        worst = {"cos": max(z_cos, key=abs), "sin": max(z_sin, key=abs)}
        rows.append([name, distance, paper[name], *(f"{z:+.1f}" for z in worst.values())])
        rows[-1].append(median_and_range(temperatures, ".3f"))
        rows[-1].append("" if np.isnan(thermostats).any() else median_and_range(thermostats))
        rows[-1].append(sum(run.seconds for run in runs))
        if name == "SGGMC, V ignored":
            continue
        checks.append(
            Check(f"{name}: total variation", distance, "<= 0.03", max(distances) <= 0.03)
        )
        checks += [
            Check(f"{name}: E {of}, in MCSE, worst seed", f"{z:+.2f}", "within 4", abs(z) <= 4)
            for of, z in worst.items()
        ]
    header = ["method", "total variation", "before", "worst z of E cos", "worst z of E sin"]
    header += ["temperature", "thermostat", "seconds"]
    title = f"Truth: E cos {exact[1]:.6f}, E sin {exact[2]:.6f}; thermostat 15 in theory"
    table(title, header, rows)
    report("circle", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)


if __name__ == "__main__":
    main()

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
from benchmarks.harness.sampling import sample
from benchmarks.harness.statistics import histogram, mcse, total_variation

BENCHMARK = Benchmark(
    question=(
        "Liu, Zhu and Song (2016), section 5.1: is the circle right under strong gradient noise?"
    ),
    asked="Total variation at most 0.03 and |z| at most 4 for SGGMC with known noise and gSGNHT.",
    fixed="2026-11-21",
    seeds=(1, 2, 3),
    measures=("algorithms", "manifolds"),
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


def main() -> None:
    quick = arguments(__doc__).quick
    draws, n_steps = (500, 20) if quick else (10_000, 100)
    model = build_model()
    common = {"step_size": STEP_SIZE, "n_steps": n_steps, "backend": "jax"}
    methods = {
        "SGGMC, V known": lambda: pmg.SGGMC(friction=FRICTION, gradient_noise=NOISE, **common),
        "gSGNHT, V unknown": lambda: pmg.gSGNHT(diffusion=FRICTION, **common),
        "SGGMC, V ignored": lambda: pmg.SGGMC(friction=FRICTION, **common),
    }
    paper = {"SGGMC, V known": 0.011, "gSGNHT, V unknown": 0.006, "SGGMC, V ignored": 0.100}
    bins, cosine, sine = truth()
    rows, checks = [], []
    for seed, (name, step) in enumerate(methods.items()):
        run = sample(model, step, draws=draws, tune=500, chains=4, random_seed=seed + 1)
        x = run.draws["x"]
        distance = total_variation(histogram(angle(x), EDGES), bins)
        z_cos = (x[..., 0].mean() - cosine) / mcse(x[..., 0])
        z_sin = (x[..., 1].mean() - sine) / mcse(x[..., 1])
        temperature = run.stats["kinetic_temperature"].mean()
        thermostat = run.stats.get("thermostat", np.array(np.nan)).mean()
        rows.append([name, distance, paper[name], x[..., 0].mean(), z_cos, x[..., 1].mean(), z_sin])
        rows[-1] += [temperature, thermostat, run.seconds]
        if name != "SGGMC, V ignored":
            checks += [
                Check(f"{name}: total variation", f"{distance:.4f}", "<= 0.03", distance <= 0.03),
                Check(f"{name}: E cos, in MCSE", f"{z_cos:+.2f}", "within 4", abs(z_cos) <= 4),
                Check(f"{name}: E sin, in MCSE", f"{z_sin:+.2f}", "within 4", abs(z_sin) <= 4),
            ]
    header = ["method", "TV", "TV before", "E cos", "z", "E sin", "z", "temperature"]
    header += ["thermostat", "seconds"]
    table(f"Truth: E cos {cosine:.6f}, E sin {sine:.6f}; thermostat 15 in theory", header, rows)
    report("circle", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)


if __name__ == "__main__":
    main()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A million iterations of SGRLD on Dirichlet(0.01) with a thousand entries: do they stay finite?"""

from __future__ import annotations

import numpy as np

from dirichlet_corners import ALPHA, SIZE, build_model
from dirichlet_corners import agreement as exact_agreement

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import of_seeds
from benchmarks.harness.statistics import median_and_range

BENCHMARK = Benchmark(
    question="Does SGRLD stay finite for a million iterations on Dirichlet(0.01)?",
    asked="Finite, sums of one within 1e-12, none negative.",
    fixed="2026-11-21",
    seeds=(1, 2, 3),
)

N_STEPS = 1000
STEP_SIZES = {"euler": (0.01, 0.1), "exact": (0.13,)}


def main() -> None:
    quick = arguments(__doc__).quick
    seeds = BENCHMARK.seeds[:1] if quick else BENCHMARK.seeds
    iterations = {"euler": 10_000 if quick else 1_000_000, "exact": 2000 if quick else 100_000}
    model = build_model()
    exact_second_moment = exact_agreement()
    rows, checks = [], []
    for dynamics, step_sizes in STEP_SIZES.items():
        for step_size in step_sizes:
            step = pmg.SGRLD(
                model=model,
                step_size=step_size,
                dynamics=dynamics,
                variance_reduction=None,
                n_steps=N_STEPS,
            )
            draws = iterations[dynamics] // N_STEPS
            runs = of_seeds(model, step, seeds, draws=draws, tune=0)
            p = np.concatenate([run.draws["p"] for run in runs])
            off = float(np.abs(p.sum(axis=-1) - 1).max())
            diverging = int(sum(run.stats["diverging"].sum() for run in runs))
            # Summed over the entries, this is the chance that two draws from p agree.
            agreement = median_and_range((p**2).sum(axis=-1).mean(axis=1), ".4f")
            micros = [run.seconds / iterations[dynamics] * 1e6 for run in runs]
            name = f"{dynamics}, step {step_size}"
            rows.append([name, iterations[dynamics], median_and_range(micros, ".0f"), off])
            rows[-1] += [float(p.min()), int((p == 0).sum()), diverging, agreement]
            rows[-1].append(exact_second_moment)
            finite = bool(np.isfinite(p).all()) and diverging == 0
            checks += [
                Check(f"{name}: draws that are not finite", str(not finite), "False", finite),
                Check(f"{name}: sums off one by", f"{off:.1e}", "<= 1e-12", off <= 1e-12),
                Check(f"{name}: smallest entry", f"{p.min():.1e}", ">= 0", bool(p.min() >= 0)),
            ]
    header = ["run", "iterations", "us an iteration", "sum off by", "smallest entry"]
    header += ["zeros", "diverging", "sum of p^2", "exact"]
    table(
        f"Dirichlet({ALPHA}), K = {SIZE}; the worst of the seeds, or median and range", header, rows
    )
    report("simplex_corners", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)


if __name__ == "__main__":
    main()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The order of the splitting SGNHT, from a bias that is known at every step size.

One thermostat for thousands of standard normals is hardly random. The dynamics are then linear,
and the variance of positions follows without Monte Carlo; runs show that it is theirs.
"""

from __future__ import annotations

import numpy as np
import pymc as pm

from scipy.linalg import solve_discrete_lyapunov
from scipy.optimize import brentq

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import sample
from benchmarks.harness.statistics import mcse

BENCHMARK = Benchmark(
    question="Of which order is the bias of the splitting SGNHT, where it is known exactly?",
    asked=(
        "Slope of the exact bias from step 0.1 to 0.05 at least 1.9; bias of runs within 4 standard"
        " errors of it at the steps 0.2, 0.3, 0.4 and 0.6, in every seed."
    ),
    fixed="2026-11-22",
    seeds=(1, 2, 3),
)

POINTS, STEPS, DRAWS, TUNE = 3000, (0.2, 0.3, 0.4, 0.6), 300, 50


def exact_bias(step_size: float, *, diffusion: float = 1.0) -> float:
    """Bias of the mean square of a standard normal at the mean of the thermostat.

    The friction is that at which velocities have variance one, and A, B, O, B, A are linear.
    """

    def covariance(damping: float) -> np.ndarray:
        drift, damp = np.array([[1, step_size / 2], [0, 1]]), np.diag([1, np.exp(-damping / 2)])
        kick = np.array([[1, 0], [-step_size, 1]])
        matrix = drift @ damp @ kick @ damp @ drift
        noise = (drift @ damp)[:, 1]
        injected = 2 * diffusion * step_size * np.outer(noise, noise)
        return solve_discrete_lyapunov(matrix, injected)

    # Friction times step size, between far too little and far too much.
    limits = 0.1 * diffusion * step_size, 10 * diffusion * step_size
    damping = brentq(lambda x: covariance(x)[1, 1] - 1, *limits, xtol=1e-14)
    return float(covariance(damping)[0, 0] - 1)


def main() -> None:
    quick = arguments(__doc__.splitlines()[0]).quick
    seeds = BENCHMARK.seeds[:1] if quick else BENCHMARK.seeds
    with pm.Model() as model:
        x = pm.Normal("x", shape=(POINTS, 3))
        pm.Deterministic("statistic", (x**2).mean())
    rows, scores = [], []
    for h in STEPS:
        exact = exact_bias(h)
        for seed in seeds:
            run = sample(
                model,
                lambda h=h: pmg.SGNHT(step_size=h, diffusion=1.0, n_steps=round(1 / h)),
                draws=50 if quick else DRAWS,
                tune=TUNE,
                chains=1,
                random_seed=seed,
                var_names=["statistic"],
            )
            found = run.draws["statistic"]
            bias, error = float(found.mean() - 1), mcse(found)
            scores.append(abs(bias - exact) / error)
            rows.append([h, seed, exact, bias, error])
    order = float(np.log2(exact_bias(0.1) / exact_bias(0.05)))
    checks = [
        Check(
            "SGNHT splitting, normal: slope of the exact bias",
            f"{order:.3f}",
            ">= 1.9",
            order >= 1.9,
        ),
        Check("the bias of runs: largest |z|", f"{max(scores):.1f}", "<= 4", max(scores) <= 4),
    ]
    header = ["step size", "seed", "exact bias", "bias of the run", "standard error"]
    table("Bias of E x^2", header, rows)
    report("order_exact", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)


if __name__ == "__main__":
    main()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Mean angles of the sine model on the torus, one of them at pi: quadrature, and NUTS beside."""

from __future__ import annotations

import numpy as np
import pymc as pm

from pymc.distributions.transforms import circular

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import SamplingClock, sample
from benchmarks.harness.statistics import effective_samples, mcse

BENCHMARK = Benchmark(
    question="Are mean angles of the sine model right, one of them at pi?",
    asked="Within 4 Monte Carlo standard errors of quadrature.",
    fixed="2026-11-22",
    seeds=(1, 2, 3),
)

N_ROWS, KAPPA, LAM = 40, np.array([1.5, 3.0]), 1.2
MU = np.array([np.pi, -2.0])


def build_model() -> tuple[pm.Model, np.ndarray]:
    """Pairs of angles, and the model of their two mean angles."""
    variable = pmg.BivariateVonMises.dist(MU, KAPPA, LAM, size=N_ROWS)
    data = pm.draw(variable, random_seed=1, mode="FAST_COMPILE")
    with pm.Model() as model:
        mu = pm.Uniform("mu", -np.pi, np.pi, shape=2, default_transform=circular)
        pmg.BivariateVonMises("x", mu, KAPPA, LAM, observed=data)
    return model, data


def moments(mu: np.ndarray) -> np.ndarray:
    """Cosines and sines of both angles and of their sum, along the last axis."""
    both = np.concatenate([mu, mu.sum(-1, keepdims=True)], -1)
    return np.concatenate([np.cos(both), np.sin(both)], -1)


def truth(data: np.ndarray, n: int = 600) -> np.ndarray:
    """Means of the moments by the midpoint rule, which converges exponentially here."""
    grid = (np.arange(n) + 0.5) * 2 * np.pi / n - np.pi
    mu = np.stack(np.meshgrid(grid, grid, indexing="ij"), -1)
    logp = np.zeros((n, n))
    for x in data:
        angle = x - mu
        logp += (KAPPA * np.cos(angle)).sum(-1) + LAM * np.sin(angle).prod(-1)
    weight = np.exp(logp - logp.max())
    return np.tensordot(weight / weight.sum(), moments(mu), 2)


def main() -> None:
    quick = arguments(__doc__).quick
    draws = 500 if quick else 5000
    model, data = build_model()
    exact = truth(data)
    methods = {
        "gSGNHT": lambda: pmg.gSGNHT(step_size=0.02, diffusion=4.0, n_steps=20),
        "GMC": lambda: pmg.GMC(),
        "NUTS": pm.NUTS,
    }
    rows, checks = [], []
    for name, step in methods.items():
        worst = []
        for seed in BENCHMARK.seeds:
            clock = SamplingClock()
            options = {"draws": draws, "tune": 1000, "chains": 4, "callback": clock}
            run = sample(model, step, random_seed=seed, **options)
            found = moments(run.draws["mu"])
            each = zip(np.moveaxis(found, -1, 0), exact, strict=True)
            z = np.array([(x.mean() - y) / mcse(x) for x, y in each])
            worst.append(float(z[np.argmax(np.abs(z))]))
            rows.append([name, seed, worst[-1], effective_samples(found), clock.seconds])
        largest = max(worst, key=abs)
        checks.append(
            Check(
                f"{name}: worst of six means and three seeds",
                f"{largest:+.2f} MCSE",
                "within 4",
                abs(largest) <= 4,
            )
        )
    header = ["method", "seed", "worst mean in MCSE", "least ESS", "CPU seconds of the draws"]
    table(f"Mean angles of {N_ROWS} pairs, the first at {np.pi:.4f}", header, rows)
    report("torus", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)


if __name__ == "__main__":
    main()

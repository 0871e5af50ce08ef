#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Moments of von Mises-Fisher targets in units of Monte Carlo error, and kinetic temperatures.

A variable of M points is M chains, so that the standard errors come from M independent averages.
"""

from __future__ import annotations

import numpy as np
import pymc as pm

from gradient_noise import add_gradient_noise

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from pymc_geodesic.distributions.bessel import bessel_ratio

BENCHMARK = Benchmark(
    question="Are moments and temperatures of von Mises-Fisher targets right?",
    asked=(
        "24 moments of each method within 4 Monte Carlo standard errors; temperature within 2 per "
        "cent of 1."
    ),
    fixed="2026-11-21",
    seeds=tuple(range(100)),
)

M, SHARE = 100, 0.15


def direction(n: int) -> np.ndarray:
    mu = np.arange(1.0, n + 1) * np.where(np.arange(n) % 2, -1, 1)
    return mu / np.linalg.norm(mu)


def model(n: int, kappa: float, variance: float, points: int) -> pm.Model:
    rows = np.random.default_rng(1).normal(size=(200, points, n))
    rows = (rows - rows.mean(axis=0)) * np.sqrt(variance) / rows.std(axis=0)
    with pm.Model() as result:
        x = pmg.VonMisesFisher("x", np.tile(direction(n), (points, 1)), kappa)
        if variance:
            add_gradient_noise("noise", x, rows)
    return result


def make_step(method: str, n: int, kappa: float):
    """Noisy gradients have a variance that doubles what the friction dissipates."""
    step_size = SHARE / np.sqrt(kappa + n / 3)
    friction = 0.1 / step_size
    variance = friction / step_size if "noisy" in method else 0.0
    common = {"step_size": step_size, "n_steps": 25}
    if method == "GMC":
        # The test couples the points of one variable, so that there is only one.
        target = model(n, kappa, 0.0, 1)
        return pmg.GMC(model=target, **common | {"step_size": 4 * step_size, "n_leapfrog": 5})
    target = model(n, kappa, variance, M)
    if method.startswith("SGGMC"):
        return pmg.SGGMC(model=target, friction=friction, gradient_noise=variance, **common)
    return pmg.gSGNHT(model=target, diffusion=friction, thermostat="per_point", **common)


def run(method: str, n: int, kappa: float, draws: int) -> tuple[float, float, float]:
    """Return the errors of both moments in standard errors, and the mean temperature."""
    step = make_step(method, n, kappa)
    chains = M if method == "GMC" else 1
    averages, temperatures = [], []
    for seed in range(chains):
        step.setup_chain(np.random.default_rng(seed), 0, draws)
        point, cosines = step.model.initial_point(), []
        for draw in range(draws + draws // 2):
            point, [stats] = step.step(point)
            if draw >= draws // 2:
                cosines.append(point[step.vars[0].name] @ direction(n))
                temperatures.append(stats["kinetic_temperature"])
        averages.append([np.mean(cosines, axis=0), np.mean(np.square(cosines), axis=0)])
    averages = np.concatenate(averages, axis=-1)
    ratio = float(bessel_ratio(n, kappa).eval())
    exact = np.array([ratio, 1 - (n - 1) * ratio / kappa])
    z = (averages.mean(axis=-1) - exact) / (averages.std(axis=-1, ddof=1) / np.sqrt(M))
    return float(z[0]), float(z[1]), float(np.mean(temperatures))


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    draws = 20 if options.quick else 100
    methods = ["SGGMC", "SGGMC, noisy", "gSGNHT", "gSGNHT, noisy", "GMC"]
    rows = [
        [method, n, kappa, *run(method, n, kappa, draws)]
        for method in methods
        for n in (2, 3, 10, 50)
        for kappa in (0.5, 5.0, 50.0)
    ]
    header = ["method", "n", "kappa", "z of E mu.x", "z of E (mu.x)^2", "temperature"]
    table("von Mises-Fisher targets", header, rows)
    checks, summary = [], []
    for method in methods:
        mine = [row for row in rows if row[0] == method]
        z = max(abs(value) for row in mine for value in row[3:5])
        heat = max(abs(row[5] - 1) for row in mine)
        checks.append(Check(f"{method}: largest |z| of 24", f"{z:.2f}", "<= 4", z <= 4))
        checks.append(Check(f"{method}: |temperature - 1|", f"{heat:.4f}", "<= 0.02", heat <= 0.02))
        summary.append([method, f"{z:.2f}", f"{heat:.4f}"])
    columns = ["method", "largest of 24 errors", "largest difference of the temperature from 1"]
    tables = [("", columns, summary), ("von Mises-Fisher targets", header, rows)]
    report("targets", checks, about=BENCHMARK, quick=options.quick, tables=tables)


if __name__ == "__main__":
    main()

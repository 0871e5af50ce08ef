#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Two spheres with gradient noise of different strength, and the order of the variables."""

from __future__ import annotations

import numpy as np
import pymc as pm

from gradient_noise import add_gradient_noise, gradient_noise_rows
from scipy.special import ive

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import sample
from benchmarks.harness.statistics import mcse

BENCHMARK = Benchmark(
    question="Does one thermostat per variable balance noise that differs between variables?",
    asked=(
        "|z| at most 4 and temperature 1 +- 0.02 with one thermostat per variable and not with a "
        "shared one; the order of variables does not matter."
    ),
    fixed="2026-11-21",
    seeds=(1, 2, 3, 4),
    measures=("algorithms", "manifolds"),
)

DIM, KAPPA = 5, 20.0
STEP_SIZE, FRICTION = 0.02, 1.0
NOISE = {"a": 200.0, "b": 10.0}
TRUTH = float(ive(DIM / 2, KAPPA) / ive(DIM / 2 - 1, KAPPA))


def two_spheres() -> pm.Model:
    mean = np.eye(DIM)[0]
    with pm.Model() as model:
        for seed, (name, variance) in enumerate(NOISE.items()):
            x = pmg.VonMisesFisher(name, mu=mean, kappa=KAPPA)
            rows = gradient_noise_rows(100_000, np.full(DIM, variance), seed=seed)
            add_gradient_noise(f"noise_{name}", x, rows)
    return model


def main() -> None:
    quick = arguments(__doc__).quick
    draws, n_steps = (500, 20) if quick else (10_000, 50)
    model = two_spheres()
    common = {"step_size": STEP_SIZE, "n_steps": n_steps, "backend": "jax"}
    thermostats = {
        f"gSGNHT, {grouping}": lambda grouping=grouping: pmg.gSGNHT(
            diffusion=FRICTION, thermostat=grouping, **common
        )
        for grouping in ("per_variable", "shared")
    }
    # The noise of `a` exceeds what the friction carries: SGGMC raises the friction there.
    orders = {
        f"SGGMC, [{', '.join(order)}]": lambda order=order: pmg.SGGMC(
            order, friction=FRICTION, gradient_noise=NOISE, **common
        )
        for order in (["a", "b"], ["b", "a"])
    }
    rows, checks, means = [], [], {}
    for seed, (name, step) in enumerate((thermostats | orders).items()):
        run = sample(model, step, draws=draws, tune=500, chains=4, random_seed=seed + 1)
        row = [name]
        for variable in NOISE:
            first = run.draws[variable][..., 0]
            z = (first.mean() - TRUTH) / mcse(first)
            temperature = float(run.stats[f"kinetic_temperature_{variable}"].mean())
            xi = run.stats.get(
                f"thermostat_{variable}", run.stats.get("thermostat", np.array(np.nan))
            )
            row += [first.mean(), z, temperature, xi.mean()]
            means[name, variable] = first.mean(), mcse(first)
            right = abs(z) <= 4
            warm = abs(temperature - 1) <= 0.02
            if name.endswith("per_variable"):
                checks += [
                    Check(
                        f"per_variable, {variable}: E x1, in MCSE", f"{z:+.2f}", "within 4", right
                    ),
                    Check(
                        f"per_variable, {variable}: temperature",
                        f"{temperature:.4f}",
                        "1 +- 0.02",
                        warm,
                    ),
                ]
            elif name.endswith("shared"):
                checks += [
                    Check(f"shared, {variable}: E x1, in MCSE", f"{z:+.1f}", "beyond 4", not right),
                    Check(
                        f"shared, {variable}: temperature",
                        f"{temperature:.4f}",
                        "not 1 +- 0.02",
                        not warm,
                    ),
                ]
        rows.append([*row, run.seconds])
    for variable in NOISE:
        (one, se_one), (other, se_other) = (means[name, variable] for name in orders)
        z = (one - other) / np.hypot(se_one, se_other)
        checks.append(
            Check(
                f"SGGMC in both orders, {variable}: difference in MCSE",
                f"{z:+.2f}",
                "within 4",
                abs(z) <= 4,
            )
        )
        for name in orders:
            mean, se = means[name, variable]
            z = (mean - TRUTH) / se
            checks.append(
                Check(f"{name}, {variable}: E x1, in MCSE", f"{z:+.2f}", "within 4", abs(z) <= 4)
            )
    header = ["method"]
    for variable in NOISE:
        header += [f"E x1 of {variable}", "z", "temperature", "thermostat"]
    table(
        f"Truth E x1 = {TRUTH:.4f}; V = {NOISE}; before: per_variable .9028/.9029, "
        "thermostat 3.004/1.104; shared .861/.946, temperature 1.45/.55",
        [*header, "seconds"],
        rows,
    )
    report(
        "two_spheres", checks, about=BENCHMARK, quick=quick, header=[*header, "seconds"], rows=rows
    )


if __name__ == "__main__":
    main()

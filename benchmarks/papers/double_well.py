#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The double well of Ding et al. (2014), section 4: thermostat against fixed frictions."""

from __future__ import annotations

import numpy as np

from two_wells import DIFFUSION, STEP_SIZE, B, build_model, truth

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import sample
from benchmarks.harness.statistics import mcse

BENCHMARK = Benchmark(
    question=(
        "Ding et al. (2014), section 4: does the thermostat find the temperature that fixed "
        "frictions miss?"
    ),
    asked="SGNHT: kinetic energy 0.5 +- 0.01, thermostat 1 +- 0.05, |z| at most 5.",
    fixed="2026-11-21",
    seeds=(1, 2, 3, 4, 5),
    measures=("algorithms", "manifolds"),
)

STEP_SIZES = (0.01, 0.1, 0.2, 0.3, 0.4)


def fixed_friction(friction: float):
    """Build SGHMC with this friction that injects no noise of its own.

    It is told that the gradient has all the noise that the friction dissipates, so that it adds
    none (a thousandth, to be exact); what the gradient really has is 2 B / h.
    """
    claimed = 2 * np.sinh(friction * STEP_SIZE) / STEP_SIZE**2 / 1.001
    return lambda **options: pmg.SGHMC(
        step_size=STEP_SIZE, friction=friction, gradient_noise=claimed, **options
    )


def squared_error(t: np.ndarray, mean: float, variance: float) -> tuple[float, float]:
    """Errors of mean and variance in standard errors; the variance is about the true mean."""
    squares = (t - mean) ** 2
    return (t.mean() - mean) / mcse(t), (squares.mean() - variance) / mcse(squares)


def compare_frictions(quick: bool) -> tuple[list[str], list, list[Check]]:
    draws, n_steps = (500, 100) if quick else (10_000, 200)
    mean, variance = truth()
    model = build_model(STEP_SIZE)
    methods = {
        "SGNHT, splitting": lambda **o: pmg.SGNHT(step_size=STEP_SIZE, diffusion=DIFFUSION, **o),
        "SGNHT, Euler": lambda **o: pmg.SGNHT(
            step_size=STEP_SIZE, diffusion=DIFFUSION, integrator="euler", **o
        ),
        "friction 0.1": fixed_friction(0.1),
        "friction 1": fixed_friction(1.0),
        "friction 10": fixed_friction(10.0),
    }
    known = [0.500, 0.500, 4.93, 0.506, 0.053]
    header = ["method", "kinetic energy", "before", "thermostat", "mean", "z", "variance"]
    header += ["z", "seconds"]
    rows, checks = [], []
    for seed, ((name, build), before) in enumerate(zip(methods.items(), known, strict=True)):
        run = sample(
            model,
            lambda build=build: build(n_steps=n_steps, backend="jax"),
            draws=draws,
            tune=500,
            chains=4,
            random_seed=seed + 1,
        )
        t = run.draws["t"]
        kinetic = 0.5 * run.stats["kinetic_temperature"].mean()
        thermostat = run.stats.get("thermostat", np.array(np.nan)).mean()
        z_mean, z_variance = squared_error(t, mean, variance)
        rows.append([name, kinetic, before, thermostat, t.mean(), z_mean, t.var(), z_variance])
        rows[-1].append(run.seconds)
        if name.startswith("SGNHT"):
            checks += [
                Check(
                    f"{name}: kinetic energy",
                    f"{kinetic:.4f}",
                    "0.5 +- 0.01",
                    abs(kinetic - 0.5) <= 0.01,
                ),
                Check(
                    f"{name}: thermostat",
                    f"{thermostat:.4f}",
                    "1 +- 0.05",
                    abs(thermostat - 1) <= 0.05,
                ),
                Check(f"{name}: mean, in MCSE", f"{z_mean:+.2f}", "within 5", abs(z_mean) <= 5),
                Check(
                    f"{name}: variance, in MCSE",
                    f"{z_variance:+.2f}",
                    "within 5",
                    abs(z_variance) <= 5,
                ),
            ]
    table(
        f"h = {STEP_SIZE}, B = {B}; truth: mean {mean:.4f}, variance {variance:.4f}", header, rows
    )
    return header, rows, checks


def compare_integrators(quick: bool) -> tuple[list[str], list, list[Check]]:
    draws, n_steps = (200, 20) if quick else (5_000, 50)
    header = ["h", "integrator", "kinetic energy", "diverging draws", "mean", "variance"]
    rows, checks = [], []
    for step_size in STEP_SIZES:
        model = build_model(step_size)
        for integrator in ("splitting", "euler"):
            run = sample(
                model,
                lambda integrator=integrator, h=step_size: pmg.SGNHT(
                    step_size=h,
                    diffusion=DIFFUSION,
                    integrator=integrator,
                    n_steps=n_steps,
                    backend="jax",
                ),
                draws=draws,
                tune=500,
                chains=4,
                random_seed=1,
            )
            kinetic = 0.5 * run.stats["kinetic_temperature"].mean()
            diverging = run.stats["diverging"].mean()
            t = run.draws["t"]
            rows.append(
                [step_size, integrator, kinetic, f"{100 * diverging:.2f} %", t.mean(), t.var()]
            )
            if step_size == 0.3 and integrator == "splitting":
                good = diverging == 0 and abs(kinetic - 0.5) <= 0.01
                found = f"{kinetic:.4f}, {100 * diverging:.2f} % diverging"
                checks.append(Check("splitting at h = 0.3", found, "0.5 +- 0.01, none", good))
            elif step_size == 0.3:
                found = f"{kinetic:.4g}, {100 * diverging:.2f} % diverging"
                bad = diverging > 0 or not np.isfinite(kinetic)
                checks.append(
                    Check("Euler at h = 0.3", found, "not finite or diverging", bool(bad))
                )
    table("Integrators of SGNHT, B = 1", header, rows)
    return header, rows, checks


def main() -> None:
    quick = arguments(__doc__).quick
    header, rows, checks = compare_frictions(quick)
    stability_header, stability, more = compare_integrators(quick)
    report(
        "double_well",
        checks + more,
        about=BENCHMARK,
        quick=quick,
        header=header,
        rows=rows,
        stability_header=stability_header,
        stability=stability,
    )


if __name__ == "__main__":
    main()

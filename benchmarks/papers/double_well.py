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
from benchmarks.harness.sampling import Run, sample
from benchmarks.harness.statistics import mcse, median_and_range

BENCHMARK = Benchmark(
    question=(
        "Ding et al. (2014), section 4: does the thermostat find the temperature that fixed "
        "frictions miss?"
    ),
    asked="SGNHT: kinetic energy 0.5 +- 0.01, thermostat 1 +- 0.05, |z| at most 5.",
    fixed="2026-11-21",
    seeds=(1, 2, 3),
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


def figures_of(run: Run, mean: float, variance: float) -> list[float]:
    """Kinetic energy, thermostat, and the mean and variance, each with its error in MCSE."""
    t = run.draws["t"]
    z_mean, z_variance = squared_error(t, mean, variance)
    thermostat = run.stats.get("thermostat", np.array(np.nan)).mean()
    kinetic = 0.5 * run.stats["kinetic_temperature"].mean()
    return [kinetic, thermostat, t.mean(), z_mean, t.var(), z_variance]


def checks_of(name: str, found: np.ndarray) -> list[Check]:
    """What is asked of every seed."""
    kinetic, thermostat = found[:, 0], found[:, 1]
    checks = [
        Check(
            f"{name}: kinetic energy",
            median_and_range(kinetic, ".4f"),
            "0.5 +- 0.01",
            bool(np.all(np.abs(kinetic - 0.5) <= 0.01)),
        ),
        Check(
            f"{name}: thermostat",
            median_and_range(thermostat, ".4f"),
            "1 +- 0.05",
            bool(np.all(np.abs(thermostat - 1) <= 0.05)),
        ),
    ]
    for of, z in (("mean", found[:, 3]), ("variance", found[:, 5])):
        worst = max(z, key=abs)
        what = f"{name}: {of}, in MCSE, worst seed"
        checks.append(Check(what, f"{worst:+.2f}", "within 5", bool(abs(worst) <= 5)))
    return checks


def compare_frictions(
    quick: bool, seeds: tuple[int, ...]
) -> tuple[list[str], list[list], list[Check]]:
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
    header = ["method", "kinetic energy", "before", "thermostat", "mean", "worst z of mean"]
    header += ["variance", "worst z of variance", "seconds"]
    options = {"draws": draws, "tune": 500, "chains": 4}
    rows, checks = [], []
    for (name, build), before in zip(methods.items(), known, strict=True):
        step = build(n_steps=n_steps, model=model)
        runs = [sample(model, lambda step=step: step, random_seed=s, **options) for s in seeds]
        found = np.array([figures_of(run, mean, variance) for run in runs])
        z_mean, z_variance = (max(found[:, i], key=abs) for i in (3, 5))
        kinetic, thermostat, of_mean, of_variance = (
            median_and_range(found[:, i], ".3f") for i in (0, 1, 2, 4)
        )
        known_thermostat = thermostat if np.isfinite(found[:, 1]).all() else ""
        rows.append([name, kinetic, before, known_thermostat, of_mean, f"{z_mean:+.1f}"])
        rows[-1] += [of_variance, f"{z_variance:+.1f}", sum(run.seconds for run in runs)]
        if name.startswith("SGNHT"):
            checks += checks_of(name, found)
    table(
        f"h = {STEP_SIZE}, B = {B}; truth: mean {mean:.4f}, variance {variance:.4f}", header, rows
    )
    return header, rows, checks


def compare_integrators(
    quick: bool, seeds: tuple[int, ...]
) -> tuple[list[str], list[list], list[Check]]:
    draws, n_steps = (200, 20) if quick else (5_000, 50)
    header = ["h", "integrator", "kinetic energy", "diverging draws (%)", "mean", "variance"]
    options = {"draws": draws, "tune": 500, "chains": 4}
    rows, checks = [], []
    for step_size in STEP_SIZES:
        model = build_model(step_size)
        for integrator in ("splitting", "euler"):
            step = pmg.SGNHT(
                step_size=step_size,
                diffusion=DIFFUSION,
                integrator=integrator,
                n_steps=n_steps,
                model=model,
            )
            runs = [sample(model, lambda step=step: step, random_seed=s, **options) for s in seeds]
            kinetic = np.array([0.5 * run.stats["kinetic_temperature"].mean() for run in runs])
            diverging = np.array([run.stats["diverging"].mean() for run in runs])
            found = [median_and_range(kinetic, ".4g"), median_and_range(100 * diverging, ".3g")]
            moments = np.array([(run.draws["t"].mean(), run.draws["t"].var()) for run in runs])
            rows.append([step_size, integrator, *found])
            rows[-1] += [median_and_range(column, ".3f") for column in moments.T]
            if step_size != 0.3:
                continue
            text = f"{found[0]}, {found[1]} % diverging"
            if integrator == "splitting":
                good = not diverging.any() and bool(np.all(np.abs(kinetic - 0.5) <= 0.01))
                checks.append(Check("splitting at h = 0.3", text, "0.5 +- 0.01, none", good))
            else:
                bad = bool(np.all((diverging > 0) | ~np.isfinite(kinetic)))
                checks.append(Check("Euler at h = 0.3", text, "not finite or diverging", bad))
    table("Integrators of SGNHT, B = 1", header, rows)
    return header, rows, checks


def main() -> None:
    quick = arguments(__doc__).quick
    seeds = BENCHMARK.seeds[:1] if quick else BENCHMARK.seeds
    header, rows, checks = compare_frictions(quick, seeds)
    stability_header, stability, more = compare_integrators(quick, seeds)
    tables = [("frictions", header, rows), ("integrators", stability_header, stability)]
    report("double_well", checks + more, about=BENCHMARK, quick=quick, tables=tables)


if __name__ == "__main__":
    main()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Two spheres with gradient noise of different strength, and the order of the variables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pymc as pm

from gradient_noise import add_gradient_noise, gradient_noise_rows
from scipy.special import ive

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import Run, sample
from benchmarks.harness.statistics import mcse, median_and_range

BENCHMARK = Benchmark(
    question="Does one thermostat per variable balance noise that differs between variables?",
    asked=(
        "|z| at most 4 and temperature 1 +- 0.02 with one thermostat per variable and not with a "
        "shared one; the order of variables does not matter."
    ),
    fixed="2026-11-21",
    seeds=(1, 2, 3),
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


class Found(NamedTuple):
    """Of one variable in one run: E x1, its error, the temperature and the thermostat."""

    mean: float
    error: float
    temperature: float
    thermostat: float

    @property
    def z(self) -> float:
        return (self.mean - TRUTH) / self.error

    @property
    def is_warm(self) -> bool:
        return abs(self.temperature - 1) <= 0.02


def found_of(run: Run, variable: str) -> Found:
    first, stats = run.draws[variable][..., 0], run.stats
    xi = stats.get(f"thermostat_{variable}", stats.get("thermostat", np.array(np.nan)))
    temperature = stats[f"kinetic_temperature_{variable}"].mean()
    return Found(float(first.mean()), mcse(first), float(temperature), float(xi.mean()))


def largest(values: Iterable[float]) -> float:
    return max(values, key=abs)


def within(what: str, values: list[float]) -> Check:
    """Ask for errors of all seeds within four standard errors."""
    worst = largest(values)
    return Check(f"{what}, in MCSE, worst seed", f"{worst:+.2f}", "within 4", abs(worst) <= 4)


def checks_of_thermostats(found: dict[tuple[str, str], list[Found]]) -> list[Check]:
    checks = []
    for variable in NOISE:
        own, shared = (found[f"gSGNHT, {name}", variable] for name in ("per_variable", "shared"))
        nearest = min((one.z for one in shared), key=abs)
        checks += [
            within(f"per_variable, {variable}: E x1", [one.z for one in own]),
            Check(
                f"per_variable, {variable}: temperature",
                median_and_range([one.temperature for one in own], ".4f"),
                "1 +- 0.02",
                all(one.is_warm for one in own),
            ),
            Check(
                f"shared, {variable}: E x1, in MCSE, seed nearest to the truth",
                f"{nearest:+.1f}",
                "beyond 4",
                abs(nearest) > 4,
            ),
            Check(
                f"shared, {variable}: temperature",
                median_and_range([one.temperature for one in shared], ".4f"),
                "not 1 +- 0.02",
                not any(one.is_warm for one in shared),
            ),
        ]
    return checks


def checks_of_orders(found: dict[tuple[str, str], list[Found]], orders: list[str]) -> list[Check]:
    checks = []
    for variable in NOISE:
        one_order, other_order = (found[name, variable] for name in orders)
        # With one seed both orders may draw the same numbers: the errors of a pair are independent
        # only if its seeds differ.
        pairs = zip(one_order, [*other_order[1:], other_order[0]], strict=True)
        apart = [(one.mean - two.mean) / np.hypot(one.error, two.error) for one, two in pairs]
        checks.append(within(f"SGGMC in both orders, {variable}: difference", apart))
        checks += [
            within(f"{name}, {variable}: E x1", [one.z for one in found[name, variable]])
            for name in orders
        ]
    return checks


def row_of(found: list[Found]) -> list[str]:
    columns = [np.array(column) for column in zip(*found, strict=True)]
    cells = [median_and_range(columns[0], ".4f"), f"{largest(one.z for one in found):+.1f}"]
    cells.append(median_and_range(columns[2], ".3f"))
    known = np.isfinite(columns[3]).all()
    return [*cells, median_and_range(columns[3], ".3f") if known else ""]


def main() -> None:
    quick = arguments(__doc__).quick
    draws, n_steps = (500, 20) if quick else (10_000, 50)
    seeds = BENCHMARK.seeds[:1] if quick else BENCHMARK.seeds
    model = two_spheres()
    common = {"step_size": STEP_SIZE, "n_steps": n_steps, "model": model}
    thermostats = {
        f"gSGNHT, {grouping}": pmg.gSGNHT(diffusion=FRICTION, thermostat=grouping, **common)
        for grouping in ("per_variable", "shared")
    }
    # The noise of `a` exceeds what the friction carries: SGGMC raises the friction there.
    orders = {
        f"SGGMC, [{', '.join(order)}]": pmg.SGGMC(
            order, friction=FRICTION, gradient_noise=NOISE, **common
        )
        for order in (["a", "b"], ["b", "a"])
    }
    rows, found = [], {}
    for name, step in (thermostats | orders).items():
        options = {"draws": draws, "tune": 500, "chains": 4}
        runs = [sample(model, lambda step=step: step, random_seed=s, **options) for s in seeds]
        rows.append([name])
        for variable in NOISE:
            found[name, variable] = [found_of(run, variable) for run in runs]
            rows[-1] += row_of(found[name, variable])
        rows[-1].append(sum(run.seconds for run in runs))
    header = ["method"]
    for variable in NOISE:
        header += [f"E x1 of {variable}", f"worst z of {variable}", f"temperature {variable}"]
        header.append(f"thermostat {variable}")
    header.append("seconds")
    table(
        f"Truth E x1 = {TRUTH:.4f}; V = {NOISE}; before: per_variable .9028/.9029, "
        "thermostat 3.004/1.104; shared .861/.946, temperature 1.45/.55",
        header,
        rows,
    )
    checks = checks_of_thermostats(found) + checks_of_orders(found, list(orders))
    report("two_spheres", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)


if __name__ == "__main__":
    main()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Samplers that are broken on purpose, and which checks catch them.

The dynamics are replaced while a step is built: the package has no options for this.
"""

from __future__ import annotations

import importlib
import logging
import warnings

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any
from unittest.mock import patch

import numpy as np
import pymc as pm

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from pymc_geodesic.algorithms.thermostat import Thermostat

BENCHMARK = Benchmark(
    question="Which checks catch samplers that are broken on purpose?",
    asked=(
        "With every seed, a check that detects the fault; at most one alarm in 20 without a fault."
    ),
    fixed="2026-11-21",
    seeds=(1, 2, 3, 4, 5),
)

SEEDS = 5
SIGNIFICANT, LEVEL = 4.0, 0.01
# The package has functions of the same names, which hide the modules.
SGGMC = importlib.import_module("pymc_geodesic.algorithms.sggmc")


def target() -> pm.Model:
    """A unit vector of moderate concentration and a correlated real vector."""
    with pm.Model() as model:
        pmg.VonMisesFisher("x", mu=[0.0, 0.6, 0.8], kappa=4.0)
        pm.MvNormal("y", mu=[1.0, -1.0], cov=[[1.0, 0.6], [0.6, 2.0]])
    return model


@contextmanager
def noise_scaled(factor: float = 1.2) -> Iterator[None]:
    """Inject noise that is too large by this factor."""
    kick = SGGMC.kick

    def too_noisy(*args, noise, **options):
        return kick(*args, noise=tuple(factor * z for z in noise), **options)

    with patch.object(SGGMC, "kick", too_noisy):
        yield


class _NeverTangent:
    """A product that leaves vectors as they are."""

    def to_tangent(self, x, u):
        return u


@contextmanager
def projection_missing() -> Iterator[None]:
    """Kick velocities out of the tangent space."""
    kick = SGGMC.kick

    def not_projected(manifold, *args, **options):
        return kick(_NeverTangent(), *args, **options)

    with patch.object(SGGMC, "kick", not_projected):
        yield


@contextmanager
def ambient_dimension() -> Iterator[None]:
    """Let the thermostat divide by the number of coordinates, as published programs do."""

    def temperature(self, velocity):
        squares = self.manifold.squared_norm(velocity)
        sizes = [np.prod(shape) for shape in self.manifold.shapes]
        return tuple(square.sum() / size for square, size in zip(squares, sizes, strict=True))

    with patch.object(Thermostat, "temperature", temperature):
        yield


def sggmc() -> Any:
    return pmg.SGGMC(step_size=0.05, friction=1.0, n_steps=20)


def gsgnht() -> Any:
    return pmg.gSGNHT(step_size=0.05, diffusion=1.0, thermostat="per_variable", n_steps=20)


CASES: list[tuple[str, Callable[[], Any], Callable[[], Any], bool]] = [
    ("SGGMC as it is", nullcontext, sggmc, False),
    ("gSGNHT as it is", nullcontext, gsgnht, False),
    ("noise scaled by 1.2", noise_scaled, sggmc, True),
    ("projection missing", projection_missing, sggmc, True),
    ("thermostat with ambient dimension", ambient_dimension, gsgnht, True),
]


def scores(idata, model: pm.Model, seed: int) -> dict[str, tuple[float, float, bool]]:
    """For each check its figure, its largest z (NaN if it has none), and whether it caught."""
    kinetic = pmg.kinetic_temperature(idata)
    positions = pmg.configurational_temperature(idata, model=model)
    stein = pmg.stein_check(idata, model=model, max_draws=500)
    ksd = pmg.kernel_stein_discrepancy(idata, model=model, random_seed=seed)
    result = {}
    for name, table_ in (("kinetic", kinetic), ("configurational", positions)):
        worst = table_.loc[table_["z"].abs().idxmax()]
        caught = bool(abs(worst["z"]) > SIGNIFICANT)
        result[name] = float(worst["mean"]), float(worst["z"]), caught
    worst = stein.table.iloc[0]
    result["Stein"] = float(worst["effect"]), float(worst["z"]), not stein.passed
    result["kernel Stein"] = ksd.squared, ksd.p_value, ksd.p_value < LEVEL
    return result


def run(name, broken, build, seeds: int, draws: int) -> list[list[Any]]:
    model = target()
    with model, broken():
        step = build()
    found: dict[str, list[tuple[float, float, bool]]] = {}
    for seed in range(1, seeds + 1):
        idata = pm.sample(
            draws,
            tune=200,
            chains=4,
            cores=1,
            model=model,
            step=step,
            random_seed=seed,
            progressbar=False,
            compute_convergence_checks=False,
        )
        for check, score in scores(idata, model, seed).items():
            found.setdefault(check, []).append(score)
    rows = []
    for check, of_seeds in found.items():
        figures, z, caught = (np.array(part) for part in zip(*of_seeds, strict=True))
        rows.append([name, check, float(np.median(figures)), z, int(caught.sum()), seeds])
        smallest, largest = np.min(np.abs(z)), np.max(np.abs(z))
        rows[-1][3] = f"{smallest:.2g} to {largest:.2g}"
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    logging.getLogger("pymc").setLevel(logging.ERROR)
    warnings.simplefilter("ignore", UserWarning)
    options = arguments(__doc__.splitlines()[0])
    seeds, draws = (2, 300) if options.quick else (SEEDS, 1000)
    rows, checks = [], []
    for name, broken, build, is_broken in CASES:
        mine = run(name, broken, build, seeds, draws)
        rows += mine
        if is_broken:
            best = max(mine, key=lambda row: row[4])
            asked, good = f"one check in all {seeds}", best[4] == seeds
            checks.append(Check(name, f"{best[1]}: {best[4]} of {seeds}", asked, good))
        else:
            false = sum(row[4] for row in mine)
            checks.append(Check(name, f"{false} of {4 * seeds} alarms", "at most one", false <= 1))
    header = ["sampler", "check", "median figure", "|z| (p for the kernel)", "caught", "of"]
    table("Broken samplers", header, rows)
    report(
        "broken_samplers", checks, about=BENCHMARK, quick=options.quick, header=header, rows=rows
    )


if __name__ == "__main__":
    main()

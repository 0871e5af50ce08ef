#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The double well of Ding et al. (2014) as figures: densities, kinetic energies and thermostats.

A million transitions a chain with h = 0.01 and B = 1, SGNHT beside fixed frictions.
"""

from __future__ import annotations

import numpy as np

from two_wells import DIFFUSION, GRID, STEP_SIZE, build_model, energy, truth

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import of_seeds
from benchmarks.harness.statistics import histogram, mcse, total_variation
from benchmarks.papers.double_well import fixed_friction
from benchmarks.papers.pictures import EXACT, panels, save, steps

BENCHMARK = Benchmark(
    question="Ding et al. (2014): densities and kinetic energies of the double well.",
    asked=(
        "SGNHT, three chains together: kinetic energy 0.5 +- 0.01, thermostat 1 +- 0.05, |z| of "
        "the mean at most 4, a total variation smaller than that of the frictions 0.1 and 10."
    ),
    fixed="2026-11-22",
    seeds=(1, 2, 3),
)

EDGES = np.linspace(-6, 5, 67)
N_STEPS = 20


def methods() -> dict:
    """Return what builds the step of each method."""
    return {
        "SGNHT, Euler": lambda **o: pmg.SGNHT(
            step_size=STEP_SIZE, diffusion=DIFFUSION, integrator="euler", **o
        ),
        "SGNHT, splitting": lambda **o: pmg.SGNHT(step_size=STEP_SIZE, diffusion=DIFFUSION, **o),
        **{f"friction {f:g}": fixed_friction(f) for f in (0.1, 1.0, 10.0)},
    }


def exact_shares() -> np.ndarray:
    """Return the probability of each bin."""
    density = np.exp(-energy(GRID))
    return np.histogram(GRID, bins=EDGES, weights=density / density.sum())[0]


def draw(found: dict[str, dict]) -> None:
    """Draw densities above, and kinetic energies by transition below."""
    figure, axes = panels(2, len(found), sharey="row")
    density = np.exp(-energy(GRID))
    density /= density.sum() * (GRID[1] - GRID[0])
    inside = (EDGES[0] < GRID) & (EDGES[-1] > GRID)
    for (above, below), (name, run) in zip(axes.T, found.items(), strict=True):
        steps(above, EDGES, run["shares"], fill=True, color="#0072B2", alpha=0.4)
        above.plot(GRID[inside], density[inside], **EXACT)
        above.set_title(name, fontsize=9)
        kinetic = run["kinetic"]
        time = np.arange(1, len(kinetic) + 1) * N_STEPS
        below.plot(time, np.cumsum(kinetic) / np.arange(1, len(kinetic) + 1), color="#0072B2")
        below.axhline(0.5, **EXACT)
        below.set(xscale="log", yscale="log")
        below.set_xlabel("transitions", fontsize=8)
    axes[0, 0].set_ylabel("density (line: exact)", fontsize=8)
    axes[1, 0].set_ylabel("kinetic energy so far (line: 1/2)", fontsize=8)
    save(figure, "double_well_figure1")


def main() -> None:
    quick = arguments(__doc__.splitlines()[0]).quick
    draws = 1000 if quick else 50_000
    model, exact = build_model(STEP_SIZE), exact_shares()
    mean, _ = truth()
    rows, found = [], {}
    for name, build in methods().items():
        step = build(n_steps=N_STEPS, model=model)
        runs = of_seeds(model, step, BENCHMARK.seeds, draws=draws, tune=500)
        t = np.concatenate([run.draws["t"] for run in runs])
        kinetic = 0.5 * np.concatenate([run.stats["kinetic_temperature"] for run in runs])
        thermostat = [run.stats.get("thermostat", np.array(np.nan)).mean() for run in runs]
        run = found[name] = {
            "shares": histogram(t, EDGES),
            "kinetic": kinetic[0],
            "energy": kinetic.mean(),
            "thermostat": np.mean(thermostat),
            "z": (t.mean() - mean) / mcse(t),
        }
        run["distance"] = total_variation(run["shares"], exact)
        each = kinetic.mean(axis=1)
        rows.append([name, f"{run['energy']:.4f}", f"{each.min():.4f} to {each.max():.4f}"])
        rows[-1] += [float(run["thermostat"]), f"{run['distance']:.3f}", f"{run['z']:+.1f}"]
    header = ["method", "kinetic energy", "of one chain", "thermostat", "total variation"]
    header += ["z of the mean"]
    table("Three chains of a million transitions", header, rows)
    limit = min(found[f"friction {f}"]["distance"] for f in (0.1, 10))
    checks = []
    for name in ("SGNHT, Euler", "SGNHT, splitting"):
        run = found[name]
        checks += [
            check(f"{name}: kinetic energy", run["energy"], "0.5 +- 0.01", 0.5, 0.01),
            check(f"{name}: thermostat", run["thermostat"], "1 +- 0.05", 1, 0.05),
            check(f"{name}: z of the mean", run["z"], "within 4", 0, 4),
        ]
        distance = run["distance"]
        checks.append(
            Check(f"{name}: total variation", f"{distance:.3f}", f"< {limit:.3f}", distance < limit)
        )
    report("double_well_figure1", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)
    if not quick:
        draw(found)


def check(what: str, value: float, asked: str, center: float, width: float) -> Check:
    """A figure that is to be near another one."""
    return Check(what, f"{value:.4f}", asked, bool(abs(value - center) <= width))


if __name__ == "__main__":
    main()

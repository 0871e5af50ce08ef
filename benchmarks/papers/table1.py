#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Gaussians with unknown mean and precision: Figure 3 and Table 1 of Ding et al. (2014)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pymc as pm

from scipy import stats

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import Run, of_seeds, set_step_size
from benchmarks.harness.statistics import long_run_variance, median_and_range

BENCHMARK = Benchmark(
    question="Ding et al. (2014), Table 1: errors and times of SGHMC and SGNHT.",
    asked="The RMSE of SGNHT below that of SGHMC in every column.",
    fixed="2026-11-21",
    seeds=(1, 2, 3),
)

N_ROWS, BATCH_SIZE = 100, 10
SETTINGS = ((0.01, 1.0), (0.01, 10.0), (0.001, 1.0), (0.001, 10.0))
N_STEPS = 4
PAPER = {
    "SGHMC": ((0.629, 7.19), (0.286, 37.68), (0.292, 67.83), (0.136, 357.14)),
    "SGNHT": ((0.175, 14.35), (0.026, 55.65), (0.091, 22.97), (0.053, 424.81)),
}
METHODS = {
    "SGHMC": (pmg.SGHMC, "friction", {}),
    "SGNHT, Euler": (pmg.SGNHT, "diffusion", {"integrator": "euler"}),
    "SGNHT, splitting": (pmg.SGNHT, "diffusion", {}),
}
OURS_BEFORE = {  # An earlier study with independent code, on data of variance 1.21
    "SGHMC": (7.3, 1.6, 1.5, 1.1),
    "SGNHT": (0.96, 0.90, 1.02, 1.00),
}


def make_data() -> np.ndarray:
    return np.random.default_rng(2014).standard_normal(N_ROWS)


def gaussian_mean(data: np.ndarray) -> pm.Model:
    """Known precision of one and a flat prior on the mean."""
    with pm.Model() as model:
        mu = pm.Flat("mu", initval=0.0)
        batch = pm.Minibatch(data, batch_size=BATCH_SIZE)
        pm.Normal("x", mu, 1.0, observed=batch, total_size=N_ROWS)
    return model


def normal_gamma(data: np.ndarray) -> pm.Model:
    """mu | gamma ~ N(0, 1 / gamma), gamma ~ Gamma(1, 1); gamma itself is moved, not its log."""
    with pm.Model() as model:
        gamma = pm.Gamma("gamma", 1.0, 1.0, default_transform=None, initval=1.0)
        mu = pm.Normal("mu", 0.0, tau=gamma, initval=0.0)
        batch = pm.Minibatch(data, batch_size=BATCH_SIZE)
        pm.Normal("x", mu, tau=gamma, observed=batch, total_size=N_ROWS)
    return model


def posterior(data: np.ndarray) -> dict:
    """Marginal posteriors of the Normal-Gamma model."""
    n, mean = len(data), data.mean()
    a = 1 + n / 2
    b = 1 + 0.5 * ((data - mean) ** 2).sum() + 0.5 * n * mean**2 / (n + 1)
    scale = np.sqrt(b / (a * (n + 1)))
    return {
        "mu": stats.t(2 * a, n * mean / (n + 1), scale),
        "gamma": stats.gamma(a, scale=1 / b),
    }


def density_error(values: np.ndarray, marginal) -> float:
    """Root mean square error of a histogram density over six standard deviations, 100 bins."""
    edges = marginal.mean() + marginal.std() * np.linspace(-3, 3, 101)
    width = edges[1] - edges[0]
    found = np.histogram(values, bins=edges)[0] / values.size / width
    return float(np.sqrt(np.mean((found - np.diff(marginal.cdf(edges)) / width) ** 2)))


def autocorrelation_time(values: np.ndarray) -> float:
    """Integrated autocorrelation time in transitions."""
    return N_STEPS * long_run_variance(values, batches=250) / values.var()


def run_all(
    model: pm.Model, draws: int, seeds: tuple[int, ...]
) -> Iterator[tuple[str, int, float, float, list[Run]]]:
    """Run every method at every setting, one chain a seed, and give the runs."""
    for name, (method, of_a, options) in METHODS.items():
        # Compiled once: step size and friction are inputs of the kernel.
        step = method(
            model=model, step_size=SETTINGS[0][0], n_steps=N_STEPS, **options, **{of_a: 1.0}
        )
        for column, (h, a) in enumerate(SETTINGS):
            set_step_size(step, h, **{of_a: a})
            yield name, column, h, a, of_seeds(model, step, seeds, draws=draws, tune=5000)


def mean_alone(
    data: np.ndarray, quick: bool, seeds: tuple[int, ...]
) -> tuple[list[str], list[list]]:
    header = ["method", "h", "A", "mean error / sd", "variance / truth", "before"]
    header += ["thermostat", "A + hV/2"]
    # V of a batch drawn with replacement, precision one.
    noise = N_ROWS**2 / BATCH_SIZE * data.var()
    rows = []
    draws = 5_000 if quick else 100_000
    for name, column, h, a, runs in run_all(gaussian_mean(data), draws, seeds):
        mu = [run.draws["mu"] for run in runs]
        shifts = [(each.mean() - data.mean()) * np.sqrt(N_ROWS) for each in mu]
        found = [median_and_range(shifts, ".3f")]
        found.append(median_and_range([each.var() * N_ROWS for each in mu], ".3f"))
        rows.append([name, h, a, *found, OURS_BEFORE[name[:5]][column]])
        thermostats = [run.stats["thermostat"].mean() for run in runs if "thermostat" in run.stats]
        rows[-1].append(median_and_range(thermostats) if thermostats else "")
        rows[-1].append(a + h * noise / 2)
    table(f"Gaussian mean, data of variance {data.var():.3f} (1.21 before)", header, rows)
    return header, rows


def mean_and_precision(
    data: np.ndarray, quick: bool, seeds: tuple[int, ...]
) -> tuple[list[str], list[list], list[Check]]:
    marginals = posterior(data)
    header = ["method", "h", "A", "RMSE", "paper", "RMSE mu", "RMSE gamma", "tau mu", "tau gamma"]
    header += ["tau, paper", "temperature", "diverging draws", "seconds"]
    rows, errors = [], {}
    draws = 5_000 if quick else 250_000
    for name, column, h, a, runs in run_all(normal_gamma(data), draws, seeds):
        parts = np.array(
            [[density_error(run.draws[v], m) for v, m in marginals.items()] for run in runs]
        )
        error = errors[name, column] = np.sqrt(np.mean(parts**2, axis=1))
        times = np.array([[autocorrelation_time(run.draws[v]) for v in marginals] for run in runs])
        paper = PAPER[name[:5]][column]
        temperature = [run.stats["kinetic_temperature"].mean() for run in runs]
        rows.append([name, h, a, median_and_range(error, ".3f"), paper[0]])
        rows[-1] += [f"{median:.3f}" for median in np.median(parts, axis=0)]
        rows[-1] += [median_and_range(each, ".0f") for each in times.T]
        rows[-1] += [paper[1], median_and_range(temperature, ".3f")]
        rows[-1].append(int(sum(run.stats["diverging"].sum() for run in runs)))
        rows[-1].append(sum(run.seconds for run in runs))
        print(rows[-1], flush=True)
    table("Mean and precision (Table 1)", header, rows)
    checks = []
    for name in ("SGNHT, Euler", "SGNHT, splitting"):
        for column, (h, a) in enumerate(SETTINGS):
            ours, theirs = errors[name, column], errors["SGHMC", column]
            checks.append(
                Check(
                    f"{name}, h={h:g}, A={a:g}: RMSE",
                    median_and_range(ours, ".3f"),
                    f"< {median_and_range(theirs, '.3f')} with each seed",
                    bool(np.all(ours < theirs)),
                )
            )
    return header, rows, checks


def main() -> None:
    quick = arguments(__doc__).quick
    data = make_data()
    seeds = BENCHMARK.seeds[:1] if quick else BENCHMARK.seeds
    mean_header, mean_rows = mean_alone(data, quick, seeds)
    header, rows, checks = mean_and_precision(data, quick, seeds)
    tables = [("mean and precision", header, rows), ("mean alone", mean_header, mean_rows)]
    report("table1", checks, about=BENCHMARK, quick=quick, tables=tables)


if __name__ == "__main__":
    main()

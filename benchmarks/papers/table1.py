#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Gaussians with unknown mean and precision: Figure 3 and Table 1 of Ding et al. (2014)."""

from __future__ import annotations

import numpy as np
import pymc as pm

from scipy import stats

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import sample
from benchmarks.harness.statistics import long_run_variance

BENCHMARK = Benchmark(
    question="Ding et al. (2014), Table 1: errors and times of SGHMC and SGNHT.",
    asked="The RMSE of SGNHT below that of SGHMC in every column.",
    fixed="2026-11-21",
    seeds=(1, 2, 3, 4),
    measures=("algorithms", "manifolds"),
)

N_ROWS, BATCH_SIZE = 100, 10
SETTINGS = ((0.01, 1.0), (0.01, 10.0), (0.001, 1.0), (0.001, 10.0))
N_STEPS = 4
PAPER = {
    "SGHMC": ((0.629, 7.19), (0.286, 37.68), (0.292, 67.83), (0.136, 357.14)),
    "SGNHT": ((0.175, 14.35), (0.026, 55.65), (0.091, 22.97), (0.053, 424.81)),
}
METHODS = {
    "SGHMC": lambda h, a, **o: pmg.SGHMC(step_size=h, friction=a, **o),
    "SGNHT, Euler": lambda h, a, **o: pmg.SGNHT(step_size=h, diffusion=a, integrator="euler", **o),
    "SGNHT, splitting": lambda h, a, **o: pmg.SGNHT(step_size=h, diffusion=a, **o),
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


def run_all(model: pm.Model, draws: int):
    """Run every method at every setting and give its draws."""
    for name, build in METHODS.items():
        for column, (h, a) in enumerate(SETTINGS):
            run = sample(
                model,
                lambda build=build, h=h, a=a: build(h, a, n_steps=N_STEPS),
                draws=draws,
                tune=5000,
                chains=1,
                random_seed=column + 1,
            )
            yield name, column, h, a, run


def mean_alone(data: np.ndarray, quick: bool):
    header = ["method", "h", "A", "mean error / sd", "variance / truth", "before"]
    header += ["thermostat", "A + hV/2"]
    # V of a batch drawn with replacement, precision one.
    noise = N_ROWS**2 / BATCH_SIZE * data.var()
    rows = []
    for name, column, h, a, run in run_all(gaussian_mean(data), 5_000 if quick else 100_000):
        mu = run.draws["mu"]
        inflation = mu.var() * N_ROWS
        thermostat = run.stats.get("thermostat", np.array(np.nan)).mean()
        before = OURS_BEFORE[name[:5]][column]
        rows.append([name, h, a, (mu.mean() - data.mean()) * np.sqrt(N_ROWS), inflation, before])
        rows[-1] += [thermostat, a + h * noise / 2]
    table(f"Gaussian mean, data of variance {data.var():.3f} (1.21 before)", header, rows)
    return header, rows


def mean_and_precision(data: np.ndarray, quick: bool):
    marginals = posterior(data)
    header = ["method", "h", "A", "RMSE", "paper", "RMSE mu", "RMSE gamma", "tau mu", "tau gamma"]
    header += ["tau, paper", "temperature", "diverging draws", "seconds"]
    rows, errors = [], {}
    for name, column, h, a, run in run_all(normal_gamma(data), 5_000 if quick else 250_000):
        parts = [density_error(run.draws[v], m) for v, m in marginals.items()]
        error = float(np.sqrt(np.mean(np.square(parts))))
        errors[name, column] = error
        times = [autocorrelation_time(run.draws[v]) for v in marginals]
        paper = PAPER[name[:5]][column]
        temperature = run.stats["kinetic_temperature"].mean()
        diverging = int(run.stats["diverging"].sum())
        rows.append([name, h, a, error, paper[0], *parts, *times, paper[1], temperature, diverging])
        rows[-1].append(run.seconds)
    table("Mean and precision (Table 1)", header, rows)
    checks = []
    for name in ("SGNHT, Euler", "SGNHT, splitting"):
        for column, (h, a) in enumerate(SETTINGS):
            ours, theirs = errors[name, column], errors["SGHMC", column]
            checks.append(
                Check(
                    f"{name}, h={h:g}, A={a:g}: RMSE",
                    f"{ours:.3f}",
                    f"< {theirs:.3f}",
                    ours < theirs,
                )
            )
    return header, rows, checks


def main() -> None:
    quick = arguments(__doc__).quick
    data = make_data()
    mean_header, mean_rows = mean_alone(data, quick)
    header, rows, checks = mean_and_precision(data, quick)
    report(
        "table1",
        checks,
        about=BENCHMARK,
        quick=quick,
        header=header,
        rows=rows,
        mean_header=mean_header,
        mean_rows=mean_rows,
    )


if __name__ == "__main__":
    main()

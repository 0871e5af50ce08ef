#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The Gaussians of Ding et al. (2014): their figures, and Table 1 by several definitions.

A million transitions a chain by Euler's method, three seeds for Table 1, whose cells each have an
error and an autocorrelation time of "(mu, gamma)". The errors here are those of both histogram
densities, of single draws, and of the mean of all draws so far; the times those of mu and of gamma,
of both together (the long-run variances over the variances, each summed over the two), and of the
sum mu + gamma.
"""

from __future__ import annotations

import numpy as np

from scipy import stats

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import of_seeds, set_step_size
from benchmarks.harness.statistics import long_run_variance
from benchmarks.papers.gaussian_models import (
    N_ROWS,
    PAPER,
    SETTINGS,
    density_error,
    gaussian_mean,
    make_data,
    normal_gamma,
    posterior,
)
from benchmarks.papers.pictures import EXACT, panels, save, steps

BENCHMARK = Benchmark(
    question="Ding et al. (2014): the figures of both Gaussians, and Table 1 by its definitions.",
    asked=(
        "Medians of three seeds: SGNHT's error of the densities below SGHMC's in every column; "
        "the time of mu and gamma together within a factor of 2 of the paper's in all eight "
        "cells; SGNHT's variance of the mean alone (one seed) within 10 per cent of the truth."
    ),
    fixed="2026-11-22",
    seeds=(1, 2, 3),
)

METHODS = {
    "SGHMC": (pmg.SGHMC, "friction", {"integrator": "euler"}),
    "SGNHT": (pmg.SGNHT, "diffusion", {"integrator": "euler"}),
}
# Transitions of a chain; and of a draw, fewer than the shortest autocorrelation time.
LENGTH, SHORT, LONG = 1_000_000, 4, 20
N_STEPS = {setting: SHORT if setting == (0.01, 1.0) else LONG for setting in SETTINGS}


def chains(model, length: int, seeds: tuple[int, ...], lengths: dict):
    """Run every method at every setting with every seed; give name, setting and runs."""
    for name, (step_class, noise, options) in METHODS.items():
        for n_steps in sorted(set(lengths.values())):
            # Compiled once: the step size and the friction are inputs of the kernel.
            common = {"step_size": 1e-3, "n_steps": n_steps, "model": model}
            step = step_class(**common, **{noise: 1.0}, **options)
            for h, a in (setting for setting in SETTINGS if lengths[setting] == n_steps):
                set_step_size(step, h, **{noise: a})
                tune, draws = 20_000 // n_steps, length // n_steps
                yield name, (h, a), of_seeds(model, step, seeds, draws=draws, tune=tune)


def middle(values) -> float:
    """Median of what the seeds give."""
    return float(np.median(list(values)))


def errors(draws: dict[str, np.ndarray], marginals: dict, n_steps: int) -> dict[str, float]:
    """Errors and times of one chain by the definitions that Table 1 may have."""
    draws = {**draws, "sum": draws["mu"] + draws["gamma"]}
    both = np.stack([draws[name][0] for name in marginals], axis=-1)
    truth = np.array([0.0, 1.0])
    running = both.cumsum(axis=0) / np.arange(1, len(both) + 1)[:, None]

    def time(*names):
        """Long-run variances over the variances, each summed."""
        values = [draws[name] for name in names]
        lasting = sum(long_run_variance(v, batches=250) for v in values)
        return n_steps * lasting / sum(v.var() for v in values)

    parts = [density_error(draws[name], marginal) for name, marginal in marginals.items()]
    return {
        "density": np.sqrt(np.mean(np.square(parts))),
        "draws": np.sqrt(((both - truth) ** 2).mean()),
        "running": np.sqrt(((running - truth) ** 2).mean()),
        "mu": time("mu"),
        "gamma": time("gamma"),
        "together": time("mu", "gamma"),
        "sum": time("sum"),
    }


def mean_alone(data: np.ndarray, length: int) -> tuple[list[list], dict, dict]:
    """Variance of the mean over its truth, and histograms and thermostats to draw."""
    rows, inflation, pictures, always = [], {}, {}, dict.fromkeys(SETTINGS, LONG)
    edges = data.mean() + np.linspace(-5, 5, 81) / np.sqrt(N_ROWS)
    noise = N_ROWS**2 / 10 * data.var()  # of a batch of ten drawn with replacement
    for name, (h, a), runs in chains(gaussian_mean(data), length, BENCHMARK.seeds[:1], always):
        found = float(runs[0].draws["mu"].var() * N_ROWS)
        trace = runs[0].stats.get("thermostat")
        inflation[name, h, a] = found
        shares = np.histogram(runs[0].draws["mu"], bins=edges)[0] / runs[0].draws["mu"].size
        pictures[name, h, a] = (edges, shares, None if trace is None else trace[0])
        thermostat = np.nan if trace is None else trace.mean()
        rows.append(["mean alone", name, f"({h:g}, {a:g})", found, float(thermostat)])
        rows[-1].append(a + h * noise / 2)
    return rows, inflation, pictures


def draw_mean(data: np.ndarray, pictures: dict) -> None:
    """Draw the densities of the mean, and below them the thermostats."""
    figure, axes = panels(2, len(SETTINGS))
    exact = stats.norm(data.mean(), 1 / np.sqrt(N_ROWS))
    for (above, below), (h, a) in zip(axes.T, SETTINGS, strict=True):
        for name, colour in (("SGHMC", "#D55E00"), ("SGNHT", "#0072B2")):
            edges, shares, trace = pictures[name, h, a]
            steps(above, edges, shares, color=colour, label=name)
            if trace is not None:
                first = trace[: 80_000 // LONG]
                below.plot(np.arange(len(first)) * LONG, first, color=colour, lw=0.3)
        above.plot(edges, exact.pdf(edges), label="exact", **EXACT)
        above.set_title(f"h = {h:g}, A = {a:g}", fontsize=9)
        below.axhline(a + h * N_ROWS**2 / 10 * data.var() / 2, **EXACT)
        below.set_xlabel("transitions", fontsize=8)
    axes[0, 0].legend(fontsize=7, frameon=False)
    axes[0, 0].set_ylabel("density of the mean", fontsize=8)
    axes[1, 0].set_ylabel("thermostat (line: theory)", fontsize=8)
    save(figure, "gaussian_mean")


def draw_both(marginals: dict, kept: dict) -> None:
    """Draw the densities of mean and precision."""
    figure, axes = panels(2, len(SETTINGS))
    for row, (name, marginal) in zip(axes, marginals.items(), strict=True):
        edges = marginal.mean() + marginal.std() * np.linspace(-6, 6, 91)
        for ax, (h, a) in zip(row, SETTINGS, strict=True):
            for method, colour in (("SGHMC", "#D55E00"), ("SGNHT", "#0072B2")):
                values = kept[method, h, a][name]
                shares = np.histogram(values, bins=edges)[0] / values.size
                steps(ax, edges, shares, color=colour, label=method)
            ax.plot(edges, marginal.pdf(edges), label="exact", **EXACT)
            ax.set_title(f"h = {h:g}, A = {a:g}", fontsize=9)
        row[0].set_ylabel(f"density of {name}", fontsize=8)
    axes[0, 0].legend(fontsize=7, frameon=False)
    save(figure, "gaussian_mean_and_precision")


def main() -> None:
    quick = arguments(__doc__.splitlines()[0]).quick
    length, data = 40_000 if quick else LENGTH, make_data()
    mean_rows, inflation, pictures = mean_alone(data, length)
    marginals, kept, found, rows = posterior(data), {}, {}, []
    for name, (h, a), runs in chains(normal_gamma(data), length, BENCHMARK.seeds, N_STEPS):
        kept[name, h, a] = runs[0].draws
        each = [errors(run.draws, marginals, N_STEPS[h, a]) for run in runs]
        found[name, h, a] = {key: middle(one[key] for one in each) for key in each[0]}
        paper = PAPER[name[:5]][SETTINGS.index((h, a))]
        numbers = [f"{value:.3g}" for value in found[name, h, a].values()]
        rows.append([name, f"({h:g}, {a:g})", *paper, *numbers])
    header = ["method", "(h, A)", "error, paper", "time, paper", "densities", "single draws"]
    header += ["mean so far", "time of mu", "of gamma", "together", "mu + gamma"]
    table("Mean and precision: medians of three seeds", header, rows)
    mean_header = ["model", "method", "(h, A)", "variance / truth", "thermostat", "A + h V / 2"]
    table("Mean alone", mean_header, mean_rows)
    checks = checks_of(found, inflation)
    report(
        "gaussian_figures",
        checks,
        about=BENCHMARK,
        quick=quick,
        header=header,
        rows=rows,
        mean_header=mean_header,
        mean_rows=mean_rows,
    )
    if not quick:
        draw_mean(data, pictures)
        draw_both(marginals, kept)


def checks_of(found: dict, inflation: dict) -> list[Check]:
    """What was asked."""
    checks, factors = [], []
    for h, a in SETTINGS:
        ours, theirs = (found[name, h, a]["density"] for name in ("SGNHT", "SGHMC"))
        what = f"error of the densities, SGNHT, h={h:g}, A={a:g}"
        checks.append(Check(what, f"{ours:.3f}", f"< {theirs:.3f} of SGHMC", ours < theirs))
        for name in ("SGHMC", "SGNHT"):
            ratio = found[name, h, a]["together"] / PAPER[name][SETTINGS.index((h, a))][1]
            factors.append(f"{ratio:.2f}")
    inside = sum(0.5 <= float(factor) <= 2 for factor in factors)
    what = "times of mu and gamma together, over the paper's"
    checks.append(Check(what, ", ".join(factors), "0.5 to 2 in all eight", inside == 8))
    values = [inflation["SGNHT", h, a] for h, a in SETTINGS]
    good = all(abs(value - 1) <= 0.1 for value in values)
    text = ", ".join(f"{value:.3f}" for value in values)
    checks.append(Check("variance of the mean alone, SGNHT", text, "1 +- 0.1", good))
    return checks


if __name__ == "__main__":
    main()

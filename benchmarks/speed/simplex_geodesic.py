#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Geodesic samplers and SGRLD on Dirichlet(alpha): bias, and effective samples a second.

For every sampler a grid of step sizes is run; the figure that counts is the speed at the largest
step size whose bias is small. Biases and effective sizes come from M chains in one kernel: the
variance of M averages over time needs no estimate of autocorrelations. Seconds are those of one
chain of its own.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
import pymc as pm

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import set_step_size

BENCHMARK = Benchmark(
    question="Which sampler is fastest on Dirichlet distributions, among settings that are right?",
    asked=(
        "SGGMC and gSGNHT have a step size within 3 per cent of the exact variance for every "
        "target; GMC is within 4 standard errors."
    ),
    fixed="2026-11-21",
    seeds=tuple(range(16)),
    measures=("algorithms", "manifolds"),
)

ALPHAS, SIZES = (0.6, 1.0, 5.0, 20.0), (2, 10, 200)
N_CHAINS = {2: 100, 10: 100, 200: 16}
# Of the variance, relative.
SMALL_BIAS = 0.03
# Transitions a draw. Only draws are averaged, so it must be short beside the autocorrelation time:
# exact transitions and whole trajectories are nearly independent.
N_STEPS, N_EXACT, N_TRAJECTORIES = 20, 2, 4


def built(method, step_size: float, model: pm.Model, n_steps: int = N_STEPS, **options):
    return method(model=model, step_size=step_size, n_steps=n_steps, **options)


def samplers(size: int) -> dict:
    """Names, builders and step sizes; a geodesic step is per radian, SGRLD's per unit of theta."""
    shortest = 1 / np.sqrt(size * max(ALPHAS))
    lengths = tuple(float(f"{c * shortest:.3g}") for c in (2.0, 1.0, 0.5, 0.25, 0.12))
    return {
        "SGGMC": (
            lambda s, m: built(pmg.SGGMC, s, m, friction=0.5 / shortest),
            lengths,
        ),
        "gSGNHT": (
            lambda s, m: built(pmg.gSGNHT, s, m, diffusion=0.5 / shortest, thermostat="per_point"),
            lengths,
        ),
        "SGRLD, euler": (
            lambda s, m: built(pmg.SGRLD, s, m, variance_reduction=None),
            (0.5, 0.1, 0.02, 0.004),
        ),
        "SGRLD, cir": (
            lambda s, m: built(pmg.SGRLD, s, m, dynamics="cir", n_steps=N_EXACT),
            (3.0, 1.0),
        ),
    }


def probabilities(value: np.ndarray) -> np.ndarray:
    x = np.concatenate([value, -value.sum(axis=-1, keepdims=True)], axis=-1)
    x = np.exp(x - x.max(axis=-1, keepdims=True))
    return x / x.sum(axis=-1, keepdims=True)


def chain(step, draws: int, discard: int, seed: int = 1):
    """Averages over time of p and of p^2, with the shape of the variable."""
    step.setup_chain(np.random.default_rng(seed), 0, draws)
    point = step.model.initial_point()
    [name] = point
    first = second = 0.0
    for draw in range(discard + draws):
        point, _ = step.step(point)
        if draw >= discard:
            p = probabilities(point[name])
            first, second = first + p / draws, second + p**2 / draws
    return first, second


def figures(first: np.ndarray, second: np.ndarray, alpha: float, transitions: int) -> dict:
    """Biases with errors, and effective samples a transition; arrays are ``(chain, K)``."""
    size = first.shape[-1]
    mean = 1 / size
    variance = mean * (1 - mean) / (alpha * size + 1)
    # The entries have the same law: their average is a better estimate of the variance.
    spread = (second - 2 * mean * first + mean**2).mean(axis=-1)
    n_chains = len(first)
    # The mean of all entries is exact for symmetry's sake; one entry's tells the speed.
    speed = variance / (((first - mean) ** 2).mean())
    error = spread.std(ddof=1) / variance / np.sqrt(n_chains)
    return {
        "bias": float(spread.mean() / variance - 1),
        "error": float(error),
        "ess": float(speed / transitions),
    }


def dirichlet(shape: tuple[int, ...], alpha) -> pm.Model:
    with pm.Model() as model:
        pm.Dirichlet("p", np.broadcast_to(alpha, shape).copy())
    return model


def microseconds(build, step_size: float, size: int) -> float:
    """Time of a transition of one chain."""
    step = build(step_size, dirichlet((size,), 1.0))
    step.setup_chain(np.random.default_rng(1), 0, 1)
    point = step.model.initial_point()
    times = []
    for _ in range(60):
        start = time.perf_counter()
        point, _ = step.step(point)
        times.append(time.perf_counter() - start)
    return float(np.median(times) / step.sampler.settings.n_steps * 1e6)


def by_gmc(alpha: float, size: int, seeds: int, draws: int):
    """GMC tests a whole variable at once: chains one after another, tuned to its target."""
    step = pmg.GMC(model=dirichlet((size,), alpha), n_leapfrog=10, n_steps=N_TRAJECTORIES)
    found, seconds, rates = [], 0.0, []
    point = step.model.initial_point()
    [name] = point
    for seed in range(seeds):
        tune = 300
        step.setup_chain(np.random.default_rng(seed), tune, draws)
        point = step.model.initial_point()
        first = second = 0.0
        for draw in range(tune + draws):
            if draw == tune:
                step.stop_tuning()
                start = time.perf_counter()
            point, [stats] = step.step(point)
            if draw >= tune:
                p = probabilities(point[name])
                first, second = first + p / draws, second + p**2 / draws
                rates.append(stats["acceptance_rate"])
        seconds += time.perf_counter() - start
        found.append((first, second))
    first, second = (np.array(part) for part in zip(*found, strict=True))
    n = draws * N_TRAJECTORIES
    return first, second, n, seconds / (seeds * n) * 1e6, float(np.mean(rates)), stats["step_size"]


def main() -> None:
    warnings.simplefilter("ignore", UserWarning)
    quick = arguments(__doc__.splitlines()[0]).quick
    draws = 60 if quick else 200
    rows, best, checks = [], {}, []
    for size in SIZES:
        n_chains = N_CHAINS[size]
        alphas = np.array(ALPHAS)[:, None, None]
        model = dirichlet((len(ALPHAS), n_chains, size), alphas)
        for name, (build, step_sizes) in samplers(size).items():
            step = build(step_sizes[0], model)
            micros = microseconds(build, step_sizes[0], size)
            for step_size in step_sizes:
                set_step_size(step, step_size)
                moments = chain(step, draws, draws // 3)
                for i, alpha in enumerate(ALPHAS):
                    found = figures(
                        *(m[i] for m in moments), alpha, draws * step.sampler.settings.n_steps
                    )
                    per_second = found["ess"] / micros * 1e6
                    row = [size, alpha, name, f"{step_size:g}", 100 * found["bias"]]
                    row += [100 * found["error"], micros, per_second]
                    rows.append(row)
                    if abs(found["bias"]) <= SMALL_BIAS + 2 * found["error"]:
                        key = (size, alpha, name)
                        if key not in best or per_second > best[key][-1]:
                            best[key] = row
            print(size, name, flush=True)
        for alpha in ALPHAS:
            seeds, gmc_draws = (8, 100) if quick else (16, 200)
            *moments, n, micros, rate, step_size = by_gmc(alpha, size, seeds, gmc_draws)
            found = figures(*moments, alpha, n)
            row = [size, alpha, "GMC", f"{step_size:.3g}, accepts {rate:.2f}"]
            row += [100 * found["bias"], 100 * found["error"], micros, found["ess"] / micros * 1e6]
            rows.append(row)
            best[size, alpha, "GMC"] = row
            z = abs(found["bias"]) / found["error"]
            name = f"GMC, K = {size}, alpha = {alpha}: variance"
            checks.append(Check(name, f"{z:.1f} MCSE", "<= 4", z <= 4))
        print(size, "GMC", flush=True)

    header = ["K", "alpha", "sampler", "step size", "bias of the variance (%)", "its error"]
    header += ["us a transition", "effective samples a second"]
    table("all runs", header, rows)
    names = [*samplers(2), "GMC"]
    choice = []
    for size in SIZES:
        for alpha in ALPHAS:
            choice.append([size, alpha])
            for name in names:
                row = best.get((size, alpha, name))
                choice[-1].append(
                    "none" if row is None else f"{row[-1]:.3g} ({row[3].split(',')[0]})"
                )
            for name in ("SGGMC", "gSGNHT"):
                row = best.get((size, alpha, name))
                checks.append(
                    Check(
                        f"{name}, K = {size}, alpha = {alpha}: a step with a small bias",
                        "none" if row is None else f"{row[4]:.1f} +- {row[5]:.1f} % at {row[3]}",
                        f"within {100 * SMALL_BIAS:g} % + 2 MCSE",
                        row is not None,
                    )
                )
    title = "effective samples a second (step size) at a bias of the variance within 3 %"
    table(title, ["K", "alpha", *names], choice)
    report(
        "simplex_geodesic",
        checks,
        about=BENCHMARK,
        quick=quick,
        header=header,
        rows=rows,
        choice=choice,
    )


if __name__ == "__main__":
    main()

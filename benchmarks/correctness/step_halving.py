#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Do the intervals of coupled step halving cover biases that are known, and at what cost?

The biases on normals are exact, that of SGHMC with minibatches by a Lyapunov equation. That on a
sphere is the difference of a long run of many points from the exact mean.
"""

from __future__ import annotations

import time

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pymc as pm

from scipy.linalg import solve_discrete_lyapunov
from scipy.special import ive

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import sample
from benchmarks.harness.statistics import mcse, median_and_range
from pymc_geodesic.diagnostics.extrapolation import extrapolated, statistics_of

BENCHMARK = Benchmark(
    question="Do the intervals of coupled step halving cover known biases, and at what cost?",
    asked=(
        "90 per cent intervals cover the bias in 90 per cent of 200 runs, within three standard "
        "errors (84 to 96 per cent); a tenth of the cost of independent runs with intervals of the "
        "same width."
    ),
    fixed="2026-11-22",
    seeds=(2026, 2027, 2028),
)

RUNS, COVERAGE = 200, (0.84, 0.96)
# Two pairs of chains are a run.
PAIRS, DRAWS, TUNE, PROBABILITY = 2, 250, 30, 0.9
ROWS, BATCH, ROW_SD = 400, 200, 2.0
POINTS, KAPPA = 3000, 2.0


class Case(NamedTuple):
    """A model with a step, a function of its draws, the order of its bias, and the bias."""

    model: pm.Model
    step: Any
    function: Callable
    order: int
    bias: float
    bias_error: float


def variance(step_size: float, friction: float, *, precision: float, noise: float) -> float:
    """Exact variance of SGHMC on a normal: A, B, O, B, A are linear in position and velocity."""
    h = friction * step_size / 2
    drift, damp = np.array([[1, step_size / 2], [0, 1]]), np.diag([1, np.exp(-h)])
    kick = np.array([[1, 0], [-step_size * np.cosh(h) * precision, 1]])
    injected = 2 * np.sinh(2 * h) + (step_size * np.cosh(h)) ** 2 * noise
    from_kick = (drift @ damp)[:, 1]
    matrix = drift @ damp @ kick @ damp @ drift
    return solve_discrete_lyapunov(matrix, injected * np.outer(from_kick, from_kick))[0, 0]


def langevin(step_size: float) -> Case:
    """The mean square of a standard normal, 1 / (1 - h / 4) by SGLD with exact gradients."""
    with pm.Model() as model:
        pm.Normal("x")
        step = pmg.SGLD(step_size=step_size, variance_reduction=None, n_steps=20)
    bias = 1 / (1 - step_size / 4) - 1
    return Case(model, step, lambda draws: draws["x"] ** 2, 1, bias, 0.0)


def minibatches(step_size: float) -> Case:
    """The variance of a mean, which the noise of batches increases: a bias of order one."""
    data, friction = np.random.default_rng(1).normal(0.0, ROW_SD, ROWS), 20.0
    with pm.Model() as model:
        x = pm.Normal("x", 0.0, 100.0)
        batch = pm.Minibatch(data, batch_size=BATCH)
        pm.Normal("y", x, ROW_SD, observed=batch, total_size=ROWS)
        step = pmg.SGHMC(step_size=step_size, friction=friction, n_steps=10)
    precision = ROWS / ROW_SD**2 + 1e-4
    center, scale = data.sum() / ROW_SD**2 / precision, precision**-0.5
    noise = ROWS**2 / BATCH * data.var() / ROW_SD**4
    bias = variance(step_size, friction, precision=precision, noise=noise) / scale**2 - 1
    return Case(model, step, lambda draws: ((draws["x"] - center) / scale) ** 2, 1, bias, 0.0)


def sphere(step: Callable[..., Any], step_size: float, *, draws: int, **options: Any) -> Case:
    """The mean direction of a von Mises-Fisher distribution, with exact gradients."""
    options |= {"step_size": step_size, "n_steps": round(2 / step_size)}
    mu = np.eye(3)[0]
    with pm.Model() as many:
        x = pmg.VonMisesFisher("x", mu=mu, kappa=KAPPA, shape=(POINTS, 3))
        pm.Deterministic("mean", x[:, 0].mean())
    each = {"thermostat": "per_point"} if "diffusion" in options else {}
    run = sample(
        many,
        lambda: step(**options, **each),
        draws=draws,
        tune=50,
        chains=1,
        random_seed=1000,
        var_names=["mean"],
    )
    exact = ive(1.5, KAPPA) / ive(0.5, KAPPA)
    with pm.Model() as model:
        pmg.VonMisesFisher("x", mu=mu, kappa=KAPPA)
        one = step(**options)
    found = run.draws["mean"]
    bias = float(found.mean() - exact)
    return Case(model, one, lambda draws: draws["x"][..., 0], 2, bias, mcse(found))


def measured(
    case: Case, n_runs: int, *, coupled: bool, draws: int, seed: int
) -> dict[str, np.ndarray]:
    """Return the interval of each of many runs, and processor seconds of a run.

    All pairs move together, which is cheaper; a run is two of them. The kernel is compiled before.
    """

    def halved(n_draws: int) -> tuple[list[np.ndarray], float]:
        start = time.process_time()
        result = pmg.step_halving(
            case.model,
            case.step,
            draws=n_draws,
            tune=TUNE,
            chains=PAIRS * n_runs,
            coupled=coupled,
            random_seed=seed,
        )
        seconds = (time.process_time() - start) / n_runs
        found = [case.function(run["posterior"].to_dataset()).to_numpy() for run in result.runs]
        return [x.reshape(n_runs, PAIRS, -1) for x in found], seconds

    halved(2)
    arrays, seconds = halved(draws)
    rows = [
        extrapolated(
            next(statistics_of(*pair, with_sd=False)), order=case.order, probability=PROBABILITY
        )
        for pair in zip(*arrays, strict=True)
    ]
    kept = {name: [row[name] for row in rows] for name in ("bias", "bias_low", "bias_high")}
    return {name: np.array(x) for name, x in kept.items()} | {"seconds": np.array(seconds)}


class Compared(NamedTuple):
    """Intervals of many coupled runs beside those of independent ones.

    Attributes
    ----------
    covered : float
        Share of the coupled ones that hold the true bias.
    cost : float
        Seconds of a coupled run over those of an independent one with an interval of its width,
        which is longer by the square of the ratio of widths.
    """

    covered: float
    cost: float
    estimate: float
    half_width: float
    variance: float


def compared(case: Case, n_runs: int, *, draws: int, seed: int) -> Compared:
    """Measure both sides."""
    options = {"draws": draws, "seed": seed}
    coupled = measured(case, n_runs, coupled=True, **options)
    apart = measured(case, n_runs, coupled=False, **options)
    covered = np.mean((coupled["bias_low"] < case.bias) & (case.bias < coupled["bias_high"]))
    widths = [float(np.median(x["bias_high"] - x["bias_low"])) for x in (coupled, apart)]
    cost = (coupled["seconds"] / apart["seconds"]) * (widths[0] / widths[1]) ** 2
    variance = coupled["bias"].var(ddof=1) / apart["bias"].var(ddof=1)
    estimate = float(coupled["bias"].mean())
    return Compared(float(covered), float(cost), estimate, widths[0] / 2, float(variance))


def checked(name: str, found: list[Compared]) -> list[Check]:
    """Compare every seed with what is asked."""
    shares, costs = [one.covered for one in found], [one.cost for one in found]
    covers = all(COVERAGE[0] <= share <= COVERAGE[1] for share in shares)
    asked = f"{COVERAGE[0]} to {COVERAGE[1]}"
    share, cost = median_and_range(shares, ".3f"), median_and_range(costs, ".3f")
    return [
        Check(f"{name}: share of intervals that cover", share, asked, covers),
        Check(f"{name}: cost over independent runs", cost, "<= 0.1", max(costs) <= 0.1),
    ]


def main() -> None:
    quick = arguments(__doc__).quick
    runs, draws = (3, 50) if quick else (RUNS, DRAWS)
    seeds = BENCHMARK.seeds[:1] if quick else BENCHMARK.seeds
    long = 50 if quick else 1500
    cases = {
        "SGLD, normal": lambda: langevin(0.2),
        "SGHMC, normal, minibatches": lambda: minibatches(0.02),
        "SGGMC, vMF n=3 kappa=2": lambda: sphere(pmg.SGGMC, 0.3, draws=long, friction=2.0),
        "gSGNHT, vMF n=3 kappa=2": lambda: sphere(pmg.gSGNHT, 0.2, draws=long, diffusion=2.0),
    }
    rows, checks = [], []
    for name, build in cases.items():
        case = build()
        found = [compared(case, runs, draws=draws, seed=seed) for seed in seeds]
        for seed, one in zip(seeds, found, strict=True):
            rows.append([name, seed, case.bias, case.bias_error, one.estimate, one.half_width])
            rows[-1] += [one.covered, one.cost, one.variance]
            print(*rows[-1], flush=True)
        checks += checked(name, found)
    header = ["case", "seed", "bias", "its error", "mean estimate", "half width", "covered", "cost"]
    header += ["variance over independent"]
    table("Coupled step halving", header, rows)
    report("step_halving", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)


if __name__ == "__main__":
    main()

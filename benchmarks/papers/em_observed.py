#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Riemannian HMC with the expected and with the observed information, beside HMC and HMC-EM.

The Gaussian of Roychowdhury and Parthasarathy (2017). The observed information is not positive
definite everywhere; mici's SoftAbs metric takes the absolute values of its eigenvalues, a rule that
the poster does not state. In a logistic regression both informations are the same.
"""

from __future__ import annotations

import time
import warnings

import numpy as np

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import SamplingClock, sample
from benchmarks.papers.em_tables import (
    N_ROWS,
    WEIGHTS,
    Case,
    Riemannian,
    ess,
    expected_information,
    gaussian,
    gaussian_data,
    hmc,
    logistic,
)

BENCHMARK = Benchmark(
    question=(
        "Roychowdhury and Parthasarathy (2017): does the observed information change the table?"
    ),
    asked=(
        "Means within 4 standard errors; errors of single draws within 5 per cent of the exact "
        "posterior's, for all four methods; Riemannian HMC at least 8 times HMC-EM's time with "
        "either information."
    ),
    fixed="2026-11-22",
    seeds=(1, 2, 3),
)


def observed_information(case: Case, counted) -> object:
    """Return mici's system whose metric is the observed information, made positive by SoftAbs."""
    import mici

    data = gaussian_data()

    def sums(q):
        residual = data - q[0]
        spread = 0.5 * (residual @ residual + q[0] ** 2) + 1
        return residual.sum() - q[0], spread, np.exp(q[1])

    def hessian(q):
        slope, spread, tau = sums(q)
        return tau * np.array([[N_ROWS + 1.0, -slope], [-slope, spread]])

    def third(q):
        slope, spread, tau = sums(q)
        second = tau * np.array([[N_ROWS + 1.0, -slope], [-slope, spread]])

        def product(m):
            by_mu = tau * ((m[0, 1] + m[1, 0]) * (N_ROWS + 1) - m[1, 1] * slope)
            return np.array([by_mu, (m * second).sum()])

        return product

    energy, gradient = (counted(f) for f in (case.posterior.energy, case.posterior.gradient))
    return mici.systems.SoftAbsRiemannianMetricSystem(
        energy,
        grad_neg_log_dens=gradient,
        hess_neg_log_dens=counted(hessian),
        mtp_neg_log_dens=counted(third),
    )


def riemannian_draws(case: Case, make_system, draws: int) -> tuple[np.ndarray, float, float]:
    """Draws ``(chain, draw, 2)``, acceptance and processor milliseconds an iteration."""
    sampler, chains, accepted = Riemannian(case, make_system), [], []
    start, tune = time.process_time(), draws // 10
    for seed in BENCHMARK.seeds:
        sampler.start(seed=seed)
        positions, rates = zip(*(sampler() for _ in range(tune + draws)), strict=True)
        chains.append(positions[tune:])
        accepted.append(rates[tune:])
    count = len(BENCHMARK.seeds) * (tune + draws)
    seconds = time.process_time() - start
    return case.constrain(np.array(chains)), float(np.mean(accepted)), 1e3 * seconds / count


def hmc_draws(case: Case, mass, draws: int) -> tuple[np.ndarray, float, float]:
    """The same by this package."""
    step, clock, runs = hmc(case, mass), SamplingClock(), []
    for seed in BENCHMARK.seeds:
        options = {"draws": draws, "tune": 1000, "chains": 1, "random_seed": seed}
        runs.append(sample(case.model, lambda: step, callback=clock, **options))
    found = np.concatenate([case.collect(run.draws) for run in runs])
    accepted = np.mean([run.stats["acceptance_rate"].mean() for run in runs])
    return found, float(accepted), 1e3 * clock.seconds / (len(runs) * draws)


def difference_of_informations() -> float:
    """Largest relative difference of Hessian and expected information in logistic regression."""
    posterior = logistic().posterior
    worst = 0.0
    for w in WEIGHTS + np.random.default_rng(1).normal(0, 0.5, (10, 2)):
        steps = 1e-5 * np.eye(2)
        gradients = [posterior.gradient(w + s) - posterior.gradient(w - s) for s in steps]
        expected = posterior.metric(w)
        worst = max(worst, float(np.abs(np.array(gradients) / 2e-5 / expected - 1).max()))
    return worst


def main() -> None:
    warnings.simplefilter("ignore", UserWarning)
    quick = arguments(__doc__.splitlines()[0]).quick
    case, draws = gaussian(), 200 if quick else 5000
    informations = {"expected": expected_information, "observed": observed_information}
    found = {
        "HMC": hmc_draws(case, None, draws),
        "HMC-EM": hmc_draws(case, pmg.MonteCarloEM(), draws),
    }
    for name, make_system in informations.items():
        found[f"Riemannian HMC, {name}"] = riemannian_draws(case, make_system, draws // 10)
    exact = np.sqrt(case.sd**2 + (case.mean - case.truth) ** 2)
    rows, checks = [], []
    for name, (values, accepted, milliseconds) in found.items():
        poster = case.published[min(list(found).index(name), 2)]
        error = np.sqrt(((values - case.truth) ** 2).mean(axis=(0, 1)))
        share = ess(values)
        n_effective = share * values[..., 0].size
        z = (values.mean(axis=(0, 1)) - case.mean) / (case.sd / np.sqrt(n_effective))
        numbers = [f"{value:.4f}" for pair in (error, poster[:2]) for value in pair]
        rows.append([name, *numbers, f"{milliseconds:.3g}", poster[2], f"{share:.2f}"])
        rows[-1] += [f"{accepted:.3f}", f"{np.abs(z).max():.1f}"]
        worst, off = float(np.abs(z).max()), float(np.abs(error / exact - 1).max())
        checks.append(Check(f"{name}: means, in MCSE", f"{worst:.1f}", "<= 4", worst <= 4))
        what = f"{name}: errors of single draws, from those of the exact posterior"
        checks.append(Check(what, f"{off:.1%}", "<= 5 %", off <= 0.05))
    for name in informations:
        ratio = found[f"Riemannian HMC, {name}"][2] / found["HMC-EM"][2]
        what = f"Riemannian HMC, {name}, over HMC-EM, time"
        checks.append(Check(what, f"{ratio:.1f}", ">= 8", ratio >= 8))
    worst = difference_of_informations()
    what = "logistic regression: the two informations differ by, relative"
    checks.append(Check(what, f"{worst:.0e}", "<= 1e-6", worst <= 1e-6))
    rows.append(["exact posterior", *(f"{value:.4f}" for value in exact), *[""] * 7])
    header = ["method", "RMSE mu", "RMSE tau", "poster mu", "poster tau", "CPU ms", "poster ms"]
    header += ["ESS a draw", "accepts", "largest z"]
    table("Gaussian, three chains", header, rows)
    report("em_observed", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)


if __name__ == "__main__":
    main()

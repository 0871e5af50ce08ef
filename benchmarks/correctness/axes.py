#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Axial data of random signs: posteriors of Watson and Bingham models beside maximum likelihood.

A posterior of many rows is normal about the maximum of the likelihood, with the inverse of the
Fisher information as its covariance.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import sample
from benchmarks.harness.statistics import effective_samples, median_and_range
from pymc_geodesic.distributions.bingham_constant import bingham_log_normalizer
from pymc_geodesic.distributions.watson import watson_log_normalizer

BENCHMARK = Benchmark(
    question="Do posteriors of Watson and Bingham models agree with maximum likelihood?",
    asked=(
        "Means within 0.1 sd, standard deviations within 5 per cent of those of the Fisher "
        "information."
    ),
    fixed="2026-11-22",
    seeds=(1, 2, 3),
)

N_ROWS, BATCH = 10_000, 200
LARGEST_SHIFT, LARGEST_RATIO = 0.1, 0.05
PRIOR = 1e3


def symmetric(entries, n: int):
    """Write entries of the upper triangle, all but the last, which is zero, as a matrix."""
    rows, columns = np.triu_indices(n)
    matrix = pt.zeros((n, n))
    for k, (i, j) in enumerate(zip(rows[:-1], columns[:-1], strict=True)):
        matrix = pt.set_subtensor(matrix[i, j], entries[k])
        if i != j:
            matrix = pt.set_subtensor(matrix[j, i], entries[k])
    return matrix


def watson(n: int, kappa: float) -> tuple[pm.Model, Callable, np.ndarray, np.ndarray]:
    """Model, what to compare of its draws, and the mean and deviation that it should have."""
    mu = np.arange(1.0, n + 1) / np.linalg.norm(np.arange(1.0, n + 1))
    data = pm.draw(pmg.Watson.dist(mu, kappa, size=N_ROWS), random_seed=1, mode="FAST_COMPILE")
    with pm.Model() as model:
        batch = pm.Minibatch(data, batch_size=BATCH)
        axis = pmg.Watson("axis", np.eye(n)[-1], 0.0)
        strength = pm.Normal("kappa", 0.0, PRIOR, initval=np.sign(kappa))
        pmg.Watson("x", axis, strength, observed=batch, total_size=N_ROWS)
    fit = pmg.fit_watson(data)
    shares, vectors = np.linalg.eigh(data.T @ data / N_ROWS)
    own = np.argmax(np.abs(vectors.T @ fit.mu))
    across = np.delete(np.arange(n), own)
    k = pt.scalar()
    curvature = -pt.grad(pt.grad(watson_log_normalizer(n, k), k), k)
    information = N_ROWS * curvature.eval({k: fit.kappa}, mode="FAST_COMPILE")
    spread = 2 * fit.kappa * N_ROWS * (shares[own] - shares[across])
    sd = 1 / np.sqrt(np.append(spread, information))

    def compare(draws):
        # Products with the cosine do not depend on signs.
        parts = draws["axis"] @ vectors
        tangent = parts[..., across] * np.sign(parts[..., own : own + 1])
        return np.concatenate([tangent, draws["kappa"][..., None]], -1)

    return model, compare, np.append(np.zeros(n - 1), fit.kappa), sd


def bingham(n: int, scale: float) -> tuple[pm.Model, Callable, np.ndarray, np.ndarray]:
    """As :func:`watson`, for a matrix of which every entry is free."""
    frame = np.linalg.qr(np.random.default_rng(n).normal(size=(n, n)))[0]
    A = (frame * np.linspace(-scale, 0, n)) @ frame.T
    data = pm.draw(pmg.Bingham.dist(A, size=N_ROWS), random_seed=1, mode="FAST_COMPILE")
    with pm.Model() as model:
        batch = pm.Minibatch(data, batch_size=BATCH)
        entries = pm.Normal("entries", 0.0, PRIOR, shape=n * (n + 1) // 2 - 1)
        pmg.Bingham("x", symmetric(entries, n), observed=batch, total_size=N_ROWS)
    fit = pmg.fit_bingham(data).A
    best = (fit - fit[-1, -1] * np.eye(n))[np.triu_indices(n)][:-1]
    x = pt.vector("entries", shape=best.shape)
    gradient = pt.grad(bingham_log_normalizer(symmetric(x, n)), x)
    slope = pytensor.function([x], gradient, mode="FAST_COMPILE")
    step = 1e-4 * scale
    information = np.stack(
        [(slope(best - e) - slope(best + e)) / (2 * step) for e in step * np.eye(len(best))]
    )
    sd = np.sqrt(np.diag(np.linalg.inv(N_ROWS * information)))
    return model, lambda draws: draws["entries"], best, sd


CASES = {
    "Watson, bipolar, n = 3": (watson, 3, 8.0),
    "Watson, girdle, n = 3": (watson, 3, -8.0),
    "Watson, bipolar, n = 10": (watson, 10, 30.0),
    "Bingham, n = 3": (bingham, 3, 10.0),
    "Bingham, quaternions": (bingham, 4, 20.0),
}


def errors(found: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> tuple[float, float, float]:
    """Return the largest shift in sd, the ratio of sds farthest from one, and the least ESS."""
    flat = found.reshape(-1, found.shape[-1])
    shift, ratio = np.abs(flat.mean(0) - mean) / sd, flat.std(0) / sd
    farthest = ratio[np.argmax(np.abs(ratio - 1))]
    return float(shift.max()), float(farthest), effective_samples(found)


def main() -> None:
    quick = arguments(__doc__).quick
    draws, chains = (200, 2) if quick else (4000, 2)
    rows, checks = [], []
    for name, (build, n, strength) in CASES.items():
        model, compare, mean, sd = build(n, strength)
        with model:
            step = pmg.gSGNHT()
        options = {"draws": draws, "tune": 1000, "chains": chains}
        runs = [
            sample(model, lambda step=step: step, random_seed=seed, **options)
            for seed in BENCHMARK.seeds
        ]
        shifts, ratios, sizes = zip(
            *(errors(compare(run.draws), mean, sd) for run in runs), strict=True
        )
        shift, ratio = median_and_range(shifts, ".3f"), median_and_range(ratios, ".3f")
        rows.append([name, shift, ratio, min(sizes), sum(run.seconds for run in runs)])
        print(rows[-1], flush=True)
        checks += [
            Check(
                f"{name}: largest shift in sd",
                shift,
                f"<= {LARGEST_SHIFT}",
                max(shifts) <= LARGEST_SHIFT,
            ),
            Check(
                f"{name}: worst ratio of sds",
                ratio,
                f"1 +- {LARGEST_RATIO}",
                max(abs(value - 1) for value in ratios) <= LARGEST_RATIO,
            ),
        ]
    header = ["case", "largest shift in sd", "worst sd ratio", "least ESS", "seconds"]
    table(f"{N_ROWS:,} axes in batches of {BATCH}, medians and ranges of seeds", header, rows)
    report("axes", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)


if __name__ == "__main__":
    main()

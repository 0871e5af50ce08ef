#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Mixtures of von Mises-Fisher distributions of embeddings with 768 entries, beside EM.

Twelve clusters as those of sentences: all near a common direction, in groups of neighbours,
of unequal weights and concentrations. ``pmg.sample(model=model)`` has no ``initvals``. EM runs from
ten clusterings, and the best by likelihood is taken.

    python -m benchmarks.correctness.embeddings [--quick]
"""

from __future__ import annotations

import logging
import resource
import time

from typing import Any

import numpy as np
import pymc as pm

from scipy.special import ive, logsumexp

import pymc_geodesic as pmg

from benchmarks.correctness.direction_mixtures import Mixture, predictive
from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report

BENCHMARK = Benchmark(
    question="Does a mixture of 20,000 embeddings without a start predict as well as EM?",
    asked=(
        "Held-out rows at least as likely as by the best of ten starts of EM, in every seed; every "
        "cluster found (a mean direction within a cosine of .99)."
    ),
    fixed="2026-11-27",
    seeds=(1, 2, 3),
)

N_ENTRIES, N_ROWS, N_UNSEEN = 768, 20_000, 10_000
K, N_GROUPS = 12, 5
N_STARTS, MOST_ITERATIONS, SETTLED = 10, 100, 1e-5
# Cosines of a cluster's mean with the direction that is common to all, and that of its group.
COMMON, GROUP = 0.5, 0.75
COSINE = 0.99


def clusters(k: int, rng: np.random.Generator) -> Mixture:
    """Draw clusters: Zipf weights, and mean cosines of rows with their cluster of .45 to .75."""

    def unit(x):
        return x / np.linalg.norm(x, axis=-1, keepdims=True)

    common, groups, own = (unit(rng.normal(size=(n, N_ENTRIES))) for n in (1, N_GROUPS, k))
    group = groups[rng.integers(N_GROUPS, size=k)]
    left = np.sqrt(1 - COMMON**2 - GROUP**2)
    mean = unit(COMMON * common + GROUP * group + left * own)
    weights = rng.permutation(1.0 / (3 + np.arange(k)))
    length = rng.uniform(0.45, 0.75, k)
    return Mixture(weights / weights.sum(), mean, concentration(length))


def concentration(length: np.ndarray) -> np.ndarray:
    """Return the concentrations that give mean resultant lengths, by Newton's method."""
    kappa = length * (N_ENTRIES - length**2) / (1 - length**2)
    half = N_ENTRIES / 2 - 1
    for _ in range(3):
        ratio = ive(half + 1, kappa) / ive(half, kappa)
        slope = 1 - ratio**2 - (N_ENTRIES - 1) / kappa * ratio
        kappa = kappa - (ratio - length) / slope
    return kappa


def drawn(truth: Mixture, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw rows, in the precision in which embeddings come."""
    labels = rng.choice(len(truth.w), size=n, p=truth.w)
    first = np.eye(N_ENTRIES)[0]
    rows = pmg.VonMisesFisher.dist(first, truth.kappa[labels])
    x = pm.draw(rows, random_seed=rng).astype("float32")
    for k, mean in enumerate(truth.mu):
        # Reflect the first axis onto the mean.
        v, chosen = (first - mean).astype("float32"), labels == k
        x[chosen] -= np.outer(x[chosen] @ v, 2 * v / (v @ v))
    return x


def by_em(x: np.ndarray, k: int) -> Mixture:
    """Maximise the likelihood of all rows from ten starts."""
    best, most = None, -np.inf
    for start in range(N_STARTS):
        directions = pmg.initial_directions(x, k, random_seed=start).astype(x.dtype)
        shares = np.eye(k, dtype=x.dtype)[(x @ directions.T).argmax(axis=1)]
        before = -np.inf
        for _ in range(MOST_ITERATIONS):
            counts, sums = shares.sum(axis=0), (shares.T @ x).astype(float)
            lengths = np.linalg.norm(sums, axis=1)
            kappa = concentration(np.clip(lengths / counts, 0.05, 0.99))
            found = Mixture(counts / len(x), sums / lengths[:, None], kappa)
            logs = found.logs(x)
            total = logsumexp(logs, axis=1, keepdims=True)
            shares, score = np.exp(logs - total).astype(x.dtype), float(total.mean())
            if score - before < SETTLED:
                break
            before = score
        if score > most:
            best, most = found, score
    return best


def model_of(x: np.ndarray, k: int) -> pm.Model:
    """Write the mixture as a user would, with a flat prior of directions."""
    with pm.Model() as model:
        w = pm.Dirichlet("w", np.ones(k))
        mu = pmg.SphericalUniform("mu", shape=(k, N_ENTRIES))
        kappa = pm.HalfNormal("kappa", 1_000.0, shape=k)
        components = pmg.VonMisesFisher.dist(mu, kappa)
        pm.Mixture("x", w=w, comp_dists=components, observed=x)
    return model


def n_found(truth: Mixture, mu: np.ndarray) -> int:
    """Count the clusters that have a component."""
    return int(((truth.mu @ mu.T).max(axis=1) > COSINE).sum())


def line(seed: int, *, quick: bool) -> list[Any]:
    """Compare both on one set of data."""
    k, n = (8, 8_000) if quick else (K, N_ROWS)
    rng = np.random.default_rng(seed)
    truth = clusters(k, rng)
    x, unseen = drawn(truth, n, rng), drawn(truth, n if quick else N_UNSEEN, rng)
    began = time.process_time()
    best = by_em(x, k)
    of_em = time.process_time() - began
    of_best = best.score(unseen)
    began = time.process_time()
    idata = pmg.sample(
        200, tune=200, chains=2, model=model_of(x, k), random_seed=seed, progressbar=False
    )
    seconds = time.process_time() - began
    draws = {name: idata.posterior[name].values for name in Mixture._fields}
    ours = predictive(draws, unseen)
    mean = draws["mu"].mean(axis=(0, 1))
    mean /= np.linalg.norm(mean, axis=1, keepdims=True)
    found = n_found(truth, mean), n_found(truth, best.mu)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return [str(seed), of_em, seconds, megabytes, *found, of_best, ours - of_best]


def main() -> None:
    quick = arguments(__doc__.splitlines()[0]).quick
    logging.getLogger("pymc").setLevel(logging.INFO if quick else logging.WARNING)
    rows = []
    for seed in BENCHMARK.seeds[:1] if quick else BENCHMARK.seeds:
        rows.append(line(seed, quick=quick))
        print(*rows[-1], sep=" | ", flush=True)
    gaps, k = [row[-1] for row in rows], 8 if quick else K
    told = f"{np.median(gaps):+.3f} ({min(gaps):+.3f} to {max(gaps):+.3f})"
    what = "nats per held-out row above the best of ten starts of EM"
    least = min(row[4] for row in rows)
    checks = [
        Check(what, told, "at least 0", min(gaps) >= 0),
        Check(f"clusters found of {k}", f"{least} at least", f"all {k}", least == k),
    ]
    header = ["seed", "EM, CPU s", "draws, CPU s", "MB", "found", "by EM", "EM", "difference"]
    table("Nats per held-out row", header, rows)
    report("embeddings", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)


if __name__ == "__main__":
    main()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Mixtures of four von Mises-Fisher distributions by default arguments, beside EM.

``pmg.sample(model=model)`` has no `initvals`: tuning has to find the components. EM runs from ten
clusterings and the best by likelihood is taken. Asked for: the predictive log density of held-out
rows within 0.01 nats of that of EM, in every seed.

    python -m benchmarks.correctness.direction_mixtures [--quick]
"""

from __future__ import annotations

import logging
import time

from typing import Any, NamedTuple

import numpy as np
import pymc as pm

from scipy.optimize import brentq
from scipy.special import ive, logsumexp
from scipy.stats import vonmises_fisher

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import flat
from benchmarks.harness.statistics import effective_samples

BENCHMARK = Benchmark(
    question="Does a mixture of directions without a start predict as well as EM?",
    asked="Within 0.01 nats per held-out row, in every seed.",
    fixed="2026-11-25",
    seeds=(1, 2, 3),
)

N_ROWS, BATCH, ASKED = 20_000, 200, 0.01
WEIGHTS = np.array([0.4, 0.3, 0.2, 0.1])
K = len(WEIGHTS)
# More dimensions need more concentration for components that overlap as little.
KAPPA = {3: [30.0, 20.0, 10.0, 5.0], 10: [40.0, 30.0, 20.0, 15.0], 50: [120.0, 100.0, 80.0, 60.0]}
N_STARTS, N_ITERATIONS, N_POSTERIOR = 10, 300, 200


class Mixture(NamedTuple):
    """Weights, mean directions and concentrations."""

    w: np.ndarray
    mu: np.ndarray
    kappa: np.ndarray

    def logs(self, x: np.ndarray) -> np.ndarray:
        """Return the log density of each row in each component, with its weight."""
        half = x.shape[1] / 2 - 1
        constant = half * np.log(self.kappa) - (half + 1) * np.log(2 * np.pi)
        constant = constant - np.log(ive(half, self.kappa)) - self.kappa
        return np.log(self.w) + constant + x @ (self.kappa[:, None] * self.mu).T

    def score(self, x: np.ndarray) -> float:
        """Return the mean log density of rows."""
        return float(logsumexp(self.logs(x), axis=1).mean())


def data(n: int, seed: int) -> np.ndarray:
    """Draw unit vectors of n entries; the components are the same for each seed."""
    directions = np.random.default_rng(n).normal(size=(K, n))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(N_ROWS, WEIGHTS)
    parts = [
        vonmises_fisher(mu, kappa).rvs(count, random_state=rng)
        for mu, kappa, count in zip(directions, KAPPA[n], counts, strict=True)
    ]
    return rng.permutation(np.concatenate(parts))


def model_of(x: np.ndarray) -> pm.Model:
    """Write the mixture as a user would, with a flat prior of directions."""
    with pm.Model() as model:
        batch = pm.Minibatch(x, batch_size=BATCH)
        w = pm.Dirichlet("w", np.ones(K))
        mu = pmg.VonMisesFisher("mu", np.eye(x.shape[1])[0], 0.0, shape=(K, x.shape[1]))
        kappa = pm.HalfNormal("kappa", 100.0, shape=K)
        components = pmg.VonMisesFisher.dist(mu, kappa)
        pm.Mixture("x", w=w, comp_dists=components, observed=batch, total_size=len(x))
    return model


def maximised(shares: np.ndarray, x: np.ndarray) -> Mixture:
    """Return the mixture that is most likely for given shares of each row in each component."""
    counts, sums = shares.sum(axis=0), shares.T @ x
    lengths, half = np.linalg.norm(sums, axis=1), x.shape[1] / 2 - 1
    kappa = [
        brentq(lambda k, r=r: ive(half + 1, k) / ive(half, k) - r, 1e-6, 1e5)
        for r in lengths / counts
    ]
    return Mixture(counts / len(x), sums / lengths[:, None], np.array(kappa))


def by_em(x: np.ndarray) -> Mixture:
    """Maximise the likelihood of all rows from ten starts."""
    ends = []
    for start in range(N_STARTS):
        directions = pmg.initial_directions(x, K, random_seed=start)
        shares = np.eye(K)[(x @ directions.T).argmax(axis=1)]
        for _ in range(N_ITERATIONS):
            mixture = maximised(shares, x)
            logs = mixture.logs(x)
            shares = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
        ends.append(mixture)
    return max(ends, key=lambda mixture: mixture.score(x))


def predictive(draws: dict[str, np.ndarray], x: np.ndarray) -> float:
    """Return the mean log of the posterior's predictive density over all chains."""
    values = [draws[name].reshape(-1, *draws[name].shape[2:]) for name in Mixture._fields]
    chosen = np.linspace(0, len(values[0]) - 1, N_POSTERIOR).astype(int)
    logs = [logsumexp(Mixture(*(v[i] for v in values)).logs(x), axis=1) for i in chosen]
    return float(logsumexp(logs, axis=0, b=1 / N_POSTERIOR).mean())


def line(n: int, seed: int, *, quick: bool) -> list[Any]:
    """Compare both on one set of data; the gap in nats per row is the last entry."""
    x, unseen = data(n, seed), data(n, 100 + seed)
    began = time.process_time()
    best = by_em(x)
    of_em = time.process_time() - began
    options = {"draws": 100, "tune": 100} if quick else {}
    began = time.process_time()
    idata = pmg.sample(model=model_of(x), random_seed=seed, progressbar=False, **options)
    of_draws = time.process_time() - began
    draws = {name: idata.posterior[name].values for name in Mixture._fields}
    effective = effective_samples(flat(draws, ("w", "kappa")))
    gap = predictive(draws, unseen) - best.score(unseen)
    return [str(n), str(seed), of_em, of_draws, effective, best.score(unseen), gap]


def main() -> None:
    quick = arguments(__doc__).quick
    logging.getLogger("pymc").setLevel(logging.ERROR)
    seeds = BENCHMARK.seeds[:1] if quick else BENCHMARK.seeds
    rows = []
    for n in KAPPA:
        for seed in seeds:
            rows.append(line(n, seed, quick=quick))
            print(*rows[-1], sep=" | ", flush=True)
    checks = []
    for n in KAPPA:
        gaps = [row[-1] for row in rows if row[0] == str(n)]
        told = f"{np.median(gaps):+.4f} ({min(gaps):+.4f} to {max(gaps):+.4f})"
        what = f"{K} components in {n} dimensions: nats from EM, held out"
        checks.append(Check(what, told, f"within {ASKED}", max(map(abs, gaps)) <= ASKED))
    header = ["dimensions", "seed", "EM, CPU s", "draws, CPU s", "effective", "EM", "difference"]
    table(f"Nats per held-out row, {N_ROWS:,} rows in batches of {BATCH}", header, rows)
    report("direction_mixtures", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)


if __name__ == "__main__":
    main()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Metropolis tests from part of the data: how many rows they read for an effective draw.

Two methods, both beside the test with all rows and a stochastic-gradient sampler without a test:

TunaMH (Zhang, Cooper and De Sa 2020) is exact. It needs bounds :math:`|U_i(\theta') - U_i(\theta)|
\le c_i M(\theta, \theta')` of the terms of rows. With :math:`C = \sum_i c_i` it draws
:math:`s_i \sim \mathrm{Poisson}(a_i + \Delta_i / 2)` for :math:`a_i = \chi c_i C M^2 + c_i M / 2`
and :math:`\Delta_i = U_i(\theta') - U_i(\theta)`, and accepts with probability

.. math::

    \min\Bigl(1, \prod_i \Bigl[\frac{a_i - \Delta_i / 2}{a_i + \Delta_i / 2}\Bigr]^{s_i}\Bigr).

Moving back draws the same counts with probability :math:`\prod_i e^{\Delta_i}[\dots]^{s_i}` of that
of moving there, and :math:`\prod_i e^{\Delta_i}` is the inverse ratio of the posteriors: the test
leaves the posterior invariant. It reads :math:`\chi C^2 M^2 + C M` rows on average.

The austerity test (Korattikara, Chen and Welling 2014) reads rows without replacement until a t
statistic decides, with an error of at most a given probability at each look.

Both are measured with symmetric proposals, a random walk. Trajectories of exact gradients would
read all rows before the test; those of stochastic gradients are not reversible, so that there is no
ratio to test.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pymc as pm

from arviz import ess
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import t as student

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report

BENCHMARK = Benchmark(
    question="Do Metropolis tests from part of the data serve? Ding et al. (2014) leave it open.",
    asked="One of them reads fewer rows for an effective draw than SGNHT without a test.",
    fixed="2026-11-22",
    seeds=(1, 2, 3),
)

N_COEFFICIENTS, BATCH_SIZE, FIRST_ROWS = 10, 100, 500
# In units of 2.38 / sqrt(d) posterior standard deviations, the best scale of a random walk.
SCALES = (0.1, 0.3, 1.0)


class Problem(NamedTuple):
    """A logistic regression with a flat prior: rows, their bounds, its mode and covariance."""

    x: np.ndarray
    y: np.ndarray
    norms: np.ndarray
    cumulative: np.ndarray
    mode: np.ndarray
    root: np.ndarray

    def energies(self, theta: np.ndarray, rows=slice(None)) -> np.ndarray:
        """Minus the log likelihood of rows."""
        eta = self.x[rows] @ theta
        return np.logaddexp(0, eta) - self.y[rows] * eta


def make_problem(n: int) -> Problem:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n, N_COEFFICIENTS))
    y = (rng.random(n) < expit(x @ rng.normal(size=N_COEFFICIENTS) / 2)).astype(float)

    def negative(theta):
        eta = x @ theta
        return (np.logaddexp(0, eta) - y * eta).sum(), x.T @ (expit(eta) - y)

    mode = minimize(negative, np.zeros(N_COEFFICIENTS), jac=True, method="BFGS").x
    p = expit(x @ mode)
    covariance = np.linalg.inv((x * (p * (1 - p))[:, None]).T @ x)
    norms = np.linalg.norm(x, axis=1)
    return Problem(x, y, norms, np.cumsum(norms), mode, np.linalg.cholesky(covariance))


class Test(NamedTuple):
    """A decision, and the rows that were read for it."""

    accepted: bool
    n_rows: int


def all_rows(problem: Problem, theta, proposal, rng) -> Test:
    difference = (problem.energies(proposal) - problem.energies(theta)).sum()
    return Test(np.log(rng.random()) < -difference, len(problem.y))


def tuna(chi: float):
    """Return the exact test: all rows together have at most ``chi C^2 M^2 + C M``, thinned."""

    def test(problem: Problem, theta, proposal, rng) -> Test:
        total, distance = problem.cumulative[-1], np.linalg.norm(proposal - theta)
        n = rng.poisson(chi * (total * distance) ** 2 + total * distance)
        rows = np.searchsorted(problem.cumulative, total * rng.random(n))
        change = problem.energies(proposal, rows) - problem.energies(theta, rows)
        bound = problem.norms[rows] * distance
        a = bound * (chi * total * distance + 0.5)
        kept = rng.random(n) * (a + 0.5 * bound) < a + 0.5 * change
        relative = 0.5 * change[kept] / a[kept]
        return Test(np.log(rng.random()) < -2 * np.arctanh(relative).sum(), n)

    return test


def austerity(error: float):
    """Return the test with this probability of an error at each look."""

    def test(problem: Problem, theta, proposal, rng) -> Test:
        n_all = len(problem.y)
        order, needed = rng.permutation(n_all), np.log(rng.random()) / n_all
        read, size, gains = 0, FIRST_ROWS, np.zeros(0)
        while True:
            rows = order[read : read + size]
            more = problem.energies(theta, rows) - problem.energies(proposal, rows)
            gains, read = np.concatenate([gains, more]), read + len(rows)
            if read == n_all:
                return Test(gains.mean() > needed, read)
            spread = gains.std(ddof=1) / np.sqrt(read) * np.sqrt(1 - (read - 1) / (n_all - 1))
            if student.sf(abs(gains.mean() - needed) / spread, read - 1) < error:
                return Test(gains.mean() > needed, read)
            size = read

    return test


METHODS = {
    "all rows": all_rows,
    "TunaMH, chi = 0.001": tuna(0.001),
    "TunaMH, chi = 0.01": tuna(0.01),
    "austerity, 0.05": austerity(0.05),
}


class Result(NamedTuple):
    """Acceptance, share of the data per test, rows per effective draw, error of the sds."""

    accepted: float
    share: float
    rows_per_draw: float
    sd_error: float


def walk(problem: Problem, test, scale: float, n_steps: int) -> Result:
    """Walks from exact draws, one a seed."""
    walks = [_walk(problem, test, scale, n_steps, seed) for seed in BENCHMARK.seeds]
    white, read, accepted = (np.array(part) for part in zip(*walks, strict=True))
    share = read.sum() / white[..., 0].size / len(problem.y)
    return summarise(white, int(read.sum()), float(accepted.mean() / n_steps), float(share))


def _walk(problem: Problem, test, scale: float, n_steps: int, seed: int):
    rng = np.random.default_rng(seed)
    theta = problem.mode + problem.root @ rng.normal(size=N_COEFFICIENTS)
    draws, read, accepted = np.empty((n_steps, N_COEFFICIENTS)), 0, 0
    for i in range(n_steps):
        jump = 2.38 * scale / np.sqrt(N_COEFFICIENTS) * rng.normal(size=N_COEFFICIENTS)
        proposal = theta + problem.root @ jump
        made = test(problem, theta, proposal, rng)
        theta = proposal if made.accepted else theta
        read, accepted = read + made.n_rows, accepted + made.accepted
        draws[i] = theta
    return np.linalg.solve(problem.root, (draws - problem.mode).T).T, read, accepted


def summarise(white: np.ndarray, read: int, accepted: float, share: float) -> Result:
    """``white`` are draws (chain, draw, entry) of which entries should be standard normal."""
    effective = min(ess(white[..., i], method="mean") for i in range(white.shape[-1]))
    sd = white.std(axis=(0, 1))
    return Result(accepted, share, read / float(effective), float(np.abs(sd - 1).max()))


def stochastic(problem: Problem, draws: int) -> Result:
    """SGNHT, which tunes itself, with batches and no test."""
    with pm.Model():
        theta = pm.Flat("theta", shape=N_COEFFICIENTS)
        x, y = pm.Minibatch(problem.x, problem.y.astype(np.int32), batch_size=BATCH_SIZE)
        pm.Bernoulli("y", logit_p=x @ theta, observed=y, total_size=len(problem.y))
        step = pmg.SGNHT()
        idata = pmg.sample(draws, tune=1000, chains=3, step=step, random_seed=1, progressbar=False)
    found = idata.posterior["theta"].values
    n_steps = int(idata.sample_stats["n_steps"].values[0, -1])
    white = np.linalg.solve(problem.root, (found - problem.mode).reshape(-1, N_COEFFICIENTS).T).T
    # With control variates each row is read twice per transition.
    read = found.shape[0] * draws * n_steps * BATCH_SIZE * 2
    return summarise(white.reshape(found.shape), read, np.nan, BATCH_SIZE / len(problem.y))


def main() -> None:
    quick = arguments(__doc__.splitlines()[0]).quick
    n, n_steps = (5_000, 100) if quick else (100_000, 1_000)
    problem, found = make_problem(n), {}
    for name, test in METHODS.items():
        for scale in SCALES:
            found[name, scale] = walk(problem, test, scale, n_steps)
    plain = stochastic(problem, 200 if quick else 1000)
    rows = [row(name, f"{scale:g}", result) for (name, scale), result in found.items()]
    rows.append(row("SGNHT, no test", "", plain))
    header = ["test", "scale of the walk", "accepted", "share of the rows read"]
    header += ["rows for an effective draw", "worst error of a sd"]
    table(f"{n:,} rows, {N_COEFFICIENTS} coefficients", header, rows)
    checks = []
    # The exact test with all rows is the ruler, not a candidate.
    for name in list(METHODS)[1:]:
        ratio = min(found[name, scale].rows_per_draw for scale in SCALES) / plain.rows_per_draw
        what = f"{name}: rows for an effective draw, over SGNHT's"
        checks.append(Check(what, f"{ratio:.3g}", "< 1", ratio < 1))
    report("partial_tests", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)


def row(name: str, scale: str, result: Result) -> list:
    accepted = "" if np.isnan(result.accepted) else f"{result.accepted:.2f}"
    numbers = [f"{result.share:.3g}", f"{result.rows_per_draw:.3g}", f"{result.sd_error:.2f}"]
    return [name, scale, accepted, *numbers]


if __name__ == "__main__":
    main()

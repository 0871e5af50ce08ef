#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Rules and schemes for gradient noise: what an effective draw costs at a bound on the bias.

Three tables. The largest error of a variance and the transitions per effective draw of the tuning
rules, exact for a Gaussian; the same for the rules of leading order that came before. The best that
four schemes reach on a Gaussian with correlated noise of very different sizes, over a grid of step
sizes and frictions. The schemes on a logistic regression, by simulation.

    python -m benchmarks.tuning.noise_rules [--quick]
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from scipy.special import expit

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.tuning.noise_schemes import SCHEMES, Map, Quality, quality
from pymc_geodesic.algorithms.demands import Demands, GradientNoise
from pymc_geodesic.algorithms.tuning_rules import thermostat_rule

BENCHMARK = Benchmark(
    question=(
        "At a given bound on the bias, what does an effective draw cost under each rule and scheme?"
    ),
    asked="Variances by the tuning rule within twice the accuracy on a Gaussian.",
    fixed="2026-11-22",
    seeds=(1, 3, 5),
)

LARGEST_BIAS, SIZE = 0.05, 8
STEP_SIZES = np.geomspace(0.02, 1.2, 24)
FRICTIONS = np.geomspace(0.5, 32.0, 13)
ACCURACY = 0.05


def leading_order(demands: Demands) -> tuple[float, dict[str, float]]:
    """The rule for a thermostat that gave each of two errors half of the budget."""
    b, mean = demands.variance_error, demands.noise.mean
    product = 2 * np.sqrt(b)
    per_step = max((demands.noise.largest - mean) / b, 0.55 * mean, 1e-12)
    step_size = min(demands.stable_step, product, np.sqrt(product / per_step))
    friction = max(1.0, per_step * step_size)
    return step_size, {"diffusion": friction - 0.5 * step_size * mean}


def of_rules() -> list[list]:
    """Compare the rules for noise of different means and largest values."""
    lines = []
    for mean, largest in [
        (0.0, 0.0),
        (0.2, 0.3),
        (0.5, 1.5),
        (0.9, 15.0),
        (10.0, 12.0),
        (300, 310),
    ]:
        variances = np.full(SIZE, (mean * SIZE - largest) / (SIZE - 1))
        variances[0] = largest
        variance = np.diag(np.maximum(variances, 0.0))
        demands = Demands(GradientNoise(np.trace(variance) / SIZE, largest), 1.0, ACCURACY)
        line: list = [demands.noise.mean, float(largest)]
        for rule in (leading_order, thermostat_rule):
            step_size, parameters = rule(demands)
            found = quality(SCHEMES["one thermostat"](step_size, parameters["diffusion"], variance))
            line += [step_size, parameters["diffusion"], found.bias, found.time]
        lines.append(line)
    return lines


def noise_covariance() -> np.ndarray:
    """Noise of variances from 0.1 to 10 along random directions."""
    rotation = np.linalg.qr(np.random.default_rng(1).standard_normal((SIZE, SIZE)))[0]
    return (rotation * np.geomspace(0.1, 10.0, SIZE)) @ rotation.T


def best(scheme: Callable[..., Map], variance: np.ndarray) -> tuple[float, float, Quality]:
    """The step size and friction with the cheapest effective draw at the bound on the bias."""
    found: list[tuple[float, float, Quality]] = []
    for step_size in STEP_SIZES:
        for friction in FRICTIONS:
            one = scheme(step_size, friction, variance)
            if one.is_stable and (got := quality(one)).bias <= LARGEST_BIAS:
                found.append((float(step_size), float(friction), got))
    return min(found, key=lambda line: line[2].time)


class Logistic:
    """A logistic regression with a few covariates of heavy tails, in its Laplace frame."""

    def __init__(self, *, n_rows: int = 2_000, batch_size: int = 50) -> None:
        self.rng = np.random.default_rng(3)
        design = self.rng.standard_t(4.0, (n_rows, SIZE)) / np.sqrt(2 * SIZE)
        y = self.rng.uniform(size=n_rows) < expit(design @ self.rng.standard_normal(SIZE))
        beta, one = np.zeros(SIZE), np.eye(SIZE) / 100
        for _ in range(30):
            p = expit(design @ beta)
            precision = (design * (p * (1 - p))[:, None]).T @ design + one
            beta += np.linalg.solve(precision, design.T @ (y - p) - beta / 100)
        self.whitening = np.linalg.inv(np.linalg.cholesky(precision))
        self.design, self.y, self.center = design @ self.whitening.T, y.astype(float), beta
        self.mode = np.linalg.solve(self.whitening.T, beta)
        self.batch_size = batch_size
        rows = self.design * (expit(self.design @ self.mode) - self.y)[:, None]
        self.variance = n_rows**2 / batch_size * np.cov(rows.T)

    def gradient(self, x: np.ndarray, *, exact: bool = False) -> np.ndarray:
        """Gradient at each of many points, each with its own batch or with all rows."""
        prior = self.whitening @ (self.whitening.T @ x.T) / 100
        if exact:
            return (expit(x @ self.design.T) - self.y) @ self.design + prior.T
        rows = self.rng.integers(0, len(self.y), (len(x), self.batch_size))
        z = self.design[rows]
        residual = expit(np.einsum("cnd,cd->cn", z, x)) - self.y[rows]
        return len(self.y) / self.batch_size * np.einsum("cn,cnd->cd", residual, z) + prior.T


def simulated(
    target: Logistic, found: Map, *, n_chains: int, length: int, exact: bool = False
) -> tuple[np.ndarray, np.ndarray, float]:
    """Means and variances of the draws of many chains, and transitions per effective draw.

    The friction is that of the Gaussian; the noise to inject is what its covariance leaves.
    """
    rng, e, d = np.random.default_rng(5), found.step_size, SIZE
    own = found.noise if exact else found.noise - found.kick @ target.variance @ found.kick
    values, vectors = np.linalg.eigh(own)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    y = target.mode + rng.standard_normal((n_chains, d))
    v, warm = rng.standard_normal((n_chains, d)), length // 5
    sums, squares = np.zeros((n_chains, d)), np.zeros((n_chains, d))
    for step in range(length + warm):
        force = target.gradient(y, exact=exact)
        v = v @ found.damping - force @ found.kick + rng.standard_normal((n_chains, d)) @ root
        draw = y + 0.5 * e * v if found.between else y
        y = y + e * v
        if step >= warm:
            sums, squares = sums + draw, squares + (draw - target.mode) ** 2
    means = sums / length
    variance = squares.mean(axis=0) / length - (means.mean(axis=0) - target.mode) ** 2
    time = length * means.var(axis=0, ddof=1) / variance
    return means.mean(axis=0), variance, float(time.max())


def on_logistic(*, quick: bool) -> list[list]:
    """Run each scheme at the best setting that the Gaussian theory finds for its noise."""
    target, lines = Logistic(), []
    sizes = {"n_chains": 50 if quick else 200, "length": 300 if quick else 6_000}
    # With exact gradients and little friction the scheme has no bias to speak of.
    reference = SCHEMES["NOGIN, whole covariance"](0.1, 1.0, np.zeros((SIZE, SIZE)))
    truth = simulated(target, reference, exact=True, **sizes)
    for name, scheme in SCHEMES.items():
        step_size, friction, expected = best(scheme, target.variance)
        found = scheme(step_size, friction, target.variance)
        mean, variance, time = simulated(target, found, **sizes)
        bias = np.max(np.abs(mean - truth[0]) / np.sqrt(truth[1]))
        error = np.max(np.abs(variance / truth[1] - 1))
        lines.append([name, step_size, friction, expected.time, time, float(bias), float(error)])
    return lines


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    rule = ["step", "diffusion", "bias", "time"]
    found = of_rules()
    table(
        "rules, exact for a Gaussian",
        ["mean V", "largest V", *[f"leading {x}" for x in rule], *[f"now {x}" for x in rule]],
        found,
    )
    lines = [[name, *best(scheme, noise_covariance())] for name, scheme in SCHEMES.items()]
    gaussian = [[name, e, a, got.bias, got.time] for name, e, a, got in lines]
    table("schemes on a Gaussian", ["scheme", "step", "friction", "bias", "time"], gaussian)
    header = ["scheme", "step", "friction", "expected time", "time", "bias of mean", "of variance"]
    logistic = on_logistic(quick=options.quick)
    table("schemes on a logistic regression", header, logistic)
    keeps = all(line[8] <= 2 * ACCURACY * (1 + 1e-6) for line in found)
    worst = max(line[8] for line in found)
    checks = [Check("bias of the rule", f"{worst:.3f}", f"at most {2 * ACCURACY}", keeps)]
    report(
        "noise_rules",
        checks,
        about=BENCHMARK,
        quick=options.quick,
        header=["scheme", "step", "friction", "bias", "time"],
        rows=gaussian,
        rules=found,
        logistic=logistic,
    )


if __name__ == "__main__":
    main()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A tangent mass beside a number, on unit vectors whose posteriors have unequal widths.

A von Mises-Fisher regression: rows of directions around a unit vector of nine coefficients, seen
through correlated covariates of different sizes; a girdle, a great circle of small width, as a
density that costs nothing and as the posterior of a plane's normal given 1,000 rows; and a mixture
of four concentrations, with a mass for each point. The masses are those that tuning finds, beside
one number. Asked for: five times the effective samples per second. Figures are medians of seeds.
"""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor.tensor as pt

import pymc_geodesic as pmg

from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.parts import part_of
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import SamplingClock, sample
from benchmarks.harness.statistics import effective_samples, median_and_range

BENCHMARK = Benchmark(
    question="What does a tangent mass gain over a number?",
    asked="Five times the effective samples per second.",
    fixed="2026-11-22",
    seeds=(1, 2, 3),
)

ASKED = 5.0
N_ROWS, N_COEFFICIENTS, KAPPA = 1000, 9, 20.0
HEADER = ["target", "one number, per s", "steps", "tuned, per s", "steps", "ratio"]
HEADER += ["means apart, sd"]


def regression() -> tuple[pm.Model, str]:
    """Directions in the plane around those of two linear predictors, with shared coefficients."""
    rng = np.random.default_rng(1)
    sizes = np.geomspace(0.1, 10, N_COEFFICIENTS)
    mixing = rng.normal(size=(N_COEFFICIENTS, N_COEFFICIENTS)) * sizes
    x = rng.normal(size=(2, N_ROWS, N_COEFFICIENTS)) @ mixing
    truth = rng.normal(size=N_COEFFICIENTS)
    along = np.moveaxis(x @ (truth / np.linalg.norm(truth)), 0, -1)
    angle = rng.vonmises(np.arctan2(along[:, 1], along[:, 0]), KAPPA)
    with pm.Model() as model:
        beta = pmg.SphericalUniform("x", shape=N_COEFFICIENTS)
        mean = pm.math.stack([x[0] @ beta, x[1] @ beta], axis=-1)
        mean = mean / pm.math.sqrt((mean**2).sum(axis=-1, keepdims=True))
        y = np.column_stack([np.cos(angle), np.sin(angle)])
        pmg.VonMisesFisher("y", mean, KAPPA, observed=y)
    return model, "x"


def girdle() -> tuple[pm.Model, str]:
    """A great circle in five dimensions that is 0.02 wide, and 0.2 in another direction."""
    with pm.Model() as model:
        x = pmg.SphericalUniform("x", shape=5)
        pm.Potential("girdle", -0.5 * ((x[0] / 0.02) ** 2 + (x[1] / 0.2) ** 2 + (x[2] / 0.05) ** 2))
    return model, "x"


def girdle_of_rows() -> tuple[pm.Model, str]:
    """A unit vector in five dimensions seen in three of them, so that two are left open."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(N_ROWS, 3)) / np.array([0.02, 0.2, 0.05]) / np.sqrt(N_ROWS)
    y = rng.normal(size=N_ROWS)
    with pm.Model() as model:
        beta = pmg.SphericalUniform("x", shape=5)
        pm.Normal("y", pt.dot(x, beta[:3]), 1.0, observed=y)
    return model, "x"


def mixture() -> tuple[pm.Model, str]:
    """Directions of four clusters whose concentrations differ by a factor of 1,000."""
    means = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [-0.6, -0.8, 0]])
    kappa, n = np.array([2.0, 10.0, 100.0, 1000.0]), 2500
    data = np.concatenate(
        [
            pm.draw(pmg.VonMisesFisher.dist(m, k, size=n), random_seed=i, mode="FAST_COMPILE")
            for i, (m, k) in enumerate(zip(means, kappa, strict=True))
        ]
    )
    with pm.Model() as model:
        batch = pm.Minibatch(data, batch_size=300)
        mu = pmg.SphericalUniform("mu", shape=(4, 3), initval=means)
        components = pmg.VonMisesFisher.dist(mu=mu, kappa=kappa)
        weights = np.full(4, 0.25)
        pm.Mixture("x", w=weights, comp_dists=components, observed=batch, total_size=len(data))
    return model, "mu"


TARGETS = {
    "regression": regression,
    "girdle, free density": girdle,
    "girdle, 1,000 rows": girdle_of_rows,
    "mixture": mixture,
}


def one_number(model: pm.Model, name: str) -> dict[str, object]:
    """Return a mass that leaves tuning a number for a unit vector, or that is one for all points.

    The best number is the mean curvature: the posterior of a point of the mixture with n rows has
    the curvature n kappa A(kappa), A the mean cosine of a row.
    """
    if name == "x":
        return {"x": pmg.TangentMass(np.eye(model["x"].type.shape[-1]))}
    kappa = np.array([2.0, 10.0, 100.0, 1000.0])
    return {"mu": float(np.mean(2500 * kappa * (1 / np.tanh(kappa) - 1 / kappa)))}


def per_second(
    model: pm.Model, name: str, mass, *, draws: int, seed: int
) -> tuple[float, np.ndarray, float]:
    """Return effective samples per second, the draws, and the transitions of a draw."""
    clock = SamplingClock()
    run = sample(
        model,
        lambda: pmg.SGGMC(mass=mass),
        draws=draws,
        tune=500,
        chains=2,
        random_seed=seed,
        callback=clock,
    )
    x, n_steps = run.draws[name], float(np.mean(run.stats["n_steps"]))
    x = x.reshape(*x.shape[:2], -1)
    return effective_samples(x) / clock.seconds, x, n_steps


def main() -> None:
    reader = parser(__doc__)
    reader.add_argument("--only", choices=TARGETS, nargs="+", help="the only targets to run now")
    options = reader.parse_args()
    rows, checks = [], []
    for title in TARGETS:
        of_seeds = part_of(
            "tangent_mass",
            title,
            lambda title=title: gains_of(title, draws=200 if options.quick else 1000),
            now=not options.only or title in options.only,
            quick=options.quick,
        )
        if of_seeds is None:
            checks.append(Check(f"{title}: times one number", "", "> 5", None))
            continue
        gains = [row[4] for row in of_seeds]
        rows.append([title, *np.median(of_seeds, axis=0).tolist()])
        rows[-1][5] = found = median_and_range(gains, ".1f")
        checks.append(
            Check(f"{title}: times one number", found, "> 5", float(np.median(gains)) > ASKED)
        )
    table("Effective samples per second", HEADER, rows)
    report("tangent_mass", checks, about=BENCHMARK, quick=options.quick, header=HEADER, rows=rows)


def gains_of(title: str, *, draws: int) -> list[list[float]]:
    """Compare both masses on a target: a row of the table for each seed."""
    model, name = TARGETS[title]()
    found = []
    for seed in BENCHMARK.seeds:
        options = {"draws": draws, "seed": seed}
        plain, x, plain_steps = per_second(model, name, one_number(model, name), **options)
        tangent, y, steps = per_second(model, name, None, **options)
        apart = np.abs(x.mean(axis=(0, 1)) - y.mean(axis=(0, 1))) / x.std(axis=(0, 1))
        found.append([plain, plain_steps, tangent, steps, tangent / plain, float(apart.max())])
        table("So far", HEADER, [[title, *found[-1]]])
    return found


if __name__ == "__main__":
    main()

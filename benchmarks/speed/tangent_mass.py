#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A tangent mass beside a number, on unit vectors whose posteriors have unequal widths.

A von Mises-Fisher regression: rows of directions around a unit vector of nine coefficients, seen
through correlated covariates of different sizes; and a girdle, a great circle of small width. Asked
for: five times the effective samples per second of the scalar mass.
"""

from __future__ import annotations

import numpy as np
import pymc as pm

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import SamplingClock, sample
from benchmarks.harness.statistics import effective_samples

BENCHMARK = Benchmark(
    question="What does a tangent mass gain over a number?",
    asked="Five times the effective samples per second.",
    fixed="2026-11-22",
    seeds=(1,),
    measures=("mass", "manifolds", "algorithms", "tuning"),
)

ASKED = 5.0
N_ROWS, N_COEFFICIENTS, KAPPA = 1000, 9, 20.0


def regression() -> tuple[pm.Model, int]:
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
    return model, 1


def girdle() -> tuple[pm.Model, int]:
    """A great circle in five dimensions that is 0.02 wide, and 0.2 in another direction."""
    with pm.Model() as model:
        x = pmg.SphericalUniform("x", shape=5)
        pm.Potential("girdle", -0.5 * ((x[0] / 0.02) ** 2 + (x[1] / 0.2) ** 2 + (x[2] / 0.05) ** 2))
    return model, 1


TARGETS = {"regression": regression, "girdle": girdle}


def per_second(model: pm.Model, mass, *, draws: int) -> tuple[float, np.ndarray, float]:
    """Return effective samples per second, the draws, and the transitions of a draw."""
    clock = SamplingClock()
    run = sample(
        model,
        lambda: pmg.SGGMC(backend="jax", **({} if mass is None else {"mass": mass})),
        draws=draws,
        tune=500,
        chains=2,
        random_seed=1,
        callback=clock,
    )
    x, n_steps = run.draws["x"], float(np.mean(run.stats["n_steps"]))
    return effective_samples(x) / clock.seconds, x, n_steps


def main() -> None:
    quick = arguments(__doc__).quick
    draws, rows, checks = 200 if quick else 2000, [], []
    for name, build in TARGETS.items():
        model, columns = build()
        plain, x, plain_steps = per_second(model, None, draws=draws)
        mass = {"x": pmg.TangentMass.from_draws(x[:, : draws // 2], columns=columns)}
        tangent, y, steps = per_second(model, mass, draws=draws)
        scale = x.std(axis=(0, 1))
        apart = np.abs(x.mean(axis=(0, 1)) - y.mean(axis=(0, 1))) / scale
        gain = tangent / plain
        rows.append([name, plain, plain_steps, tangent, steps, gain, float(apart.max())])
        checks.append(Check(f"{name}: times the scalar mass", f"{gain:.1f}", "> 5", gain > ASKED))
    header = ["target", "scalar, per s", "steps", "tangent, per s", "steps", "ratio"]
    header.append("means apart, sd")
    table("Effective samples per second", header, rows)
    report("tangent_mass", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)


if __name__ == "__main__":
    main()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A million transitions on every manifold: how far its equation is ever violated.

All manifolds are moved together by one SGGMC chain a seed, and looked at after every thousand
transitions; the largest of all seeds.
Asked for: at most 1e-12, of inner products and squared lengths, and beyond walls.
"""

from __future__ import annotations

import time

from collections.abc import Callable
from typing import Any

import numpy as np
import pymc as pm

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report

BENCHMARK = Benchmark(
    question="How far do chains leave their manifolds in a million transitions?",
    asked="At most 1e-12 on every manifold.",
    fixed="2026-11-22",
    seeds=(1, 2, 3),
)

LARGEST_ERROR, PER_DRAW = 1e-12, 1000
REQUESTED: dict[str, Any] = {
    "box": pmg.Box(-1, 3),
    "orthant": pmg.Box(),
    "ball": pmg.Ball(),
    "correlations": pmg.CholeskyCorr(),
    "covariance": pmg.CholeskyCov(),
}


def build_model() -> pm.Model:
    """One variable on each manifold, each pushed in some direction."""
    rng = np.random.default_rng(1)
    with pm.Model() as model:
        pmg.VonMisesFisher("sphere", np.eye(10)[0], 20.0)
        pmg.Watson("axis", np.eye(3)[0], 8.0)
        pmg.Bingham("girdle", np.diag([0.0, -1.0, -3.0, -30.0]))
        pmg.MatrixLangevin("stiefel", 3 * rng.normal(size=(10, 3)))
        pmg.MatrixFisher("rotation", 3 * rng.normal(size=(3, 3)))
        pmg.UniformRotation("rotation_5", n=5)
        pm.VonMises("circle", 3.0, 2.0)
        pmg.BivariateVonMises("torus", [3.0, -2.0], [1.5, 3.0], 1.2)
        pm.Uniform("box", -1, 3)
        pm.Exponential("orthant", 3.0)
        ball = pmg.UniformBall("ball", 3)
        pm.Potential("push", 5.0 * ball[0])
        pm.LKJCorr("correlations", n=5, eta=1.0)
        pm.LKJCholeskyCov("covariance", n=3, eta=2.0, sd_dist=pm.Gamma.dist(4.0, 2.0))
    return model


def off_unit(x: np.ndarray) -> float:
    return float(np.abs((x**2).sum(-1) - 1).max())


def off_frame(x: np.ndarray) -> float:
    return float(np.abs(x.T @ x - np.eye(x.shape[1])).max())


def outside(low: float, high: float) -> Callable[[np.ndarray], float]:
    return lambda x: float(max(np.max(low - x), np.max(x - high), 0.0))


def off_rows(x: np.ndarray) -> float:
    """Unit rows, nothing above the diagonal."""
    return max(off_unit(x), float(np.abs(np.triu(x, 1)).max()))


ERRORS: dict[str, Callable[[np.ndarray], float]] = {
    **dict.fromkeys(["sphere", "axis", "girdle"], off_unit),
    **dict.fromkeys(["stiefel", "rotation", "rotation_5"], off_frame),
    **dict.fromkeys(["circle", "torus"], outside(-np.pi, np.pi)),
    "box": outside(-1, 3),
    "orthant": outside(0, np.inf),
    "ball": lambda x: max(float(np.linalg.norm(x)) - 1, 0.0),
    "correlations": off_rows,
    # The first column holds the logarithms of standard deviations.
    "covariance": lambda x: off_rows(x[:, 1:]),
}


def followed(
    step: pmg.SGGMC, point: dict[str, np.ndarray], draws: int, seed: int
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the largest error of every variable in a chain, and how far it got."""
    variables = step.sampler.problem.variables
    step.setup_chain(np.random.default_rng(seed), 0, draws)
    step.stop_tuning()
    worst, farthest = dict.fromkeys(ERRORS, 0.0), dict.fromkeys(ERRORS, 0.0)
    start = None
    for draw in range(1, draws + 1):
        point, _ = step.step(point)
        for variable, x in zip(variables, step.chain.state.position, strict=True):
            worst[variable.name] = max(worst[variable.name], ERRORS[variable.name](x))
        start = start or step.chain.state.position
        for variable, x, y in zip(variables, step.chain.state.position, start, strict=True):
            moved = float(np.max(np.abs(x - y)))
            farthest[variable.name] = max(farthest[variable.name], moved)
        if draw % 100 == 0:
            print(f"| {draw * PER_DRAW:,} transitions, largest error {max(worst.values()):.1e}")
    return worst, farthest


def main() -> None:
    quick = arguments(__doc__).quick
    draws = 10 if quick else 1000
    model, began = build_model(), time.process_time()
    step = pmg.SGGMC(
        model=model,
        manifolds=REQUESTED,
        step_size=0.05,
        friction=0.5,
        n_steps=PER_DRAW,
    )
    variables = step.sampler.problem.variables
    found = [
        followed(step, model.initial_point(), draws, seed)
        for seed in (BENCHMARK.seeds[:1] if quick else BENCHMARK.seeds)
    ]
    worst = {name: max(errors[name] for errors, _ in found) for name in ERRORS}
    farthest = {name: min(moved[name] for _, moved in found) for name in ERRORS}
    seconds = time.process_time() - began
    checks = [
        Check(
            f"{v.name} ({v.manifold.name})",
            f"{worst[v.name]:.1e}",
            f"<= {LARGEST_ERROR}, and it moves",
            worst[v.name] <= LARGEST_ERROR and farthest[v.name] > 0.1,
        )
        for v in variables
    ]
    rows = [[v.name, v.manifold.name, worst[v.name], farthest[v.name]] for v in variables]
    header = ["variable", "manifold", "largest error", "farthest from its start, least of seeds"]
    table(f"{draws * PER_DRAW:,} transitions a seed, {seconds:.0f} s in all", header, rows)
    report(
        "constraints",
        checks,
        about=BENCHMARK,
        quick=quick,
        header=header,
        rows=rows,
        seconds=seconds,
    )


if __name__ == "__main__":
    main()

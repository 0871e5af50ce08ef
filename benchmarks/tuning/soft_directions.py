#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Friction for soft directions that the mass does not see, against a friction of one.

A Gaussian of 300 entries has 40 random directions with 30 times the variance of others, more than
the twelve that a mass beyond a hundred entries takes. Effective samples per transition are the
smallest over means and squares along all 300 principal directions.

    python -m benchmarks.tuning.soft_directions [--quick]
"""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from gradient_noise import add_gradient_noise

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import sample
from benchmarks.harness.statistics import effective_samples

BENCHMARK = Benchmark(
    question="What does friction gain that follows soft directions which the mass has left?",
    asked="1.3 times the effective samples per transition, with gradient noise of at most 0.1.",
    fixed="2026-11-22",
    seeds=(1, 2),
    measures=("tuning", "algorithms", "mass"),
)

SIZE, N_SOFT, VARIANCE = 300, 40, 30.0
NOISES = (0.0, 0.1, 0.3, 1.0)
N_CHAINS, N_DRAWS, SEEDS = 2, 1_000, (1, 2)
# With little noise; with much, noise asks for as much friction as before.
ASKED = 1.3


def target(noise: float, axes: np.ndarray) -> pm.Model:
    """A Gaussian with these principal directions, and noise of this variance in its gradient."""
    precisions = np.ones(SIZE)
    precisions[:N_SOFT] = 1 / VARIANCE
    rows = np.random.default_rng(4).standard_normal((2_000, SIZE))
    rows -= rows.mean(axis=0)
    with pm.Model() as model:
        x = pm.Flat("x", shape=SIZE, initval=np.zeros(SIZE))
        if noise:
            add_gradient_noise("noise", x, np.sqrt(noise) * rows / rows.std(axis=0))
        pm.Potential("energy", -0.5 * (precisions * pt.dot(axes.T, x) ** 2).sum())
    return model


def measured(noise: float, *, seed: int, quick: bool, **given: float) -> list[float]:
    """Run the default step; return friction, step size and effective samples per transition."""
    axes = np.linalg.qr(np.random.default_rng(5).standard_normal((SIZE, SIZE)))[0]
    length = 200 if quick else N_DRAWS
    run = sample(
        target(noise, axes),
        lambda: pmg.SGNHT(backend="jax", trust_total_size=True, **given),
        chains=N_CHAINS,
        draws=length,
        tune=length,
        random_seed=seed,
    )
    along = run.draws["x"] @ axes
    scales = np.where(np.arange(SIZE) < N_SOFT, VARIANCE, 1.0)
    ratios = along.var(axis=(0, 1)) / scales
    n_transitions = along.shape[0] * run.stats["n_steps"].sum() / N_CHAINS
    return [
        float(run.stats["thermostat"].mean()),
        float(run.stats["step_size"].mean()),
        1_000 * effective_samples(along) / n_transitions,
        float(ratios[:N_SOFT].mean()),
        float(ratios[N_SOFT:].mean()),
    ]


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    lines, gains = [], {}
    for noise in NOISES[:2] if options.quick else NOISES:
        both = [
            np.mean([measured(noise, seed=s, quick=options.quick, **given) for s in SEEDS], axis=0)
            for given in ({"diffusion": 1.0}, {})
        ]
        gains[noise] = both[1][2] / both[0][2]
        for name, found in zip(("diffusion 1", "default"), both, strict=True):
            lines.append([noise, name, *found])
    header = ["V", "friction", "thermostat", "step", "effective per 1,000", "soft", "others"]
    table("soft directions", header, lines)
    quiet = min(gains[noise] for noise in NOISES[:2])
    checks = [Check("gain at V <= 0.1", f"{quiet:.2f}", f"at least {ASKED}", quiet >= ASKED)]
    report(
        "soft_directions",
        checks,
        about=BENCHMARK,
        quick=options.quick,
        header=header,
        rows=lines,
    )


if __name__ == "__main__":
    main()

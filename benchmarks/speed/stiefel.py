#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Frames by geodesics beside NUTS on three parametrisations, from (3, 2) to (1000, 10).

Uniform frames and a matrix Langevin distribution. NUTS samples the package's own transform, the Q
of a QR decomposition, the polar factor of a normal matrix, and a product of Householder's
reflections. A run of NUTS that has not ended in time counts as if all its draws were effective.
Figures are medians of seeds. Asked for: more effective samples a second than each from (10, 3) on,
a cost of a step that grows no faster than n p^2 times two, and a cold compilation on JAX within 6
seconds.
"""

from __future__ import annotations

import os
import subprocess
import time

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from arviz import ess
from pytensor.tensor.linalg import eigh

import pymc_geodesic as pmg

from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark, this_command
from benchmarks.harness.parts import part_of
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import Run, SamplingClock, sample
from benchmarks.harness.statistics import median_and_range

BENCHMARK = Benchmark(
    question="How do geodesics on frames compare with NUTS on three parametrisations?",
    asked=(
        "More effective samples per second than each from (10, 3) on; a cold compilation within 6 "
        "s on JAX; a cost that grows no faster than twice n p^2."
    ),
    fixed="2026-11-22",
    seeds=(1, 2, 3),
)

# Draws of each size, fewer where one takes long.
DRAWS = {(3, 2): 500, (10, 3): 500, (30, 5): 500, (100, 5): 300, (1000, 10): 100}
# The method need not be faster than NUTS where a frame has three degrees of freedom.
FROM = 10
MIDDLE = (30, 5)
LONGEST_COMPILATION = 6.0
LARGEST_GROWTH = 2.0
HEADER = ["size", "target", "GMC", "NUTS, QR", "NUTS, polar", "NUTS, Householder", "ratio"]
# Seconds of the processor after which a run is ended, compilation and tuning counted.
LONGEST_RUN = 60.0
# Entries whose effective samples are counted: all at small sizes, the first ones at large.
MOST_ENTRIES = 20


def parameter(n: int, p: int, *, strength: float) -> np.ndarray:
    """Return the matrix F: unequal concentrations of a few times n, turned out of the axes."""
    rng = np.random.default_rng(n)
    left, right = (np.linalg.qr(rng.normal(size=(k, p)))[0] for k in (n, p))
    return strength * n * (left * np.linspace(1, 2, p)) @ right.T


def geodesic_model(f: np.ndarray) -> pm.Model:
    with pm.Model() as model:
        pmg.MatrixLangevin("x", f, initval=np.eye(*f.shape))
    return model


def polar_model(f: np.ndarray) -> pm.Model:
    """Write the frame as the polar factor of a normal matrix."""
    # Not at a frame: the gradient of the eigenvectors fails where eigenvalues coincide.
    start = np.random.default_rng(1).normal(size=f.shape)
    with pm.Model() as model:
        y = pm.Normal("y", shape=f.shape, initval=start)
        values, vectors = eigh(y.T @ y)
        x = pm.Deterministic("x", y @ (vectors / pt.sqrt(values)) @ vectors.T)
        pm.Potential("langevin", (f * x).sum())
    return model


def householder_model(f: np.ndarray) -> pm.Model:
    """Write the frame as a product of reflections, one for each of p normal vectors.

    Each takes the first axis to the direction of its vector: Nirwan and Bertschinger (2019).
    """
    n, p = f.shape
    random = np.random.default_rng(1)
    with pm.Model() as model:
        x = pt.eye(n, p)
        for k in reversed(range(p)):
            v = pm.Normal(f"v{k}", shape=n - k, initval=random.normal(size=n - k))
            sign = pt.sign(v[0])
            u = pt.inc_subtensor(v[0], sign * pt.sqrt((v**2).sum()))
            below = x[k:]
            turned = 2 * pt.outer(u, u @ below) / (u**2).sum() - below
            x = pt.set_subtensor(x[k:], sign * turned)
        x = pm.Deterministic("x", x)
        pm.Potential("langevin", (f * x).sum())
    return model


def gmc(n: int, p: int) -> pmg.GMC:
    # As many trajectories as take about as long as PyMC's own work on a draw.
    return pmg.GMC(n_steps=5)


def nuts(n: int, p: int) -> pm.NUTS:
    return pm.NUTS(compile_kwargs={"mode": "JAX"})


METHODS = {
    "GMC": (geodesic_model, gmc),
    "NUTS, QR": (geodesic_model, nuts),
    "NUTS, polar": (polar_model, nuts),
    "NUTS, Householder": (householder_model, nuts),
}


class OutOfTime(Exception):
    """A run has taken as long as it may."""


class Deadline(SamplingClock):
    """A clock that ends a run."""

    def __init__(self) -> None:
        super().__init__()
        self._began = time.process_time()

    def __call__(self, trace, draw) -> None:
        super().__call__(trace, draw)
        if time.process_time() - self._began > LONGEST_RUN:
            raise OutOfTime


def effective(run: Run) -> float:
    """Effective samples of the entry that has the fewest, and of squares."""
    x = run.draws["x"]
    entries = x.reshape(*x.shape[:2], -1)[..., :MOST_ENTRIES]
    centered = entries - entries.mean(axis=(0, 1))
    if not np.all(centered.std(axis=(0, 1)) > 0):
        return 0.0  # Chains that do not move have no effective samples, whatever ArviZ says.
    both = np.concatenate([centered, centered**2], axis=-1)
    return float(min(ess(entry) for entry in np.moveaxis(both, -1, 0)))


def compare(n: int, p: int, strength: float, *, draws: int, seed: int) -> dict[str, float]:
    """Return the effective samples per second of every method."""
    found = {}
    for name, (build, step) in METHODS.items():
        clock, f = Deadline(), parameter(n, p, strength=strength)
        options = {"draws": draws, "tune": draws // 2, "chains": 2, "random_seed": seed}
        try:
            run = sample(build(f), lambda make=step: make(n, p), callback=clock, **options)
        except OutOfTime:
            found[name] = 2 * draws / LONGEST_RUN
            print(f"({n}, {p}), {name}: not ended in {LONGEST_RUN:.0f} s, a bound")
            continue
        found[name] = effective(run) / clock.seconds
    return found


def seconds_per_step(n: int, p: int) -> tuple[float, float]:
    """Return processor times: of a transition of SGGMC, and of building and compiling it."""
    with geodesic_model(parameter(n, p, strength=1.0)) as model:
        begin = time.process_time()
        step = pmg.SGGMC(step_size=0.01, friction=1.0, n_steps=200)
        point = model.initial_point()
        step.setup_chain(np.random.default_rng(1), 0, 5)
        step.stop_tuning()
        step.step(point)
        compiled = time.process_time()
        for _ in range(4):
            point, _ = step.step(point)
        done = time.process_time()
    return (done - compiled) / 800, compiled - begin


def main() -> None:
    reader = parser(__doc__)
    reader.add_argument("n", type=int, nargs="*", help="rows of the only sizes to run now")
    options = reader.parse_args()
    if not options.n and not options.quick:
        # Each size in a process of its own, in which nothing has been compiled, nor found on disk.
        environment = os.environ | {"JAX_ENABLE_COMPILATION_CACHE": "0"}
        for n, _ in DRAWS:
            subprocess.run(this_command(str(n)), check=True, env=environment)
        return
    rows, checks = [], []
    for size in DRAWS:
        found = part_of(
            "stiefel",
            str(size[0]),
            lambda size=size: one_size(*size, quick=options.quick),
            now=not options.n or size[0] in options.n,
            quick=options.quick,
        )
        if found is None:
            checks.append(Check(f"{size}: times NUTS, and costs", "", "> 1", None))
            continue
        rows += found["rows"]
        checks += [Check(*check) for check in found["checks"]]
    table("Effective samples a second", HEADER, rows)
    report("stiefel", checks, about=BENCHMARK, quick=options.quick, header=HEADER, rows=rows)


def one_size(n: int, p: int, *, quick: bool) -> dict[str, list]:
    """Compare all methods on both targets, and the cost of a transition."""
    # Costs first: nothing has been compiled yet.
    rows, checks = [], costs(n, p)
    draws, seeds = (100, BENCHMARK.seeds[:1]) if quick else (DRAWS[n, p], BENCHMARK.seeds)
    for target, strength in {"uniform": 0.0, "Langevin": 1.0}.items():
        found = [compare(n, p, strength, draws=draws, seed=seed) for seed in seeds]
        ratios = [of["GMC"] / max(of[name] for name in of if name != "GMC") for of in found]
        typical = [float(np.median([of[name] for of in found])) for name in METHODS]
        rows.append([f"({n}, {p})", target, *typical, median_and_range(ratios, ".2f")])
        table("Effective samples a second", HEADER, rows[-1:])
        if n >= FROM:
            what = f"({n}, {p}) {target}: times NUTS"
            passed = float(np.median(ratios)) > 1
            checks.append(Check(what, median_and_range(ratios, ".2f"), "> 1", passed))
    return {"rows": rows, "checks": checks}


def costs(n: int, p: int) -> list[Check]:
    """Compare the cost of a transition with its growth as n p^2, and the time to compile."""
    cost, compilation = seconds_per_step(n, p)
    few = cost if (n, p) == MIDDLE else seconds_per_step(*MIDDLE)[0]
    growth = cost / few / max(1.0, n * p**2 / (MIDDLE[0] * MIDDLE[1] ** 2))
    return [
        Check(
            f"({n}, {p}): microseconds a transition, beside n p^2 from {MIDDLE}",
            f"{1e6 * cost:.0f}, {growth:.2f} times",
            f"<= {LARGEST_GROWTH}",
            growth <= LARGEST_GROWTH,
        ),
        Check(
            f"({n}, {p}): seconds to compile",
            f"{compilation:.1f}",
            f"<= {LONGEST_COMPILATION}",
            compilation <= LONGEST_COMPILATION,
        ),
    ]


if __name__ == "__main__":
    main()

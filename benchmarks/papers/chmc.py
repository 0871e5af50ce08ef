#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Constrained HMC beside geodesic Monte Carlo: a baseline that two of the papers name.

The posterior of two directions of Liu, Zhu and Song (2016) from all rows. Constrained HMC is that
of the package mici: RATTLE steps that are projected onto the unit circles by Newton's method. GMC
moves along great circles, without a projection. Both have a step of 0.03 and ten steps a
trajectory. Times are those of the processor; mici's model is written in NumPy and ours is compiled,
so that effective samples a gradient are what compares.

    python -m benchmarks.papers.chmc [--quick]
"""

from __future__ import annotations

import time

import mici
import numpy as np

from two_directions import KAPPA, angle, build_model, make_data

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import sample
from benchmarks.harness.statistics import effective_samples, histogram, total_variation
from benchmarks.papers.two_vmf import EDGES, exact

BENCHMARK = Benchmark(
    question="Constrained HMC, named in Table 1 of Liu, Zhu and Song: does it find what GMC finds?",
    asked="Both: total variation of either angle at most 0.05.",
    fixed="2026-11-27",
    seeds=(1, 2, 3, 4),
)

STEP_SIZE, N_LEAPFROG = 0.03, 10


def system(data: np.ndarray):
    """Write mici's system: the density of both directions, and that they have length one."""

    def parts(q):
        v1, v2 = q[:2], q[2:]
        total = v1 + v2
        length = np.linalg.norm(total)
        return v1, v2, total / length, length

    def energy(q):
        v1, v2, middle, _ = parts(q)
        rows = np.logaddexp(KAPPA * data @ v1, KAPPA * data @ middle).sum()
        return -KAPPA * (v1[0] + v2[0]) - rows

    def gradient(q):
        v1, _, middle, length = parts(q)
        first = 1 / (1 + np.exp(KAPPA * data @ (middle - v1)))
        of_middle = KAPPA * (1 - first) @ data
        of_total = (of_middle - middle * (middle @ of_middle)) / length
        of_prior = KAPPA * np.array([1.0, 0.0])
        return -np.r_[KAPPA * first @ data + of_total + of_prior, of_total + of_prior]

    def jacobian(q):
        rows = np.zeros((2, 4))
        rows[0, :2], rows[1, 2:] = 2 * q[:2], 2 * q[2:]
        return rows

    return mici.systems.DenseConstrainedEuclideanMetricSystem(
        energy,
        lambda q: np.array([q[:2] @ q[:2] - 1, q[2:] @ q[2:] - 1]),
        grad_neg_log_dens=gradient,
        jacob_constr=jacobian,
    )


def constrained(data: np.ndarray, *, draws: int, tune: int) -> tuple[np.ndarray, float]:
    """Draw by constrained HMC; the angles ``(chain, draw, 2)`` and seconds of the processor."""
    target = system(data)
    integrator = mici.integrators.ConstrainedLeapfrogIntegrator(target, STEP_SIZE)
    begin, chains = time.process_time(), []
    for seed in BENCHMARK.seeds:
        rng = np.random.default_rng(seed)
        sampler = mici.samplers.StaticMetropolisHMC(target, integrator, rng=rng, n_step=N_LEAPFROG)
        found = sampler.sample_chains(
            n_warm_up_iter=tune,
            n_main_iter=draws,
            init_states=[np.array([1.0, 0.0, 1.0, 0.0])],
            adapters=[],
            display_progress=False,
            trace_funcs=[lambda state: {"q": state.pos}],
        )
        q = np.asarray(found.traces["q"][0])
        chains.append(np.stack([angle(q[:, :2]), angle(q[:, 2:])], axis=-1))
    return np.array(chains), time.process_time() - begin


def geodesic(data: np.ndarray, *, draws: int, tune: int) -> tuple[np.ndarray, float]:
    """Draw by GMC; the same."""
    model = build_model(data, None)
    begin = time.process_time()
    run = sample(
        model,
        lambda: pmg.GMC(step_size=STEP_SIZE, n_leapfrog=N_LEAPFROG, model=model),
        draws=draws,
        tune=tune,
        chains=len(BENCHMARK.seeds),
        random_seed=1,
    )
    angles = np.stack([angle(run.draws[v]) for v in ("v1", "v2")], axis=-1)
    return angles, time.process_time() - begin


def main() -> None:
    quick = arguments(__doc__.splitlines()[0]).quick
    draws, tune = (100, 50) if quick else (4_000, 200)
    data = make_data()
    _, _, bins = exact(data)
    rows, checks = [], []
    for name, run in (("constrained HMC (mici)", constrained), ("GMC", geodesic)):
        angles, seconds = run(data, draws=draws, tune=tune)
        distances = [
            total_variation(histogram(angles[..., i], EDGES), share) for i, share in enumerate(bins)
        ]
        size = effective_samples(angles)
        gradients = len(BENCHMARK.seeds) * (draws + tune) * N_LEAPFROG
        rows.append([name, *distances, round(size), 1_000 * size / gradients, seconds])
        worst = max(distances)
        checks.append(Check(f"{name}: total variation", f"{worst:.3f}", "<= 0.05", worst <= 0.05))
    header = ["method", "TV v1", "TV v2", "smallest ESS", "ESS per 1,000 gradients", "CPU s"]
    table("Two directions from all rows", header, rows)
    report("chmc", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)


if __name__ == "__main__":
    main()

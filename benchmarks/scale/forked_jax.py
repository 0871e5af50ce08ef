#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""JAX in forked workers: where it works, and why clearing its backends does not help elsewhere.

In each round two forked workers compile a kernel and draw from it. Either the parent has only
imported JAX, or it has drawn with the same step before and the workers clear JAX's backends before
they begin. A worker that has not ended after a minute counts as hung.

    python -m benchmarks.scale.forked_jax [--quick]
"""

from __future__ import annotations

import logging
import multiprocessing
import warnings

import numpy as np
import pymc as pm

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from pymc_geodesic.kernel.jax import after_fork, function, resident
from pymc_geodesic.sampling import begin, run

BENCHMARK = Benchmark(
    question="Where does JAX work in forked workers?",
    asked="The same draws in 50 of 50 rounds if JAX was only imported.",
    fixed="2026-11-22",
    seeds=(1,),
    measures=("kernel",),
)

SECONDS = 60.0


def sampler():
    rng = np.random.default_rng(1)
    with pm.Model():
        slope = pm.Normal("slope", shape=20)
        x, y = pm.Minibatch(rng.normal(size=(5_000, 20)), rng.normal(size=5_000), batch_size=100)
        pm.Normal("y", x @ slope, 1.0, observed=y, total_size=5_000)
        return pmg.SGNHT(step_size=0.01, diffusion=1.0, n_steps=10, backend="jax").sampler


def drawn(made) -> float:
    chain = begin(made, random_seed=1, tune=2, draws=5)
    return float(run(made, [chain], 7)[1]["slope"].sum())


def forget(made) -> None:
    """Make JAX begin anew in this process, and everything that was compiled or copied with it."""
    from jax.extend.backend import clear_backends

    clear_backends()
    after_fork._Forks.jax_is_dead = False
    resident._ON_DEVICE.clear()
    function.MEMO._kept.clear()
    for kernel in made.calls._kernels.values():
        kernel._compiled.function._ready = None
        kernel._compiled._copies = {}


def work(queue, made, clears: bool) -> None:
    if clears:
        forget(made)
    queue.put(drawn(made))


def rounds_that_end(made, n_rounds: int, *, clears: bool) -> int:
    """Count the rounds in which both workers end, with the same draws."""
    context, n_good = multiprocessing.get_context("fork"), 0
    for _ in range(n_rounds):
        queue = context.Queue()
        workers = [context.Process(target=work, args=(queue, made, clears)) for _ in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(SECONDS)
        if all(worker.exitcode == 0 for worker in workers):
            first, second = (queue.get(timeout=SECONDS) for _ in workers)
            n_good += first == second
        for worker in workers:
            if worker.is_alive():
                worker.kill()
    return n_good


def main() -> None:
    given = arguments(__doc__)
    logging.getLogger("pymc").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    n = 3 if given.quick else 50
    made = sampler()
    imported = rounds_that_end(made, n, clears=False)
    drawn(made)
    cleared = rounds_that_end(made, n, clears=True)
    checks = [
        Check("parent has imported JAX", f"{imported} of {n}", f"{n}", imported == n),
        Check("parent has drawn, backends cleared", f"{cleared} of {n}", "refused", cleared < n),
    ]
    report("forked_jax", checks, about=BENCHMARK, quick=given.quick)


if __name__ == "__main__":
    main()

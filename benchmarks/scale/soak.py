#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A long run on two workers, with checkpoints, of which one is killed now and then.

Looked at: memory and file descriptors of this process and of the oldest worker, in the last half of
the time beside the second quarter; and the posterior of a linear regression beside its exact mean
and covariance. It is always the younger worker that is killed, so that the other lives for the
whole run and would show what it keeps.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import signal
import tempfile
import threading
import time

from dataclasses import dataclass, field

import dask
import numpy as np
import psutil
import pymc as pm

from distributed import Client, LocalCluster

import pymc_geodesic as pmg

from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report

BENCHMARK = Benchmark(
    question="Does a long run with checkpoints and killed workers stay flat in memory, and right?",
    asked="Memory and descriptors flat, posterior right, for an hour.",
    fixed="2026-11-22",
    seeds=(1,),
)

N_ROWS, N_COEFFICIENTS, NOISE = 20_000, 10, 1.5
EVERY, LOOK_EVERY = 5.0, 2.0


def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    design = rng.normal(size=(N_ROWS, N_COEFFICIENTS))
    return design, design @ np.linspace(-1, 1, N_COEFFICIENTS) + NOISE * rng.normal(size=N_ROWS)


def exact() -> tuple[np.ndarray, np.ndarray]:
    """Mean of the posterior, and its precision."""
    design, outcome = data()
    precision = design.T @ design / NOISE**2 + np.eye(N_COEFFICIENTS)
    return np.linalg.solve(precision, design.T @ outcome / NOISE**2), precision


def model() -> pm.Model:
    design, outcome = data()
    with pm.Model() as made:
        x, y = pm.Minibatch(design, outcome, batch_size=200)
        beta = pm.Normal("beta", 0.0, 1.0, shape=N_COEFFICIENTS)
        pm.Normal("y", x @ beta, NOISE, observed=y, total_size=N_ROWS)
    return made


@dataclass
class Watch:
    """What a thread sees of this process, and what it does to the workers."""

    minutes: float
    kill_every: float
    client: Client
    seconds: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    descriptors: list[int] = field(default_factory=list)
    worker_memory: list[float] = field(default_factory=list)
    worker_descriptors: list[int] = field(default_factory=list)
    n_killed: int = 0

    def __call__(self) -> None:
        """Look and kill until the time is over, then end the run as Ctrl-C does."""
        began, process, last = time.perf_counter(), psutil.Process(), time.perf_counter()
        while (now := time.perf_counter()) - began < 60 * self.minutes:
            self.seconds.append(now - began)
            self.memory.append(process.memory_info().rss / 1e6)
            self.descriptors.append(process.num_fds())
            oldest = self._workers()[0]
            self.worker_memory.append(oldest.memory_info().rss / 1e6)
            self.worker_descriptors.append(oldest.num_fds())
            if now - last > self.kill_every:
                last = now
                self._kill()
            time.sleep(LOOK_EVERY)
        _thread.interrupt_main()

    def _workers(self) -> list[psutil.Process]:
        """Return the processes of the workers, the oldest first."""
        while True:
            # A worker that has just died cannot be asked.
            with contextlib.suppress(OSError, psutil.NoSuchProcess):
                processes = [psutil.Process(pid) for pid in self.client.run(os.getpid).values()]
                if processes:
                    return sorted(processes, key=psutil.Process.create_time)
            time.sleep(LOOK_EVERY)

    def _kill(self) -> None:
        workers = self._workers()
        if len(workers) > 1:
            workers[-1].kill()
            self.n_killed += 1

    def growth(self, values: list) -> float:
        """Ratio of the last half's median to that of the second quarter."""
        n = len(values)
        return float(np.median(values[n // 2 :]) / np.median(values[n // 4 : n // 2]))


def errors(beta: np.ndarray) -> tuple[float, float]:
    """Largest error of a mean in standard deviations, and of a variance as a ratio less one."""
    mean, precision = exact()
    scores = (beta.reshape(-1, N_COEFFICIENTS) - mean) @ np.linalg.cholesky(precision)
    return float(np.abs(scores.mean(0)).max()), float(np.abs(scores.var(0) - 1).max())


def main() -> None:
    options = parser(__doc__.splitlines()[0])
    options.add_argument("--minutes", type=float, default=60.0)
    options.add_argument("--kill-every", type=float, default=180.0, help="seconds")
    given = options.parse_args()
    minutes = 1.0 if given.quick else given.minutes
    # Shells let their background jobs ignore the signal that ends the run.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # This long after a loss Dask looks once whether the worker is back, and gives it up if not. It
    # must not look while the worker starts again after a later loss.
    dask.config.set({"distributed.deploy.lost-worker-timeout": f"{2 * minutes} minutes"})
    # A busy machine needs longer than 30 s to start a worker.
    dask.config.set({"distributed.comm.timeouts.connect": "10 minutes"})
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
        model(),
    ):
        watch = Watch(minutes, 20.0 if given.quick else given.kill_every, client)
        threading.Thread(target=watch, daemon=True).start()
        idata = pmg.sample(
            10_000_000,
            tune=500,
            step=pmg.SGNHT(),
            thin=20,
            random_seed=1,
            checkpoint=f"{folder}/run.zarr",
            checkpoint_every=EVERY,
            client=client,
            progressbar=False,
            compute_convergence_checks=False,
        )
        beta = idata.posterior["beta"].values
    mean, variance = errors(beta)
    seen = {
        "memory": watch.memory,
        "descriptors": watch.descriptors,
        "memory of a worker": watch.worker_memory,
        "descriptors of a worker": watch.worker_descriptors,
    }
    tenths = [int(i) for i in np.linspace(0, len(watch.worker_memory) - 1, 11)]
    lines = [[round(watch.seconds[i] / 60, 1), *(x[i] for x in seen.values())] for i in tenths]
    table("This process and the oldest worker", ["minutes", *seen], lines)
    growths = {name: watch.growth(values) for name, values in seen.items()}
    checks = [
        Check(f"{name}, last half over second quarter", f"{x:.3f}", "<= 1.05", x <= 1.05)
        for name, x in growths.items()
    ]
    checks += [
        Check("largest error of a mean (sd)", f"{mean:.3f}", "<= 0.05", mean <= 0.05),
        Check("largest error of a variance", f"{variance:.3f}", "<= 0.1", variance <= 0.1),
    ]
    figures = {"minutes": minutes, "n_killed": watch.n_killed, "draws": beta.shape[1]}
    print(figures)
    header = ["minutes", *seen]
    about = {"about": BENCHMARK, "quick": given.quick}
    report("soak", checks, **about, header=header, rows=lines, **figures)


if __name__ == "__main__":
    main()

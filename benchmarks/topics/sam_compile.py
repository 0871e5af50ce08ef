#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Seconds from a spherical admixture model to its first draw, in processes of their own.

The model is that of sam_20news.py at the published settings. "Cold" starts from empty folders for
what PyTensor and Numba keep, "warm" from what the cold process has left there. JAX keeps nothing.
Wall time depends on what else the machine does, processor time hardly: both are reported, and the
median of the latter is judged.

The cold process also tells which functions took Numba longest, without those that they call.

    python -m benchmarks.topics.sam_compile [--quick]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from numba.core import event

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark, this_command
from benchmarks.harness.records import Check, report
from benchmarks.harness.statistics import median_and_range
from benchmarks.topics.spherical_admixture import chain, model_of, noisy_mean, read_newsgroups

BENCHMARK = Benchmark(
    question="How long does the spherical admixture model take to its first draw?",
    asked="JAX 10 s, Numba warm 6 s and cold 60 s of the processor.",
    fixed="2026-11-21",
    seeds=(1, 2, 3),
    measures=("topic_models", "algorithms", "latents", "kernel"),
)

N_TOPICS, BATCH_SIZE = 20, 50
ASKED = {"Numba, cold": 60.0, "Numba, warm": 6.0, "JAX": 10.0}


class Compilations(event.Listener):
    """Processor time that Numba spends on each function, without the functions that it calls."""

    def __init__(self) -> None:
        self.open: list[list[float]] = []
        self.seconds: Counter[str] = Counter()

    def on_start(self, event) -> None:
        """Note when a compilation begins."""
        self.open.append([time.process_time(), 0.0])

    def on_end(self, event) -> None:
        """Give the function what its callees have not taken."""
        begin, of_callees = self.open.pop()
        seconds = time.process_time() - begin
        if self.open:
            self.open[-1][1] += seconds
        self.seconds[event.data["dispatcher"].py_func.__name__] += seconds - of_callees


def first_draw(backend: str, seed: int) -> dict[str, Any]:
    """Build the model and its step, and draw once."""
    compilations = Compilations()
    event.register("numba:compile", compilations)
    corpus, _ = read_newsgroups()
    start = noisy_mean(corpus, N_TOPICS, seed=seed)
    begin = time.perf_counter(), time.process_time()
    model = model_of(corpus, n_topics=N_TOPICS, batch_size=BATCH_SIZE)
    with model:
        step = pmg.gSGNHT.from_learning_rate(
            0.01,
            0.01,
            ["topics"],
            local=pmg.LocalGMC("theta", draws=20, tune=40, step_size=1e-6),
            steps_per_batch=10,
            backend=backend,
        )
    next(chain(model, step, start))
    return {
        "wall": time.perf_counter() - begin[0],
        "cpu": time.process_time() - begin[1],
        "load": os.getloadavg()[0],
        "numba": sum(compilations.seconds.values()),
        "longest": compilations.seconds.most_common(12),
    }


def in_process(backend: str, folder: Path, *, seed: int) -> dict[str, Any]:
    """Measure in a new process that keeps what it compiles in a folder."""
    flags = {
        "PYTENSOR_FLAGS": f"base_compiledir={folder}",
        "NUMBA_CACHE_DIR": str(folder / "numba"),
    }
    done = subprocess.run(
        this_command(backend, str(seed)),
        env=os.environ | flags,
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def from_nothing(*, seed: int, quick: bool) -> dict[str, dict[str, Any]]:
    """Measure each way, in folders in which nothing has been compiled."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = {"JAX": in_process("JAX", folder, seed=seed)}
        if not quick:
            found["Numba, cold"] = in_process("NUMBA", folder, seed=seed)
            found["Numba, warm"] = in_process("NUMBA", folder, seed=seed)
    print(seed, {name: run["cpu"] for name, run in found.items()}, flush=True)
    return found


def main() -> None:
    quick = arguments(__doc__.splitlines()[0]).quick
    found = [from_nothing(seed=seed, quick=quick) for seed in BENCHMARK.seeds]
    rows, checks = [], []
    for name in found[0]:
        cpu, wall, load = ([run[name][key] for run in found] for key in ("cpu", "wall", "load"))
        texts = [median_and_range(values, ".1f") for values in (cpu, wall, load)]
        rows.append([name, f"{ASKED[name]:g}", *texts])
        passed = bool(np.median(cpu) <= ASKED[name])
        checks.append(Check(f"{name}, CPU s", texts[0], f"<= {ASKED[name]:g}", passed))
    header = ["", "asked, s", "CPU s", "wall s", "load"]
    table("From the model to the first draw", header, rows)
    if not quick:
        longest = found[0]["Numba, cold"]["longest"]
        table("What took Numba longest", ["function", "CPU s"], longest)
    report(
        "sam_compile",
        checks,
        about=BENCHMARK,
        quick=quick,
        header=header,
        rows=rows,
        seconds=found,
    )


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] in ("NUMBA", "JAX"):
        np.seterr(all="ignore")
        print(json.dumps(first_draw(sys.argv[1], int(sys.argv[2]))))
    else:
        main()

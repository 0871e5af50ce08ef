#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Seconds from a spherical admixture model to its first draw, in processes of their own.

The model is that of sam_20news.py at the published settings. Each process starts from empty folders
for what PyTensor and JAX keep. Wall time depends on what else the machine does, processor time
hardly: both are reported, and the median of the latter is judged.

    python -m benchmarks.topics.sam_compile [--quick]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time

from typing import Any

import numpy as np

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark, this_command
from benchmarks.harness.records import Check, report
from benchmarks.harness.statistics import median_and_range
from benchmarks.topics.spherical_admixture import chain, model_of, noisy_mean, read_newsgroups

BENCHMARK = Benchmark(
    question="How long does the spherical admixture model take to its first draw?",
    asked="10 s of the processor.",
    fixed="2026-11-21",
    seeds=(1, 2, 3),
)

N_TOPICS, BATCH_SIZE = 20, 50
ASKED = 10.0


def first_draw(seed: int) -> dict[str, Any]:
    """Build the model and its step, and draw once."""
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
        )
    next(chain(model, step, start))
    return {
        "wall": time.perf_counter() - begin[0],
        "cpu": time.process_time() - begin[1],
        "load": os.getloadavg()[0],
    }


def in_process(*, seed: int) -> dict[str, Any]:
    """Measure in a new process, in a folder in which nothing has been compiled."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            this_command("--seed", str(seed)),
            env=os.environ | {"PYTENSOR_FLAGS": f"base_compiledir={folder}"},
            check=True,
            capture_output=True,
            text=True,
        )
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    quick = arguments(__doc__.splitlines()[0]).quick
    found = [in_process(seed=seed) for seed in BENCHMARK.seeds]
    cpu, wall, load = ([run[key] for run in found] for key in ("cpu", "wall", "load"))
    texts = [median_and_range(values, ".1f") for values in (cpu, wall, load)]
    rows = [["JAX", f"{ASKED:g}", *texts]]
    checks = [Check("JAX, CPU s", texts[0], f"<= {ASKED:g}", bool(np.median(cpu) <= ASKED))]
    header = ["", "asked, s", "CPU s", "wall s", "load"]
    table("From the model to the first draw", header, rows)
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
    if "--seed" in sys.argv:
        np.seterr(all="ignore")
        print(json.dumps(first_draw(int(sys.argv[-1]))))
    else:
        main()

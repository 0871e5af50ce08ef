#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Where the time of a transition of SGRLD goes in latent Dirichlet allocation.

50 topics of the 12,419 words of NIPS papers, alpha = 0.1, six sweeps of Gibbs. Times are those of
the processor, medians of seeds. Each precision has a process of its own, for JAX settles for one
once a process.

    python -m benchmarks.topics.lda_transition [--quick]

The counts are read from ``nips/nips.npz`` in the folder that the environment variable
PYMC_GEODESIC_DATA names.
"""

from __future__ import annotations

import cProfile
import json
import os
import pstats
import subprocess
import time
import warnings

from pathlib import Path

import numpy as np
import pymc as pm

import pymc_geodesic as pmg

from benchmarks.harness.console import parser, table
from benchmarks.harness.data import data_file
from benchmarks.harness.declared import Benchmark, this_command
from benchmarks.harness.records import report
from benchmarks.harness.statistics import median_and_range
from benchmarks.topics.lda_baselines import CORPORA, FILES, N_TOPICS, read_counts

BENCHMARK = Benchmark(
    question="Where does the time of a transition go in latent Dirichlet allocation?",
    asked="",
    fixed="2026-11-21",
    seeds=(1, 2, 3),
)

# File and function of each part, as the profiler names them.
PARTS = {
    "Gibbs": ("latent_dirichlet_allocation.py", "estimate"),
    "noise": ("streams.py", "draw_noise"),
    "update": ("transitions.py", "__call__"),
}
LATENTS = ("latents.py", "draw")
BATCH_SIZES = [50, 100, 200]
PRECISIONS = {"double": "float64", "single": "float32"}


def step_of(train, batch_size: int) -> pmg.SGRLD:
    """Write the model, and compile its step."""
    with pm.Model():
        batch = pm.Minibatch(pmg.BagOfWords(train), batch_size=batch_size)
        topics = pmg.SymmetricDirichlet("topics", 0.01, shape=(N_TOPICS, train.shape[1]))
        pmg.LatentDirichletAllocation(
            "w", topics, 0.1, observed=batch, total_size=train.shape[0], sweeps=6
        )
        return pmg.SGRLD(step_size=0.02)


def profile(step: pmg.SGRLD, *, n_steps: int, seed: int) -> dict[str, float]:
    """Milliseconds of a transition and of its parts."""
    step.setup_chain(np.random.default_rng(seed), tune=0, draws=1)
    point = step.model.initial_point()
    # The first transitions leave the start, where every word could be of any topic.
    for _ in range(n_steps):
        point, _ = step.step(point)
    profiler = cProfile.Profile(time.process_time)
    profiler.enable()
    for _ in range(n_steps):
        point, _ = step.step(point)
    profiler.disable()
    stats = pstats.Stats(profiler)
    total = 1e3 * stats.total_tt / n_steps
    found = {name: _milliseconds(stats, *part, n_steps) for name, part in PARTS.items()}
    inputs = _milliseconds(stats, *LATENTS, n_steps) - found["Gibbs"]
    found |= {"inputs of Gibbs": inputs}
    return found | {"rest": total - sum(found.values()), "all": total}


def _milliseconds(stats: pstats.Stats, file: str, function: str, n_steps: int) -> float:
    """Time in one function and all that it calls, a transition."""
    [seconds] = [
        cumulative
        for (path, _, name), (_, _, _, cumulative, _) in stats.stats.items()
        if Path(path).name == file and name == function
    ]
    return 1e3 * seconds / n_steps


def measure(file: Path, *, quick: bool) -> None:
    """Print what each batch size takes with each seed, at the precision of this process."""
    # JAX says that it takes indices as int32, which it does for all of single precision.
    warnings.filterwarnings("ignore", "Explicitly requested dtype", UserWarning)
    train, found = CORPORA["nips"](read_counts(file)).train, {}
    for batch_size in BATCH_SIZES[:1] if quick else BATCH_SIZES:
        step, n_steps = step_of(train, batch_size), 5 if quick else 20
        found[batch_size] = [profile(step, n_steps=n_steps, seed=seed) for seed in BENCHMARK.seeds]
    print(json.dumps(found))


def in_new_process(precision: str, *, quick: bool) -> dict[str, list[dict[str, float]]]:
    """Measure at a precision in a process of its own; by batch size."""
    # Of two settings of a flag the last one counts.
    flags = f"{os.environ.get('PYTENSOR_FLAGS', '')},floatX={precision}"
    done = subprocess.run(
        this_command("--here", *(["--quick"] if quick else [])),
        env=os.environ | {"PYTENSOR_FLAGS": flags.lstrip(",")},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    reader = parser(__doc__.split("\n")[0])
    reader.add_argument("--here", action="store_true", help="measure in this process")
    options = reader.parse_args()
    file = data_file(FILES["nips"])
    if options.here:
        measure(file, quick=options.quick)
        return
    rows, found = [], {}
    for name, precision in PRECISIONS.items():
        found[name] = in_new_process(precision, quick=options.quick)
        for batch_size, runs in found[name].items():
            times = [median_and_range([run[part] for run in runs], ".1f") for part in runs[0]]
            rows.append([name, batch_size, *times])
    header = ["precision", "batch", *runs[0]]
    table("milliseconds a transition", header, rows)
    report(
        "lda_transition",
        [],
        about=BENCHMARK,
        quick=options.quick,
        header=header,
        rows=rows,
        found=found,
    )


if __name__ == "__main__":
    main()

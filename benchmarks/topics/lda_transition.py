#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Where the time of a transition of SGRLD goes in latent Dirichlet allocation.

50 topics of the 12,419 words of NIPS papers, alpha = 0.1, six sweeps of Gibbs. Times are those of
the processor.

    python -m benchmarks.topics.lda_transition [--quick]
    PYTENSOR_FLAGS=floatX=float32 python -m benchmarks.topics.lda_transition [--quick]

JAX settles for a precision once a process.
The counts are read from ``nips/nips.npz`` in the folder that the environment variable
PYMC_GEODESIC_DATA names.
"""

from __future__ import annotations

import cProfile
import os
import pstats
import sys
import time
import warnings

from pathlib import Path

import numpy as np
import pymc as pm
import pytensor

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import report
from benchmarks.topics.lda_baselines import CORPORA, FILES, N_TOPICS, read_counts

BENCHMARK = Benchmark(
    question="Where does the time of a transition go in latent Dirichlet allocation?",
    asked="",
    fixed="2026-11-21",
    seeds=(1,),
    measures=("topic_models", "algorithms", "kernel"),
)

# File and function of each part, as the profiler names them.
PARTS = {
    "Gibbs": ("latent_dirichlet_allocation.py", "estimate"),
    "noise": ("streams.py", "draw_noise"),
    "update": ("kernel.py", "__call__"),
}
LATENTS = ("latents.py", "draw")
BATCH_SIZES = [50, 100, 200]


def profile(train, batch_size: int, *, n_steps: int) -> dict[str, float]:
    """Milliseconds of a transition and of its parts."""
    with pm.Model() as model:
        batch = pm.Minibatch(pmg.BagOfWords(train), batch_size=batch_size)
        topics = pmg.SymmetricDirichlet("topics", 0.01, shape=(N_TOPICS, train.shape[1]))
        pmg.LatentDirichletAllocation(
            "w", topics, 0.1, observed=batch, total_size=train.shape[0], sweeps=6
        )
        step = pmg.SGRLD(step_size=0.02, backend="jax")
    step.setup_chain(np.random.default_rng(1), tune=0, draws=1)
    point = model.initial_point()
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


def main() -> None:
    quick = arguments(__doc__.split("\n")[0]).quick
    folder = os.environ.get("PYMC_GEODESIC_DATA")
    if not folder:
        sys.exit(f"Set PYMC_GEODESIC_DATA to the folder that holds {FILES['nips']}")
    # JAX says that it takes indices as int32, which it does for all of single precision.
    warnings.filterwarnings("ignore", "Explicitly requested dtype", UserWarning)
    train = CORPORA["nips"](read_counts(Path(folder) / FILES["nips"])).train
    precision = pytensor.config.floatX
    found = {}
    for batch_size in BATCH_SIZES[:1] if quick else BATCH_SIZES:
        found[batch_size] = profile(train, batch_size, n_steps=5 if quick else 20)
    names = list(found[BATCH_SIZES[0]])
    rows = [[n, *(f"{times[name]:.1f}" for name in names)] for n, times in found.items()]
    table(f"milliseconds a transition, {precision}", ["batch", *names], rows)
    report(f"lda_transition_{precision}", [], about=BENCHMARK, quick=quick, found=found)


if __name__ == "__main__":
    main()

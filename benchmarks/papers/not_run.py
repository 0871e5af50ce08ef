#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What the experiments would take that were not run at the papers' length.

The processor's seconds of a transition, on one thread, times the transitions that the protocols of
Ding et al. (2014) ask for, with three seeds. Needs the data of the experiments in
$PYMC_GEODESIC_DATA.
"""

from __future__ import annotations

import time
import warnings

from typing import Any, NamedTuple

import numpy as np

from matrix_factorization import build_model, load_ratings
from shared import single_precision

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.data import data_file
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import report
from benchmarks.topics import lda_softmax
from benchmarks.topics.lda_baselines import read_counts

BENCHMARK = Benchmark(
    question="How long would the experiments of the papers take that were not run in full?",
    asked="",
    fixed="2026-11-22",
    seeds=(1,),
    measures=("algorithms", "kernel"),
)

N_STEPS, N_WORDS = 50, 2000


class Protocol(NamedTuple):
    """Runs of a figure or table, transitions of each, and whether all were run here."""

    name: str
    runs: int
    transitions: int


# Two methods, four learning rates, two injected noises, three seeds.
GRID = 2 * 4 * 2 * 3
PROTOCOLS = {
    "movielens": (
        Protocol("Table 2, MovieLens: two methods, one seed", 2, 100_000),
        Protocol("Table 2, MovieLens: two methods, three seeds", 2 * 3, 100_000),
        Protocol("Figure 3, MovieLens: the grid, three seeds", GRID, 100_000),
    ),
    "softmax": (Protocol("Figure 3, topics by softmax: the grid, three seeds", GRID, 50_000),),
}


def seconds(step: Any, draws: int) -> float:
    """Median of the processor's seconds of a transition, after a draw that compiles."""
    step.setup_chain(np.random.default_rng(1), tune=0, draws=draws + 1)
    point, found = step.model.initial_point(), []
    point, _ = step.step(point)
    for _ in range(draws):
        start = time.process_time()
        point, _ = step.step(point)
        found.append((time.process_time() - start) / N_STEPS)
    return float(np.median(found))


def steps() -> dict[str, Any]:
    """One compiled step for each experiment."""
    counts = read_counts(data_file("reuters", "reuters395.npz"))
    frequent = np.argsort(-np.asarray(counts.sum(axis=0)).ravel())[:N_WORDS]
    with single_precision("jax"), build_model(load_ratings(data_file("ml-1m", "ml-1m.npz"))[0]):
        factors = pmg.SGNHT(step_size=8e-7**0.5, n_steps=N_STEPS, backend="jax")
    _, topics = lda_softmax.build(counts.tocsc()[:, np.sort(frequent)].tocsr(), "SGNHT", N_STEPS)
    lda_softmax.set_step_size(topics, 2e-5**0.5, diffusion=0.01 / 2e-5**0.5)
    return {"movielens": factors, "softmax": topics}


def main() -> None:
    # JAX says that it takes indices as int32, which it does for all of single precision.
    warnings.filterwarnings("ignore", "Explicitly requested dtype", UserWarning)
    quick = arguments(__doc__.splitlines()[0]).quick
    rows = []
    for name, step in steps().items():
        with single_precision("jax"):
            each = seconds(step, 2 if quick else 10)
        for protocol in PROTOCOLS[name]:
            total = protocol.runs * protocol.transitions
            rows.append([protocol.name, f"{1e3 * each:.3g}", f"{total:,}"])
            rows[-1].append(f"{each * total / 3600:.2g}")
    header = ["experiment", "ms a transition", "transitions", "hours of a core"]
    table("The processor's time, one thread, without compiling and scoring", header, rows)
    report("not_run", [], about=BENCHMARK, quick=quick, header=header, rows=rows)


if __name__ == "__main__":
    main()

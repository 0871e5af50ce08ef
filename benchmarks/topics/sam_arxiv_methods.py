#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The methods with batches on 249,000 abstracts, from the start of the paper's programs.

Liu, Zhu and Song (2016), Figure 5b: gSGNHT and SGGMC at the paper's settings for Wikipedia-150K,
gSGNHT at temperature one, and stochastic variational inference, all of which begin at the mean
direction with noise and not at a variational answer. Data, model and scores are those of
``sam_arxiv``; every fifth draw is averaged and scored. The methods that read all documents for a
transition would take hours for each hundred of them.

    python -m benchmarks.topics.sam_arxiv_methods [--quick] [--resume] [METHOD ...]

The counts are read from ``arxiv/arxiv250k.npz`` in the folder that the environment variable
PYMC_GEODESIC_DATA names.
"""

from __future__ import annotations

import time
import warnings

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pymc as pm
import scipy.sparse as sp

import pymc_geodesic as pmg

from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.parts import part_of
from benchmarks.harness.records import Check, report
from benchmarks.topics.sam_arxiv import (
    BATCH_SIZE,
    KAPPA,
    N_TOPICS,
    SIGMA,
    at_temperature_one,
    corpora,
    model_for,
)
from benchmarks.topics.spherical_admixture import by_package, chain, noisy_mean, perplexity

BENCHMARK = Benchmark(
    question="Liu, Zhu and Song (2016), Figure 5b: all methods with batches, on abstracts.",
    asked=(
        "In every seed, after equal draws: gSGNHT below SGGMC at the paper's settings, and below "
        "stochastic variational inference."
    ),
    fixed="2026-11-26",
    seeds=(1, 2, 3),
)

DRAWS, EVERY = 500, 5
# Steps of stochastic variational inference after which to score.
STEPS = (10, 40, 120)
# Averaged draws that the table shows.
SHOWN = (1, 10, 40, 100)
PUBLISHED = {"gSGNHT": pmg.gSGNHT, "SGGMC": pmg.SGGMC}
COOL, VARIATIONAL = "gSGNHT at temperature one", "StoVI"
METHODS = (*PUBLISHED, COOL, VARIATIONAL)
HEADER = ["method", *(f"{n * EVERY} draws" for n in SHOWN), "of one seed", "last draws"]
HEADER += ["moved", "temperature", "CPU s"]
Run = dict[str, Any]


def published(name: str, model: pm.Model) -> Any:
    """Make a step at the paper's settings."""
    local = pmg.LocalGMC("theta", draws=20, tune=40, step_size=1e-6)
    with model:
        return PUBLISHED[name].from_learning_rate(
            0.1, 0.5, ["topics"], local=local, steps_per_batch=10
        )


def by_chain(
    step_of: Callable[[pm.Model], Any],
    corpus: pmg.BagOfWords,
    test: sp.csr_array,
    *,
    seed: int,
    n_draws: int,
) -> Run:
    """Score averages of more and more draws."""
    start = noisy_mean(corpus, N_TOPICS, seed=seed)
    model = model_for(corpus, total_size=len(corpus))
    draws, topics = [], []
    for i, draw in enumerate(chain(model, step_of(model), start, seed=seed)):
        draws.append(draw._replace(topics=None))
        if i % EVERY == EVERY - 1:
            topics.append(draw.topics.astype("float32"))
        if len(draws) == n_draws:
            break
    scores = perplexity(np.array(topics), test, kappa=KAPPA)
    half = draws[n_draws // 2 :]
    return {
        "curve": [[n, scores.cumulative[n - 1]] for n in SHOWN if n <= len(topics)],
        "last": float(scores.single[-len(topics) // 10 :].mean()),
        "moved": float(1 - np.einsum("kv,kv->k", topics[-1], start).mean()),
        "temperature": float(np.mean([draw.stats["kinetic_temperature"] for draw in half])),
        "seconds": draws[-1].cpu,
    }


def by_variational(corpus: pmg.BagOfWords, test: sp.csr_array, *, seed: int, quick: bool) -> Run:
    """Score the topics after more and more steps."""
    start, curve, seconds = noisy_mean(corpus, N_TOPICS, seed=seed), [], []
    for n_steps in STEPS[:1] if quick else STEPS:
        begin = time.process_time()
        options = {"batch_size": BATCH_SIZE, "sigma": SIGMA, "kappa": KAPPA}
        found = by_package(corpus, start, n_steps=n_steps, seed=seed, **options)
        seconds.append(time.process_time() - begin)
        curve.append([n_steps, perplexity(found.topics[None], test, kappa=KAPPA).value])
    moved = float(1 - np.einsum("kv,kv->k", found.topics, start).mean())
    return {"curve": curve, "last": curve[-1][1], "moved": moved, "seconds": seconds[-1]}


def run_of(name: str, corpus: pmg.BagOfWords, test: sp.csr_array, *, seed: int, quick: bool) -> Run:
    """Run a method with a seed."""
    if name == VARIATIONAL:
        return by_variational(corpus, test, seed=seed, quick=quick)
    step_of = at_temperature_one if name == COOL else partial(published, name)
    return by_chain(step_of, corpus, test, seed=seed, n_draws=10 if quick else DRAWS)


def row(name: str, runs: list[Run]) -> list[str]:
    """Medians of the seeds, and the range of the last values of the curves."""
    curves, ends = [run["curve"] for run in runs], [run["curve"][-1][1] for run in runs]
    values = [f"{value:,.0f}" for value in np.median([np.array(c)[:, 1] for c in curves], axis=0)]
    values += [""] * (len(SHOWN) - len(values))
    temperatures = [run["temperature"] for run in runs if "temperature" in run]
    return [
        name,
        *values,
        f"{min(ends):,.0f} to {max(ends):,.0f}",
        f"{np.median([run['last'] for run in runs]):,.0f}",
        f"{np.median([run['moved'] for run in runs]):.2g}",
        f"{np.median(temperatures):,.3g}" if temperatures else "",
        f"{np.median([run['seconds'] for run in runs]):,.0f}",
    ]


def checks_of(runs: dict[str, list[Run]]) -> list[Check]:
    """Compare the ends of the curves, seed by seed."""
    ends = {name: [run["curve"][-1][1] for run in of] for name, of in runs.items()}
    checks = []
    for other in ("SGGMC", VARIATIONAL):
        if ends.get(other) and len(ends[other]) == len(ends["gSGNHT"]):
            pairs = list(zip(ends["gSGNHT"], ends[other], strict=True))
            ours, theirs = (", ".join(f"{pair[i]:,.0f}" for pair in pairs) for i in (0, 1))
            below = all(a < b for a, b in pairs)
            checks.append(Check(f"gSGNHT and {other}", ours, f"below {theirs}", below))
    return checks


def main() -> None:
    warnings.simplefilter("ignore", UserWarning)
    reader = parser(__doc__.splitlines()[0])
    reader.add_argument("methods", nargs="*", metavar="METHOD", help="the only ones to run now")
    reader.add_argument("--resume", action="store_true", help="run only what is not there yet")
    given = reader.parse_args()
    corpus, test = corpora()
    runs: dict[str, list[Run]] = {name: [] for name in METHODS}
    for seed in BENCHMARK.seeds[:1] if given.quick else BENCHMARK.seeds:
        for name in METHODS:
            run = partial(run_of, name, corpus, test, seed=seed, quick=given.quick)
            options = {"quick": given.quick, "resume": given.resume}
            now = not given.methods or name in given.methods
            found = part_of("sam_arxiv_methods", f"{name} {seed}", run, now=now, **options)
            if found is not None:
                runs[name].append(found)
                print(name, seed, found, flush=True)
    rows = [row(*pair) for pair in runs.items() if pair[1]]
    table("Log perplexity, medians of the seeds", HEADER, rows)
    kept = {"about": BENCHMARK, "quick": given.quick, "header": HEADER, "rows": rows, "runs": runs}
    report("sam_arxiv_methods", checks_of(runs), **kept)


if __name__ == "__main__":
    main()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Hybrid stochastic variational Gibbs beside SGRLD: Figure 2a of Patterson and Teh (2013).

NIPS papers at the paper's alpha = beta = 0.01 and with its numbers of Gibbs sweeps: SGRLD with 1, 5
and 10, hybrid stochastic variational Gibbs (HSVG) with 5, online variational Bayes and collapsed
Gibbs. First the step sizes: three settings for each of the methods with batches, by the perplexity
of validation documents after 4 s, the probabilities averaged over the topics of two times; what is
best is used with every seed. Then the perplexity of test documents, for the last topics alone and
averaged over eight topics of the second half of the time, for all methods alike. Batches and the
other settings are those of ``lda``. Times are those of the processor, without compiling and
scoring.

HSVG is a function that returns its last topics: those of earlier times are found by shorter runs
with the same random numbers, and only the time of each run by itself is counted.

    python -m benchmarks.topics.lda_hybrid [--quick] [--resume]

Needs ``nips/nips.npz`` in $PYMC_GEODESIC_DATA.
"""

from __future__ import annotations

import time
import warnings

from argparse import Namespace
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import pymc_geodesic as pmg

from benchmarks.harness.console import parser, table
from benchmarks.harness.data import data_file
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.parts import part_of
from benchmarks.harness.records import Check, report
from benchmarks.papers.pictures import panels, save
from benchmarks.topics.lda import SETTINGS, VARIATIONAL, divided, run, second_half
from benchmarks.topics.lda_baselines import (
    CORPORA,
    FILES,
    N_TOPICS,
    Corpus,
    Snapshot,
    read_counts,
    score,
)

BENCHMARK = Benchmark(
    question="Patterson and Teh (2013), Figure 2a at alpha = 0.01: is SGRLD better than HSVG?",
    asked=(
        "In every seed, after 8 s and averaged: SGRLD with 5 sweeps below HSVG and below online "
        "variational Bayes."
    ),
    fixed="2026-11-23",
    seeds=(1, 2, 3),
)

ALPHA = 0.01
HYBRID, GIBBS = "hybrid variational Gibbs", "collapsed Gibbs"
SGRLD = {f"SGRLD, {n} sweep{'s' * (n > 1)}": n for n in (1, 5, 10)}
OURS = "SGRLD, 5 sweeps"
METHODS = (*SGRLD, HYBRID, VARIATIONAL, GIBBS)
# What is chosen on validation documents: three settings for each method.
GRID = {
    OURS: [{"a": a} for a in (0.01, 0.02, 0.05)],
    HYBRID: [{"decay": decay} for decay in (0.55, 0.7, 0.9)],
    VARIATIONAL: [{"decay": decay} for decay in (0.5, 0.7, 0.9)],
}
EARLY, END, CHOICE = (2.0, 4.0), 8.0, 4.0
HEADER = ["method", "setting", "documents", "2 s", "4 s", "8 s", "eight averaged", "of one seed"]


def hybrid(
    corpus: Corpus, times: list[float], *, decay: float, batch_size: float, seed: int
) -> list[Snapshot]:
    """Return the topics of HSVG after some seconds, each of a run by itself."""

    def fitted(n_batches: int) -> Snapshot:
        begin = time.process_time()
        found = pmg.topics.fit_hybrid_gibbs(
            corpus.train,
            n_topics=N_TOPICS,
            alpha=corpus.alpha,
            concentration=corpus.beta,
            batch_size=int(batch_size),
            n_batches=n_batches,
            sweeps=5,
            decay=decay,
            rng=seed,
        )
        return Snapshot(time.process_time() - begin, n_batches * int(batch_size), found.topics)

    # Compiles, and then tells how long a batch takes, and what comes before the first.
    fitted(1)
    few, many = (fitted(n).seconds for n in (20, 100))
    each = (many - few) / 80
    before = few - 20 * each
    return [fitted(max(1, round((t - before) / each))) for t in times]


def snapshots(
    corpus: Corpus,
    method: str,
    settings: dict[str, float],
    times: list[float],
    *,
    seed: int,
    where: str = "nips",
) -> tuple[Corpus, list[Snapshot]]:
    """Run a method and return its topics at the times, and the corpus with the priors."""
    if method == HYBRID:
        settings = {"batch_size": SETTINGS[where]["SGRLD"]["batch_size"]} | settings
        return corpus, hybrid(corpus, times, seed=seed, **settings)
    name = "SGRLD" if method in SGRLD else method
    settings = SETTINGS[where][name] | {"alpha": corpus.alpha} | settings
    if method in SGRLD:
        settings["sweeps"] = SGRLD[method]
    return run(corpus, name, settings, times, seed)


def scored(
    corpus: Corpus,
    method: str,
    settings: dict[str, float],
    *,
    times: list[float],
    n_averaged: int,
    seed: int,
    where: str = "nips",
) -> dict[str, Any]:
    """Score the topics at each time alone, and the last of them averaged."""
    corpus, kept = snapshots(corpus, method, settings, times, seed=seed, where=where)
    # From the last to the first, so that the averages are over the last ones.
    found = score(corpus, np.stack([np.asarray(s.topics) for s in reversed(kept)]))
    return {
        "settings": settings,
        "seconds": [s.seconds for s in kept],
        "documents": [s.documents for s in kept],
        "single": found.single[::-1].tolist(),
        "averaged": float(found.cumulative[min(n_averaged, len(kept)) - 1]),
    }


def row(method: str, runs: list[dict[str, Any]]) -> list[str]:
    """Medians of the seeds, and the range of the averages."""
    single = np.median([[run["single"][i] for i in (0, 1, -1)] for run in runs], axis=0)
    averages = [run["averaged"] for run in runs]
    return [
        method,
        ", ".join(f"{name} {value:g}" for name, value in runs[0]["settings"].items()),
        f"{np.median([run['documents'][-1] for run in runs]):,.0f}",
        *(f"{value:,.0f}" for value in single),
        f"{np.median(averages):,.0f}",
        f"{min(averages):,.0f} to {max(averages):,.0f}",
    ]


def checks_of(runs: dict[str, list[dict[str, Any]]], *, ours: str = OURS) -> list[Check]:
    """SGRLD's average is below the others', seed by seed."""
    checks, averages = [], [run["averaged"] for run in runs[ours]]
    for other in (HYBRID, VARIATIONAL):
        theirs = [run["averaged"] for run in runs[other]]
        below = all(a < b for a, b in zip(averages, theirs, strict=True))
        found, asked = (", ".join(f"{v:,.0f}" for v in values) for values in (averages, theirs))
        checks.append(Check(f"SGRLD, and {other}: each seed", found, f"below {asked}", below))
    return checks


def draw(runs: dict[str, list[dict[str, Any]]]) -> None:
    """Draw the perplexity of the last topics by time, and the averages at the end."""
    figure, axes = panels(1, 1)
    ax = axes[0, 0]
    figure.set_size_inches(6, 3.6)
    for method, found in runs.items():
        seconds, single = (
            np.median([[r[key][i] for i in (0, 1, -1)] for r in found], axis=0)
            for key in ("seconds", "single")
        )
        [line] = ax.plot(seconds, single, "o-", ms=3, label=method)
        averages = [r["averaged"] for r in found]
        ax.plot(seconds[-1] * 1.05, np.median(averages), "D", ms=5, color=line.get_color())
    ax.set(xscale="log", xlabel="processor time (s)", ylabel="perplexity of held-out tokens")
    ax.set_xticks([*EARLY, END], [f"{t:g}" for t in (*EARLY, END)])
    ax.minorticks_off()
    figure.legend(loc="outside right upper", fontsize=8, title="last topics (diamonds:\naverages)")
    save(figure, "simplex_figure2a")


def best(
    corpus: Corpus,
    part: Callable[..., dict[str, Any]],
    times: list[float],
    grid: dict[str, list[dict[str, float]]] = GRID,
) -> tuple[dict[str, dict[str, float]], list[list[str]]]:
    """Choose the settings of each method on validation documents; and what was found."""
    chosen, rows = {}, []
    for method, settings in grid.items():
        found = []
        for setting in settings:
            name, value = next(iter(setting.items()))
            job = partial(scored, corpus, method, setting, times=times, n_averaged=2, seed=1)
            found.append(part(f"choice {method} {value}", job)["averaged"])
            rows.append([method, f"{name} {value:g}", f"{found[-1]:,.0f}"])
        chosen[method] = settings[int(np.argmin(found))]
    table("Validation", ["method", "setting", "two averaged"], rows)
    every = {name: chosen.get(OURS if name in SGRLD else name, {}) for name in METHODS}
    return every, rows


def measured(
    corpus: Corpus,
    part: Callable[..., dict[str, Any]],
    chosen: dict[str, dict[str, float]],
    times: list[float],
    *,
    n_averaged: int,
    seeds: Sequence[int],
) -> dict[str, list[dict[str, Any]]]:
    """Run every method with every seed, the seeds one after the other."""
    runs: dict[str, list[dict[str, Any]]] = {method: [] for method in chosen}
    for seed in seeds:
        for method, found in runs.items():
            options = {"times": times, "n_averaged": n_averaged, "seed": seed}
            job = partial(scored, corpus, method, chosen[method], **options)
            found.append(part(f"{method} {seed}", job))
            print(method, seed, found[-1], flush=True)
    return runs


def compared(
    name: str,
    about: Benchmark,
    given: Namespace,
    *,
    choice: Sequence[float],
    times: Sequence[float],
    n_averaged: int,
    grid: dict[str, list[dict[str, float]]] = GRID,
) -> tuple[dict[str, list[dict[str, Any]]], list[list[str]]]:
    """Choose settings on validation documents, run all methods, and print what was found.

    Parameters
    ----------
    name : str
        Of the record.
    about : Benchmark
        What the script declares.
    given : Namespace
        Options of the command.
    choice, times : sequence of float
        Seconds of the processor after which settings are chosen, and topics scored.
    n_averaged : int
        How many of the last topics are averaged.
    grid : dict
        Settings to choose from.

    Returns
    -------
    dict, list
        Runs of each method, and the rows of the validation.
    """
    corpus = CORPORA["nips"](read_counts(data_file(FILES["nips"])))
    validation, test = divided("nips", corpus._replace(alpha=ALPHA))

    def part(what: str, job: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        options = {"quick": given.quick, "resume": given.resume}
        return part_of(name, what, job, now=True, **options)

    chosen, validated = best(validation, part, list(choice), grid)
    seeds = about.seeds[:1] if given.quick else about.seeds
    runs = measured(test, part, chosen, list(times), n_averaged=n_averaged, seeds=seeds)
    return runs, validated


def read_options(doc: str) -> Namespace:
    """Read the options of the command."""
    # JAX says that it takes indices as int32, which it does for all of single precision.
    warnings.filterwarnings("ignore", "Explicitly requested dtype", UserWarning)
    options = parser(doc.split("\n")[0])
    options.add_argument("--resume", action="store_true", help="run only what is not there yet")
    return options.parse_args()


def main() -> None:
    given = read_options(__doc__)
    scale = 0.1 if given.quick else 1.0
    runs, validated = compared(
        "lda_hybrid",
        BENCHMARK,
        given,
        choice=[0.75 * CHOICE * scale, CHOICE * scale],
        times=[t * scale for t in (*EARLY, *second_half(END))],
        n_averaged=8,
    )
    rows = [row(method, found) for method, found in runs.items()]
    table("Perplexity, medians of the seeds", HEADER, rows)
    kept = {"about": BENCHMARK, "quick": given.quick, "header": HEADER, "rows": rows}
    report("lda_hybrid", checks_of(runs), **kept, runs=runs, validation=validated)
    if not given.quick:
        draw(runs)


if __name__ == "__main__":
    main()

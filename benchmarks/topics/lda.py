#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Latent Dirichlet allocation: stochastic gradients, variational Bayes and collapsed Gibbs.

SGRLD learns the topics of NIPS papers and of arXiv abstracts against scikit-learn's online
variational Bayes and, on the papers, tomotopy's collapsed Gibbs. At each time the figure of a
method is that of eight of its topics, equally spaced in the second half of the time so far, whose
probabilities are averaged before the logarithm, for all methods alike. The perplexity is that of
the held-out tokens of test documents; ``--search`` chooses the settings one after the other by
that of other, validation documents. Times are those of the processor, without compiling and
scoring.

    python -m benchmarks.topics.lda [--quick] [--search] [--only NAME ...] [--methods NAME ...]
                             [--seconds SECONDS] [--picture] [--resume]

The counts are read from ``nips/nips.npz`` and ``arxiv/arxiv250k.npz`` in the folder that the
environment variable PYMC_GEODESIC_DATA names. With ``--picture`` nothing is run: the curves that
are in the file of results are drawn.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
import warnings

from collections.abc import Callable, Iterator
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
import pytensor

from matplotlib.ticker import NullLocator
from scipy.special import softmax

import pymc_geodesic as pmg

from benchmarks.harness.console import table
from benchmarks.harness.data import data_file
from benchmarks.harness.declared import ROOT, Benchmark
from benchmarks.harness.records import PARTS, Check, earlier, keep, report
from benchmarks.topics.lda_baselines import (
    CORPORA,
    FILES,
    N_TOPICS,
    Corpus,
    Snapshot,
    collapsed_gibbs,
    read_counts,
    score,
    scored_at,
    variational,
)

BENCHMARK = Benchmark(
    question="Latent Dirichlet allocation: is SGRLD better than online variational Bayes?",
    asked="Ends below online variational Bayes, and reaches its last figure no later.",
    fixed="2026-11-21",
    seeds=(1, 2, 3),
)

PICTURE = ROOT / "docs" / "_static" / "lda_perplexity.png"
N_AVERAGED = 8
N_DOUBLINGS = 3
N_VALIDATION, N_TEST = {"nips": 100, "arxiv": 500}, {"nips": 300, "arxiv": 1500}
VARIATIONAL = "online variational Bayes"
TITLES = {"nips": "NIPS papers", "arxiv": "arXiv abstracts"}

# What the search starts with, and what it tries in place of each.
STARTS: dict[str, dict[str, dict[str, float]]] = {
    "nips": {
        "SGRLD": {"batch_size": 50, "sweeps": 6, "a": 0.05, "b": 300, "c": 0.6, "alpha": 0.01},
        VARIATIONAL: {"batch_size": 256, "offset": 10.0, "decay": 0.7, "alpha": 0.01},
    },
    "arxiv": {
        "SGRLD": {"batch_size": 200, "sweeps": 6, "a": 0.01, "b": 1000, "c": 0.6, "alpha": 0.1},
        VARIATIONAL: {"batch_size": 256, "offset": 64.0, "decay": 0.7, "alpha": 0.1},
    },
}
GRID: dict[str, dict[str, dict[str, list[float]]]] = {
    "nips": {
        "SGRLD": {"a": [0.02], "alpha": [0.1], "batch_size": [25, 100]},
        VARIATIONAL: {"alpha": [0.1], "decay": [0.5], "batch_size": [512]},
    },
    "arxiv": {
        "SGRLD": {"a": [0.005]},
        VARIATIONAL: {"decay": [0.9]},
    },
}
# What the search found.
SETTINGS: dict[str, dict[str, dict[str, float]]] = {
    "nips": {
        "SGRLD": STARTS["nips"]["SGRLD"] | {"batch_size": 100, "a": 0.02, "alpha": 0.1},
        VARIATIONAL: STARTS["nips"][VARIATIONAL] | {"batch_size": 512, "decay": 0.5, "alpha": 0.1},
        "collapsed Gibbs": {"alpha": 0.1},
    },
    "arxiv": {
        "SGRLD": STARTS["arxiv"]["SGRLD"] | {"a": 0.005},
        VARIATIONAL: STARTS["arxiv"][VARIATIONAL] | {"decay": 0.9},
    },
}


def sgrld(
    corpus: Corpus,
    *,
    batch_size: int,
    sweeps: int,
    a: float,
    b: float,
    c: float,
    seed: int = 1,
) -> Iterator[Snapshot]:
    """Yield topics after each draw; the step sizes are ``a (1 + t / b)^-c``."""
    begin = time.process_time()
    n_documents, n_words = corpus.train.shape
    with pytensor.config.change_flags(floatX="float32"), pm.Model() as model:
        batch = pm.Minibatch(pmg.BagOfWords(corpus.train), batch_size=batch_size)
        topics = pmg.SymmetricDirichlet("topics", corpus.beta, shape=(N_TOPICS, n_words))
        pmg.LatentDirichletAllocation(
            "w", topics, corpus.alpha, observed=batch, total_size=n_documents, sweeps=sweeps
        )
        step = pmg.SGRLD(step_size=pmg.PolynomialSchedule(a, b, c), n_steps=2)
    point, seconds, seen = model.initial_point(), 0.0, 0
    # The authors' start, gamma variables of shape one. Without one the step would find its own by
    # collapsed Gibbs sampling, and the curve would be that of another method.
    logs = np.log(np.random.default_rng(seed).standard_gamma(1.0, (N_TOPICS, n_words)))
    point["topics_simplex__"] = (logs - logs.mean(axis=1, keepdims=True))[:, :-1].astype("float32")
    # The first transition compiles, which is not counted.
    step.setup_chain(np.random.default_rng(seed), tune=0, draws=1)
    step.step(point)
    step.setup_chain(np.random.default_rng(seed), tune=0, draws=1)
    print(f"SGRLD was compiled in {time.process_time() - begin:.1f} s")
    while True:
        begin = time.process_time()
        point, _ = step.step(point)
        seconds, seen = (
            seconds + time.process_time() - begin,
            seen + step.sampler.settings.n_steps * batch_size,
        )
        yield Snapshot(seconds, seen, LazyTopics(point["topics_simplex__"]))


class LazyTopics:
    """Topics that are computed from PyMC's values only if they are asked for."""

    def __init__(self, value: np.ndarray) -> None:
        self.value = value

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        """Return the probabilities (K, V)."""
        value = self.value.astype("float64")
        last = -value.sum(axis=-1, keepdims=True)
        return softmax(np.concatenate([value, last], axis=-1), axis=-1)


METHODS: dict[str, Callable[..., Iterator[Snapshot]]] = {
    "SGRLD": sgrld,
    VARIATIONAL: variational,
    "collapsed Gibbs": collapsed_gibbs,
}


def divided(name: str, corpus: Corpus) -> tuple[Corpus, Corpus]:
    """Take some documents for validation and others for the test."""
    n_validation, n_test = N_VALIDATION[name], N_TEST[name]
    order = np.random.default_rng(2).permutation(corpus.observed.shape[0])
    parts = order[:n_validation], order[n_validation : n_validation + n_test]
    return tuple(
        corpus._replace(observed=corpus.observed[rows], held_out=corpus.held_out[rows])
        for rows in parts
    )


def run(corpus: Corpus, method: str, settings: dict[str, float], times: list[float], seed: int = 1):
    """Return the snapshots at the times, and the corpus with the priors of the settings."""
    priors = {name: value for name, value in settings.items() if name in ("alpha", "beta")}
    others = {name: value for name, value in settings.items() if name not in priors}
    corpus = corpus._replace(**priors)
    return corpus, scored_at(METHODS[method](corpus, **others, seed=seed), times)


def second_half(seconds: float) -> list[float]:
    """Times of the topics that are averaged after some seconds."""
    return list(seconds * (1 + np.arange(1, N_AVERAGED + 1) / N_AVERAGED) / 2)


def averaged(corpus: Corpus, snapshots: list[Snapshot]) -> tuple[float, float]:
    """Perplexity of the last of the topics, and of all averaged."""
    draws = np.stack([np.asarray(snapshot.topics) for snapshot in reversed(snapshots)])
    found = score(corpus, draws)
    return float(found.single[0]), float(found.value)


def search(
    corpus: Corpus,
    method: str,
    settings: dict[str, float],
    grid: dict[str, list[float]],
    seconds: float,
) -> tuple[dict[str, float], float]:
    """Change one setting after the other and keep what lowers the perplexity."""
    best, lowest, rows = dict(settings), np.inf, []
    choices = [(None, None)] + [(k, v) for k, values in grid.items() for v in values]
    for name, value in choices:
        candidate = best | ({} if name is None else {name: value})
        scored, kept = run(corpus, method, candidate, second_half(seconds))
        single, found = averaged(scored, kept)
        text = ", ".join(f"{k} {v:g}" for k, v in candidate.items())
        rows.append([text, kept[-1].documents, single, found])
        print(*rows[-1], flush=True)
        if found < lowest:
            best, lowest = candidate, found
    table(f"{method}: validation", ["settings", "documents", "last", "averaged"], rows)
    return best, lowest


def curve(
    corpus: Corpus, method: str, settings: dict[str, float], seconds: float, seed: int
) -> dict:
    """Run a method once and score it at the end, at half of the time, a quarter and so on."""
    ends = [seconds / 2**i for i in range(N_DOUBLINGS, -1, -1)]
    wall = time.perf_counter()
    times = [t for end in ends for t in second_half(end)]
    scored, kept = run(corpus, method, settings, times, seed)
    wall = time.perf_counter() - wall
    rows = []
    for end in ends:
        within = [s for s in kept if end / 2 < s.seconds <= end * 1.01] or kept[:1]
        rows.append([within[-1].seconds, within[-1].documents, *averaged(scored, within)])
    table(f"{method}, seed {seed} ({wall:.0f} s)", ["s", "documents", "last", "averaged"], rows)
    sys.stdout.flush()
    seconds_, documents, last, mean = map(list, zip(*rows, strict=True))
    return {
        "settings": settings,
        "seed": seed,
        "seconds": seconds_,
        "documents": documents,
        "last": last,
        "averaged": mean,
        "wall": wall,
    }


def medians(curves: list[dict], key: str) -> np.ndarray:
    """Medians of the seeds at each time."""
    return np.median([c[key] for c in curves], axis=0)


def reached(ours: dict, theirs: dict) -> float:
    """Return when a curve is at another's last figure; infinity if it never is."""
    pairs = zip(ours["seconds"], ours["averaged"], strict=True)
    return min((t for t, p in pairs if p <= theirs["averaged"][-1]), default=np.inf)


def checks(name: str, found: dict[str, list[dict]]) -> list[Check]:
    """SGRLD ends below variational Bayes, and is at its last figure no later, in every seed."""
    pairs = list(zip(found["SGRLD"], found[VARIATIONAL], strict=True))
    ours, theirs = ([pair[i]["averaged"][-1] for pair in pairs] for i in (0, 1))
    times, end = [reached(*pair) for pair in pairs], min(pair[1]["seconds"][-1] for pair in pairs)
    title = TITLES[name]
    return [
        Check(
            f"{title}: last perplexity in each seed",
            ", ".join(f"{value:,.0f}" for value in ours),
            "below " + ", ".join(f"{value:,.0f}" for value in theirs),
            all(a < b for a, b in zip(ours, theirs, strict=True)),
        ),
        Check(
            f"{title}: variational Bayes' last figure reached by",
            ", ".join(f"{time:.1f} s" for time in times),
            f"{end:.1f} s",
            max(times) <= end * 1.01,
        ),
    ]


HEADER = ["corpus", "method", "documents", "3 s", "6 s", "12 s", "24 s", "of one seed"]
HEADER += ["last topics alone"]


def row(name: str, method: str, curves: list[dict]) -> list[str]:
    """Medians at each time, and the range of the last ones."""
    values, last = medians(curves, "averaged"), [c["averaged"][-1] for c in curves]
    return [
        TITLES[name],
        method,
        f"{np.median([c['documents'][-1] for c in curves]):,.0f}",
        *(f"{value:,.0f}" for value in values),
        f"{min(last):,.0f} to {max(last):,.0f}",
        f"{medians(curves, 'last')[-1]:,.0f}",
    ]


def draw(results: dict[str, dict[str, list[dict]]]) -> None:
    """Draw the medians of all methods, and the range of the seeds."""
    figure, axes = plt.subplots(1, len(results), figsize=(9, 3.6), squeeze=False)
    for ax, (name, found) in zip(axes[0], results.items(), strict=True):
        for method, curves in found.items():
            seconds, values = medians(curves, "seconds"), [c["averaged"] for c in curves]
            [line] = ax.plot(seconds, np.median(values, axis=0), "o-", label=method)
            color = line.get_color()
            ax.fill_between(
                seconds, np.min(values, axis=0), np.max(values, axis=0), color=color, alpha=0.3
            )
            ax.plot(seconds, medians(curves, "last"), ":", color=color, lw=1)
        ax.set(xscale="log", xlabel="processor time (s)", title=TITLES[name])
        ticks = [round(t) for t in found["SGRLD"][0]["seconds"]]
        ax.set_xticks(ticks, ticks)
        ax.xaxis.set_minor_locator(NullLocator())
    axes[0, 0].set_ylabel("perplexity of held-out tokens")
    axes[0, 0].legend(title="eight averaged (dots: the last alone)", fontsize=8, title_fontsize=8)
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few documents, to see that it runs")
    parser.add_argument("--search", action="store_true", help="choose the settings")
    parser.add_argument("--picture", action="store_true", help="draw what was found")
    parser.add_argument("--only", nargs="+", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--seconds", type=float, default=24.0, help="time for each method")
    parser.add_argument("--resume", action="store_true", help="run only what is not there yet")
    options = parser.parse_args()
    # JAX says that it takes indices as int32, which it does for all of single precision.
    warnings.filterwarnings("ignore", "Explicitly requested dtype", UserWarning)
    if options.picture:
        draw(earlier("lda")["results"])
        return
    seconds = 2.0 if options.quick else options.seconds
    results: dict[str, Any] = {}
    for name in options.only:
        counts = read_counts(data_file(FILES[name]))
        validation, test = divided(name, CORPORA[name](counts[:3000] if options.quick else counts))
        methods = [method for method in SETTINGS[name] if method in options.methods]
        if options.search:
            for method in set(methods) & set(GRID[name]):
                start, grid = STARTS[name][method], GRID[name][method]
                print(name, *search(validation, method, start, grid, seconds))
        else:
            seeds = BENCHMARK.seeds[:1] if options.quick else BENCHMARK.seeds
            results[name] = {method: [] for method in methods}
            for seed, method in itertools.product(seeds, methods):
                part = PARTS / f"lda_{name}_{method.replace(' ', '_')}_{seed}.json"
                if options.resume and part.exists():
                    found = json.loads(part.read_text())
                else:
                    found = curve(test, method, SETTINGS[name][method], seconds, seed)
                    if not options.quick:
                        keep(part, found)
                results[name][method].append(found)
    if not options.search:
        finish(results, quick=options.quick)


def finish(results: dict[str, dict[str, list[dict]]], *, quick: bool) -> None:
    """Report and draw the results, with those of earlier runs on other corpora."""
    if not quick:
        results = earlier("lda").get("results", {}) | results
    rows = [
        row(name, method, curves)
        for name, found in results.items()
        for method, curves in found.items()
    ]
    table("Perplexity, medians of the seeds", HEADER, rows)
    asked = [
        check
        for name, found in results.items()
        if {"SGRLD", VARIATIONAL} <= set(found)
        for check in checks(name, found)
    ]
    figures = {"results": results, "n_topics": N_TOPICS, "header": HEADER, "rows": rows}
    report("lda", asked, about=BENCHMARK, quick=quick, **figures)
    if not quick:
        draw(results)


if __name__ == "__main__":
    main()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Topics of 20 Newsgroups by Poisson factor analysis, with and without Monte Carlo EM.

The counts are Poisson with means that K topics and the document's factors make; the factors are
Gamma with the weights of a gamma process, truncated to K atoms. Topics and weights are sampled
with minibatches of documents. What is local to a document is not: its factors are integrated out,
and the topics of its words drawn anew for every gradient by a few sweeps of Gibbs, begun from
nothing, so that the gradient is that of Fisher's identity up to what these sweeps have left of
their start.

The figure is the perplexity of the fifth of the words of every test document that was hidden,
given the rest of them: the exponential of the mean negative log probability, the probability
averaged over draws of the chain before the logarithm.

    python -m benchmarks.topics.pfa [--quick] [--validate] [--seconds SECONDS] [--only NAME ...]

The counts are read from ``20news/20news.npz`` in the folder that the environment variable
PYMC_GEODESIC_DATA names. ``--validate`` scores training documents that are left out, for choosing
step sizes, in place of the test documents.
"""

from __future__ import annotations

import argparse
import time
import warnings

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sklearn.decomposition import LatentDirichletAllocation

import pymc_geodesic as pmg

from benchmarks.harness.console import table
from benchmarks.harness.data import data_file
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.topics.poisson_factors import (
    TOPIC,
    Completion,
    complete,
    factor_model,
    gibbs_sampler,
    perplexity,
    predictive,
)
from benchmarks.topics.poisson_factors import newsgroups as read_newsgroups

BENCHMARK = Benchmark(
    question="Poisson factor analysis of 20 Newsgroups: what does a learned mass gain?",
    asked="A perplexity of 745 or below, for any method.",
    fixed="2026-11-21",
    seeds=(1,),
    measures=("algorithms", "tuning/mass_adaptation", "tuning/monte_carlo_em"),
)

VOCABULARY, N_TOPICS, BATCH_SIZE, HIDDEN, N_VALIDATION = 2000, 200, 100, 0.2, 600
# Times at which a draw is scored.
N_SCORED = 15
PUBLISHED = {"SGNHT": 758, "Riemannian Nose-Poincare": 723, "Gibbs": 763}
ASKED = 745


class WarmUp(NamedTuple):
    """A step size that grows while the mass is still unknown, and then slowly decays."""

    step_size: float
    growing: int = 300
    steady: int = 5000

    def __call__(self, transition: np.ndarray) -> np.ndarray:
        decay = (1 + transition / self.steady) ** -0.3
        return self.step_size * decay * np.minimum(1.0, 0.05 + transition / self.growing)


# The fastest decay: what is learned from few samples must not carry entries that have no words, and
# so no noise, to masses with which they are thrown out when words come.
em = partial(pmg.MonteCarloEM, decay=1.0)
FIVE = {"n_steps": 5}
STEPS = {
    "SGHMC": partial(pmg.SGHMC, step_size=WarmUp(0.001), friction=30.0, **FIVE),
    "SGHMC, EM": partial(
        pmg.SGHMC,
        step_size=WarmUp(0.007),
        friction=4.0,
        mass=em(update_every=10),
        **FIVE,
    ),
    "SGNHT": partial(pmg.SGNHT, step_size=WarmUp(0.001), diffusion=10.0, **FIVE),
    "SGNHT, EM": partial(
        pmg.SGNHT,
        step_size=WarmUp(0.007),
        diffusion=3.0,
        mass=em(update_every=10),
        **FIVE,
    ),
}
# Share of the time in which the mass is learned; the draws afterwards are averaged.
LEARNING = 0.5


class Topics(NamedTuple):
    """Topics and weights after some seconds of sampling, with what else there is to say."""

    seconds: float
    iterations: int
    phi: np.ndarray
    weights: np.ndarray
    stats: dict[str, Any]


def by_step(step, start: dict, limit: float, *, seed: int) -> Iterator[Topics]:
    """Draw from a chain; the mass is learned in the first part of the time."""
    step.setup_chain(np.random.default_rng(seed), tune=1, draws=1)
    point, seconds, draws, diverging = start, 0.0, 0, 0
    while seconds < limit:
        begin = time.process_time()
        point, [stats] = step.step(point)
        seconds += time.process_time() - begin
        draws += 1
        diverging += int(stats["diverging"])
        if step.tune and seconds > LEARNING * limit:
            step.stop_tuning()
        phi, weights = np.exp(point["gamma_log__"]), np.exp(point["weights_log__"])
        stats = stats | {"diverging": diverging}
        yield Topics(
            seconds, draws * step.sampler.settings.n_steps, phi / phi.sum(axis=0), weights, stats
        )


def by_gibbs(counts: sp.csr_matrix, limit: float, *, seed: int) -> Iterator[Topics]:
    """Draw by collapsed Gibbs over all documents, one sweep after the other."""
    # Compiles, which is not counted.
    next(gibbs_sampler(counts[:1], N_TOPICS, seed=seed))
    sampler, seconds, sweeps = gibbs_sampler(counts, N_TOPICS, seed=seed), 0.0, 0
    while seconds < limit:
        begin = time.process_time()
        phi, weights = next(sampler)
        seconds += time.process_time() - begin
        sweeps += 1
        yield Topics(seconds, sweeps, phi, weights, {})


def scored(
    draws: Iterator[Topics], documents: Completion, limit: float, *, early: bool = True
) -> list[dict[str, Any]]:
    """Score a draw now and then, and the average over those after the mass was learned.

    Without ``early`` draws are scored only if they are averaged.
    """
    records, total, n_averaged, due = [], 0.0, 0, limit / N_SCORED
    for draw in draws:
        if draw.seconds < due:
            continue
        due = limit / N_SCORED * (1 + draw.seconds // (limit / N_SCORED))
        if not early and draw.seconds <= LEARNING * limit:
            continue
        probability = predictive(documents, draw.phi, draw.weights)
        record = {"seconds": draw.seconds, "iterations": draw.iterations}
        record["single"] = perplexity(documents, probability)
        if draw.seconds > LEARNING * limit:
            total, n_averaged = total + probability, n_averaged + 1
            record["averaged"] = perplexity(documents, total / n_averaged)
        record["topics"] = int((draw.weights > 0.002).sum())
        kept = ("kinetic_temperature", "mass_ratio", "diverging")
        records.append(record | {key: draw.stats[key] for key in kept if key in draw.stats})
    return records


def by_variational_bayes(counts, documents: Completion, limit: float) -> list[dict[str, Any]]:
    """Latent Dirichlet allocation by scikit-learn's online variational Bayes."""
    fit = LatentDirichletAllocation(
        N_TOPICS,
        doc_topic_prior=0.0125,
        topic_word_prior=TOPIC,
        total_samples=counts.shape[0],
        random_state=1,
    )
    rng, begin, n = np.random.default_rng(1), time.process_time(), 0
    while time.process_time() - begin < limit:
        fit.partial_fit(counts[rng.choice(counts.shape[0], BATCH_SIZE, replace=False)])
        n += 1
    seconds = time.process_time() - begin
    factors = fit.transform(documents.seen)
    phi = fit.components_ / fit.components_.sum(axis=1, keepdims=True)
    hidden = documents.hidden
    rows = np.repeat(np.arange(hidden.shape[0]), np.diff(hidden.indptr))
    probability = np.einsum("ik,ki->i", factors[rows], phi[:, hidden.indices])
    single = perplexity(documents, probability)
    return [{"seconds": seconds, "iterations": n, "single": single}]


def starting_point(counts: sp.csr_matrix, *, seed: int) -> dict[str, np.ndarray]:
    """Five random documents of some length a topic, smoothed by the frequencies of the words."""
    rng = np.random.default_rng(seed)
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    chosen = rng.permutation(np.flatnonzero(lengths >= 50))[: 5 * N_TOPICS].reshape(N_TOPICS, 5)
    parts = np.array([np.asarray(counts[rows].sum(axis=0)).ravel() for rows in chosen])
    phi = 0.7 * parts / parts.sum(axis=1, keepdims=True) + 0.3 * unigram(counts)
    gamma = np.ascontiguousarray(np.log(TOPIC * VOCABULARY * phi.T))
    return {"weights_log__": np.full(N_TOPICS, np.log(0.03)), "gamma_log__": gamma}


def unigram(counts: sp.csr_matrix) -> np.ndarray:
    frequency = np.asarray(counts.sum(axis=0)).ravel() + 0.1
    return frequency / frequency.sum()


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few draws, to see that it runs")
    parser.add_argument("--validate", action="store_true", help="score left-out training documents")
    parser.add_argument(
        "--seconds", type=float, default=100.0, help="processor time of each method"
    )
    parser.add_argument("--only", nargs="*", help="methods to run, by name")
    return parser.parse_args()


def corpus(*, validate: bool) -> tuple[sp.csr_matrix, Completion]:
    """Read documents to fit and documents to complete."""
    train, test = read_newsgroups(data_file("20news", "20news.npz"), VOCABULARY)
    return divided(train, test, validate=validate)


def divided(
    train: sp.csr_matrix, test: sp.csr_matrix, *, validate: bool
) -> tuple[sp.csr_matrix, Completion]:
    """Hide words of the test documents, or of training documents that are left out."""
    # The training documents may be sorted, such as by newsgroup.
    order = np.random.default_rng(1).permutation(train.shape[0])
    if validate:
        train, test = train[order[N_VALIDATION:]], train[order[:N_VALIDATION]]
    return train, complete(test, HIDDEN, seed=1)


def main() -> None:
    warnings.simplefilter("ignore", UserWarning)
    given = options()
    limit = 20.0 if given.quick else given.seconds
    counts, documents = corpus(validate=given.validate)
    model, start = factor_model(counts, N_TOPICS, BATCH_SIZE), starting_point(counts, seed=1)

    def chain(name: str) -> list[dict[str, Any]]:
        with model:
            step = STEPS[name]()
        return scored(by_step(step, start, limit, seed=1), documents, limit)

    runs = {
        "Gibbs, all documents": lambda: scored(by_gibbs(counts, limit, seed=1), documents, limit),
        "LDA, online VB": lambda: by_variational_bayes(counts, documents, limit),
    }
    runs |= {name: partial(chain, name) for name in STEPS}
    baseline = perplexity(documents, unigram(counts)[documents.hidden.indices])
    paths, rows = {}, [["unigram", "", "", baseline, baseline, "", "", "", ""]]
    for name in given.only or runs:
        paths[name] = runs[name]()
        rows.append(row(name, paths[name]))
        print(*rows[-1], flush=True)
    header = ["method", "seconds", "iterations", "one draw", "averaged", "topics in use"]
    header += ["temperature", "mass ratio", "diverging draws"]
    table(f"Perplexity; published {PUBLISHED}", header, rows)
    print_paths(paths, limit)
    checks = []
    for name in STEPS.keys() & paths.keys():
        value = paths[name][-1].get("averaged", np.inf)
        checks.append(Check(f"{name}: perplexity", f"{value:.1f}", f"<= {ASKED}", value <= ASKED))
    keep = not (given.quick or given.validate or given.only)
    report(
        "pfa",
        sorted(checks),
        about=BENCHMARK,
        quick=not keep,
        header=header,
        rows=rows,
        paths=paths,
    )


def row(name: str, path: list[dict[str, Any]]) -> list[Any]:
    """Write the last state of a run as a row of the table."""
    last = path[-1]
    keys = ("averaged", "topics", "kinetic_temperature", "mass_ratio", "diverging")
    return [
        name,
        last["seconds"],
        last["iterations"],
        last["single"],
        *(last.get(key, "") for key in keys),
    ]


def print_paths(paths: dict[str, list[dict[str, Any]]], limit: float) -> None:
    """Print one draw's perplexity, then the average's where there is one, against time."""
    times = [limit * part / 5 for part in range(1, 6)]
    rows = []
    for name, path in paths.items():
        found = []
        for at in times:
            reached = [record for record in path if record["seconds"] <= at + limit / N_SCORED]
            found.append(reached[-1].get("averaged", reached[-1]["single"]) if reached else np.nan)
        rows.append([name, *found])
    table("Perplexity against seconds", ["method", *(f"{at:.0f}" for at in times)], rows)


if __name__ == "__main__":
    main()

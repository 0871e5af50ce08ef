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

The counts are read from ``20news/20news.npz`` in the folder that the environment variable
PYMC_GEODESIC_DATA names.
"""

from __future__ import annotations

import time

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import pymc_geodesic as pmg

from benchmarks.harness.data import data_file
from benchmarks.topics.poisson_factors import (
    TOPIC,
    Completion,
    complete,
    gibbs_sampler,
    perplexity,
    predictive,
)
from benchmarks.topics.poisson_factors import newsgroups as read_newsgroups

VOCABULARY, N_TOPICS, BATCH_SIZE, HIDDEN, N_VALIDATION = 2000, 200, 100, 0.2, 600
# Times at which a draw is scored.
N_SCORED = 15


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

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A mixture of unigrams on Reuters-21578: SGRLD against ADVI at equal wall time.

Every document has one topic; topics and their weights have Dirichlet priors, and the document's
topic is summed out. The figure is the log predictive density of the held-out documents of the
ModApte split, in nats a word, averaged over draws of the posterior (and of ADVI's approximation).

    python -m benchmarks.topics.simplex_mixture [--quick]

The counts are read from ``reuters/reuters21578.npz`` in the folder that the environment variable
PYMC_GEODESIC_DATA names.
"""

from __future__ import annotations

import logging
import time
import warnings

from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import scipy.sparse as sp

from scipy.special import logsumexp

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.data import data_file
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import sample

BENCHMARK = Benchmark(
    question="A mixture of unigrams on Reuters: is SGRLD better than ADVI at equal time?",
    asked="SGRLD above ADVI.",
    fixed="2026-11-21",
    seeds=(1,),
    measures=("algorithms", "manifolds", "potential"),
)

VOCABULARY, N_TOPICS = 2000, 20
# More than any run makes; PyMC sets room aside for them.
MOST_DRAWS = 2000
# Prior concentrations of the topics: sparse, and not so sparse that ADVI's draws underflow.
ALPHAS = (0.1, 0.5)


class Phase(NamedTuple):
    """A part of a run: share of the time, rows of a batch, transitions a draw, step's options."""

    share: float
    batch_size: int
    n_steps: int
    options: dict


# All settings were chosen on a tenth of the training documents.
EULER = {
    "dynamics": "euler",
    "step_size": pmg.PolynomialSchedule(0.02, 500, 0.5),
    "variance_reduction": None,
}
CIR = {"dynamics": "cir", "step_size": pmg.PolynomialSchedule(0.02, 1000, 0.5)}
RUNS = {
    "SGRLD, euler": [Phase(1.0, 200, 20, EULER)],
    "SGRLD, cir": [Phase(1.0, 1000, 4, CIR)],
    "SGRLD, euler, then cir": [Phase(0.4, 200, 20, EULER), Phase(0.6, 1000, 4, CIR)],
}
ADVI_BATCH_SIZE, RATES = 200, (0.01, 0.005)


def reuters(file: Path) -> tuple[np.ndarray, np.ndarray]:
    """Counts of the most frequent words in the training and the test documents."""
    with np.load(file) as z:
        parts = [z[name].astype(np.int32) for name in ("data", "indices", "indptr")]
        counts = sp.csr_matrix(tuple(parts), shape=tuple(int(s) for s in z["shape"]))
        split = z["modapte_split"]
    train, test = counts[split == 0], counts[split == 1]
    words = np.argsort(-np.asarray(train.sum(axis=0)).ravel())[:VOCABULARY]
    dense = [np.asarray(part[:, words].todense(), dtype="int32") for part in (train, test)]
    return tuple(part[part.sum(axis=1) > 0] for part in dense)


def log_density(counts, weights, topics):
    """Log probability of documents, without the multinomial coefficient."""
    # PyMC gives parameters of one law for all rows an axis for the rows.
    weights = weights[0] if weights.ndim == 2 else weights
    topics = topics[0] if topics.ndim == 3 else topics
    by_topic = pt.log(weights) + pt.dot(counts.astype(topics.dtype), pt.log(topics).T)
    return pt.logsumexp(by_topic, axis=-1)


def make_model(counts: np.ndarray, alpha: float, batch_size: int) -> pm.Model:
    with pm.Model() as model:
        weights = pm.Dirichlet("weights", np.ones(N_TOPICS))
        topics = pm.Dirichlet("topics", np.full((N_TOPICS, VOCABULARY), alpha))
        batch = pm.Minibatch(counts, batch_size=batch_size)
        pm.CustomDist(
            "x",
            weights,
            topics,
            logp=log_density,
            signature="(k),(k,v)->(v)",
            observed=batch,
            total_size=len(counts),
        )
    return model


def held_out(counts: np.ndarray, weights: np.ndarray, topics: np.ndarray) -> float:
    """Log predictive density a word; draws in the first axis."""
    counts = sp.csr_matrix(counts.astype(float))
    logs = []
    for w, t in zip(weights, topics, strict=True):
        logs.append(logsumexp(np.log(w) + counts @ np.log(np.maximum(t, 1e-300)).T, axis=1))
    return float((logsumexp(logs, axis=0) - np.log(len(logs))).sum() / counts.sum())


class Clock:
    """A callback that stops a run; it starts at its first call, so that compilation is free."""

    def __init__(self, seconds: float, stop: type[BaseException]) -> None:
        self.seconds, self.stop, self.begin = seconds, stop, None

    @property
    def elapsed(self) -> float:
        """Seconds since the first call."""
        return time.perf_counter() - self.begin

    def __call__(self, *_, **__) -> None:
        self.begin = self.begin or time.perf_counter()
        if self.elapsed > self.seconds:
            raise self.stop


def by_sgrld(make, start, seconds: float, phases: list[Phase]):
    """Draws of the second half of the last phase; every phase starts where the last one ended."""
    gradients, elapsed, finite = 0, 0.0, True
    for share, batch_size, n_steps, options in phases:
        model = make(batch_size=batch_size)
        step = pmg.SGRLD(model=model, n_steps=n_steps, **options)
        clock = Clock(share * seconds, KeyboardInterrupt)
        run = sample(
            model,
            lambda step=step: step,
            draws=MOST_DRAWS,
            tune=0,
            chains=1,
            initvals=start,
            random_seed=1,
            callback=clock,
        )
        elapsed += clock.elapsed
        weights, topics = (run.draws[name][0] for name in ("weights", "topics"))
        gradients += len(weights) * n_steps
        finite &= not run.stats["diverging"].any()
        start = {"weights": _inside(weights[-1]), "topics": _inside(topics[-1])}
    half = slice(len(weights) // 2, None)
    return weights[half], topics[half], gradients, elapsed, finite


def _inside(p: np.ndarray) -> np.ndarray:
    """Keep probabilities that have underflowed off the border, where no run can start."""
    p = np.maximum(p, 1e-200)
    return p / p.sum(axis=-1, keepdims=True)


def by_advi(make, start, seconds: float, rate: float, quick: bool):
    """A hundred draws of the mean-field approximation, fitted with Adam."""
    clock = Clock(seconds, StopIteration)
    model = make(batch_size=ADVI_BATCH_SIZE)
    with model, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            approximation = pm.fit(
                10_000_000,
                method="advi",
                start=start,
                obj_optimizer=pm.adam(learning_rate=rate),
                callbacks=[clock],
                progressbar=False,
                random_seed=1,
            )
        except FloatingPointError:
            return None, None, -1, clock.elapsed, False
        elapsed = clock.elapsed
        idata = approximation.sample(20 if quick else 100, random_seed=1)
    draws = [np.asarray(idata["posterior"][name])[0] for name in ("weights", "topics")]
    return *draws, len(approximation.hist), elapsed, bool(np.isfinite(approximation.hist).all())


def main() -> None:
    logging.getLogger("pymc").setLevel(logging.ERROR)
    quick = arguments(__doc__.splitlines()[0]).quick
    seconds = 3.0 if quick else 20.0
    train, test = reuters(data_file("reuters", "reuters21578.npz"))

    # The same start for all: one random document in twenty a topic, smoothed by all of them.
    rng = np.random.default_rng(1)
    unigram = (train.sum(axis=0) + 0.1) / (train.sum() + 0.1 * VOCABULARY)
    parts = [train[rng.integers(0, N_TOPICS, len(train)) == k].sum(axis=0) for k in range(N_TOPICS)]
    topics = np.array([0.5 * part / part.sum() + 0.5 * unigram for part in parts])
    start = {"weights": np.full(N_TOPICS, 1 / N_TOPICS), "topics": topics}
    baseline = held_out(test, np.ones((1, 1)), unigram[None, None])

    rows, found = [["", "one topic", "", "", baseline, "", True]], {}
    for alpha in ALPHAS:
        make = partial(make_model, train, alpha)
        runs = {name: partial(by_sgrld, phases=phases) for name, phases in RUNS.items()}
        for rate in RATES:
            runs[f"ADVI, Adam {rate:g}"] = partial(by_advi, rate=rate, quick=quick)
        for name, run in runs.items():
            w, t, n, elapsed, finite = run(make, start, seconds)
            value = -np.inf if w is None else held_out(test, w, t)
            used = "" if w is None else int((w.mean(axis=0) > 0.01).sum())
            found[alpha, name] = value
            rows.append([alpha, name, n, elapsed, value, used, finite])
            print(*rows[-1], flush=True)
    header = [
        "alpha",
        "method",
        "gradients",
        "seconds",
        "held-out nats a word",
        "topics in use",
        "finite",
    ]
    table(f"{len(train)} documents to fit, {len(test)} held out", header, rows)
    checks = []
    for alpha in ALPHAS:
        advi = max(found[alpha, name] for a, name in found if a == alpha and name[:4] == "ADVI")
        for name in RUNS:
            value = found[alpha, name]
            what = f"alpha = {alpha}: {name} against the better ADVI, nats a word"
            checks.append(Check(what, f"{value:.4f} against {advi:.4f}", "higher", value > advi))
    report("simplex_mixture", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)


if __name__ == "__main__":
    main()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Step sizes and concentrations of topic models that follow from the corpus, on four corpora.

Nothing is chosen by hand. Latent Dirichlet allocation is learned by ``SGRLD()`` without a step
size; word frequencies and scikit-learn's online variational Bayes, after as many documents, predict
the same held-out tokens. In the spherical admixture model the concentrations of documents and of
topics are maximum-likelihood values for clusters of documents, and the step size follows from
them; held-out documents are scored against the uniform distribution and against the best von
Mises-Fisher distribution about one mean direction.

    python -m benchmarks.topics.topic_rules [--quick] [--only NAME ...] [--seed SEED]

The corpora are those of ``nips/nips.npz``, ``20news/20news.npz``, ``reuters/reuters21578.npz`` and
``arxiv/arxiv250k.npz`` in the folder that the environment variable PYMC_GEODESIC_DATA names; of
the arXiv abstracts a quarter of the tokens is kept, for documents as short as titles.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pymc as pm
import scipy.sparse as sp

from scipy.cluster.vq import kmeans2
from sklearn.decomposition import LatentDirichletAllocation

import pymc_geodesic as pmg

from benchmarks.harness.console import table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import Run, sample
from pymc_geodesic.topic_models import (
    document_completion_perplexity,
    fit_concentration,
    log_perplexity,
    split_tokens,
)

BENCHMARK = Benchmark(
    question="Do settings that follow from the corpus work?",
    asked=(
        "Better than word frequencies, and spherical topics above the uniform distribution and "
        "above one direction, on every corpus."
    ),
    fixed="2026-11-22",
    seeds=(1,),
    measures=("topic_models", "algorithms"),
)

FILES = {
    "nips": ("nips/nips.npz", ""),
    "20news": ("20news/20news.npz", "train_"),
    "reuters": ("reuters/reuters21578.npz", ""),
    "arxiv": ("arxiv/arxiv250k.npz", ""),
}
# Documents read, documents to score, share of the tokens that is kept.
SIZES = {
    "nips": (1500, 150, 1.0),
    "20news": (11269, 500, 1.0),
    "reuters": (21578, 500, 1.0),
    "arxiv": (40000, 2000, 0.25),
}
MOST_WORDS, SPHERICAL_WORDS, SPHERICAL_DOCUMENTS = 5000, 1500, 2000
N_TOPICS, ALPHA, BETA, BATCH_SIZE = 20, 0.1, 0.05, 100
N_DIRECTIONS, DIRECTION_ALPHA, DIRECTION_BATCH = 6, 2.0, 50

# Fixed before the run.
ASKED = {
    "of word frequencies": 0.95,
    "of variational Bayes": 1.1,
    "nats above uniform": 0.0,
    "nats above one direction": 0.0,
    "temperature": (0.9, 1.1),
}


def read(name: str, folder: Path, *, quick: bool) -> sp.csr_array:
    """Read counts in random order, of the words that most documents have, save a tenth of them."""
    file, prefix = FILES[name]
    n_documents, _, share = SIZES[name]
    with np.load(folder / file) as z:
        data, indices, indptr, shape = (
            z[prefix + part] for part in ("data", "indices", "indptr", "shape")
        )
        parts = (data.astype("int32"), indices.astype("int32"), indptr.astype("int64"))
        counts = sp.csr_array(parts, shape=tuple(map(int, shape)))
    rng = np.random.default_rng(1)
    order = rng.permutation(counts.shape[0])[: 2500 if quick else n_documents]
    counts = common_words(counts[np.sort(order)], MOST_WORDS)
    if share < 1:
        counts = split_tokens(counts, fraction=share, rng=rng)[1]
    counts = counts[counts.sum(axis=1) > 4]
    return counts[rng.permutation(counts.shape[0])]


def common_words(counts: sp.csr_array, n: int) -> sp.csr_array:
    """Keep the words that most documents have, save those that a tenth of them have."""
    containing = np.bincount(counts.indices, minlength=counts.shape[1])
    containing[containing > 0.1 * counts.shape[0]] = 0
    return sp.csr_array(counts[:, np.sort(np.argsort(-containing, kind="stable")[:n])])


def allocation(counts: sp.csr_array, n_test: int, *, quick: bool, seed: int) -> dict[str, float]:
    """Learn topics by the default step sizes, and score what else predicts the same tokens."""
    learned = counts[n_test:]
    n_documents, n_words = learned.shape
    observed, held_out = split_tokens(counts[:n_test], fraction=0.2, rng=1)
    with pm.Model() as model:
        batch = pm.Minibatch(pmg.BagOfWords(learned), batch_size=BATCH_SIZE)
        topics = pmg.SymmetricDirichlet("topics", BETA, shape=(N_TOPICS, n_words))
        pmg.LatentDirichletAllocation(
            "words", topics, ALPHA, observed=batch, total_size=n_documents, sweeps=6
        )
    tune, draws = (20, 20) if quick else (100, 100)
    run = sample(
        model,
        lambda: pmg.SGRLD(n_steps=5, backend="jax"),
        tune=tune,
        draws=draws,
        chains=1,
        random_seed=seed,
    )

    def score(draws: np.ndarray) -> Any:
        return document_completion_perplexity(
            draws, observed=observed, held_out=held_out, alpha=ALPHA, sweeps=40, rng=1
        )

    found = score(run.draws["topics"][0, :: draws // 10][::-1])
    frequencies = np.asarray(learned.sum(axis=0)).ravel() + BETA
    frequencies = np.log(frequencies / frequencies.sum())
    seen = 5 * (tune + draws) * BATCH_SIZE
    return {
        "tokens per document": float(learned.sum() / n_documents),
        "passes": seen / n_documents,
        "word frequencies": float(np.exp(-(held_out @ frequencies).sum() / held_out.sum())),
        "variational Bayes": float(score(variational(learned, seen)[None]).value),
        "last draw": float(found.single[0]),
        "ten draws": float(found.value),
        "seconds": run.seconds,
    }


def variational(counts: sp.csr_array, n_documents: int) -> np.ndarray:
    """Topics of online variational Bayes after so many documents."""
    model = LatentDirichletAllocation(
        N_TOPICS,
        doc_topic_prior=ALPHA,
        topic_word_prior=BETA,
        learning_offset=10.0,
        total_samples=counts.shape[0],
        random_state=1,
    )
    starts = np.arange(0, n_documents, 256) % counts.shape[0]
    for start in starts:
        model.partial_fit(counts[start : start + 256])
    return model.components_ / model.components_.sum(axis=1, keepdims=True)


def admixture(counts: sp.csr_array, n_test: int, *, quick: bool, seed: int) -> dict[str, float]:
    """Learn spherical topics, and score held-out documents against two simple distributions."""
    counts = common_words(counts[: SPHERICAL_DOCUMENTS + n_test], SPHERICAL_WORDS)
    counts = counts[np.diff(counts.indptr) > 4]
    learned = pmg.BagOfWords(counts[n_test:])
    idf = learned.inverse_document_frequencies()
    learned, new = learned.tf_idf(), pmg.BagOfWords(counts[:n_test]).tf_idf(idf=idf)
    centers, _ = kmeans2(learned.matrix.toarray(), N_DIRECTIONS, minit="++", seed=3)
    centers /= np.linalg.norm(centers, axis=1, keepdims=True)
    kappa, of_topics = fit_concentration(learned, topics=centers), fit_concentration(centers)
    of_mean, mean = fit_concentration(learned), learned.mean_direction()
    run = spherical_run(learned, centers, kappa, of_topics, quick=quick, seed=seed)

    def score(topics: np.ndarray, concentration: float) -> float:
        options = {"alpha": DIRECTION_ALPHA, "kappa": concentration, "rng": 1}
        return log_perplexity(topics, documents=new, **options).value

    found = score(run.draws["topics"][0, ::10], kappa)
    return {
        "kappa / V": kappa / learned.n_words,
        "kappa / V of the mean": of_mean / learned.n_words,
        "nats above uniform": score(mean[None, None], 1e-9) - found,
        "nats above one direction": score(mean[None, None], of_mean) - found,
        "temperature": float(run.stats["kinetic_temperature"].mean()),
        "seconds": run.seconds,
    }


def spherical_run(
    learned: pmg.BagOfWords,
    centers: np.ndarray,
    kappa: float,
    of_topics: float,
    *,
    quick: bool,
    seed: int,
) -> Run:
    """Sample the topics with the step size that follows from the concentration."""
    with pm.Model() as model:
        batch = pm.Minibatch(learned, batch_size=DIRECTION_BATCH)
        shape = (DIRECTION_BATCH, N_DIRECTIONS)
        theta = pm.Dirichlet("theta", np.full(N_DIRECTIONS, DIRECTION_ALPHA), shape=shape)
        topics = pmg.CollapsedMeanTopics(
            "topics",
            learned.mean_direction(),
            of_topics,
            n_topics=N_DIRECTIONS,
            mean_concentration=of_topics,
            initval=centers,
        )
        pmg.SphericalAdmixture("v", theta, topics, kappa, observed=batch, total_size=len(learned))
    step_size = 0.1 * np.sqrt(N_DIRECTIONS / (len(learned) * kappa))
    tune, draws = (10, 20) if quick else (100, 100)
    return sample(
        model,
        lambda: pmg.gSGNHT(
            "topics",
            local=pmg.LocalGMC("theta", draws=5, tune=10),
            step_size=step_size,
            diffusion=0.02 / step_size,
            n_steps=10,
            backend="jax",
        ),
        tune=tune,
        draws=draws,
        chains=1,
        random_seed=seed,
        var_names=["topics"],
    )


def checks(name: str, words: dict[str, float], directions: dict[str, float]) -> list[Check]:
    """Compare the figures with what was asked for."""
    rows: list[Check] = []

    def ask(what: str, found: float, asked: str, passed: Callable[[float], bool]) -> None:
        rows.append(Check(f"{name}: {what}", f"{found:.4g}", asked, passed(found)))

    for reference in ("word frequencies", "variational Bayes"):
        limit = ASKED[f"of {reference}"]
        share = words["ten draws"] / words[reference]
        ask(f"perplexity / {reference}", share, f"below {limit}", lambda x, m=limit: x < m)
    for what in ("nats above uniform", "nats above one direction"):
        ask(what, directions[what], f"above {ASKED[what]:g}", lambda x, m=ASKED[what]: x > m)
    low, high = ASKED["temperature"]
    ask("temperature", directions["temperature"], f"{low} to {high}", lambda x: low < x < high)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few documents, to see that it runs")
    parser.add_argument("--only", nargs="+", choices=FILES, default=list(FILES))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder = os.environ.get("PYMC_GEODESIC_DATA")
    if not folder:
        sys.exit(f"Set PYMC_GEODESIC_DATA to the folder that holds {list(FILES.values())}")
    warnings.filterwarnings("ignore", "Explicitly requested dtype", UserWarning)
    asked, results = [], {}
    for name in options.only:
        begin = time.perf_counter()
        counts = read(name, Path(folder), quick=options.quick)
        settings = {"quick": options.quick, "seed": options.seed}
        words = allocation(counts, SIZES[name][1], **settings)
        directions = admixture(counts, min(SIZES[name][1], 500), **settings)
        results[name] = {"words": words, "directions": directions}
        for title, found in results[name].items():
            table(f"{name}: {title}", list(found), [list(found.values())])
        print(f"{name} took {time.perf_counter() - begin:.0f} s", flush=True)
        asked += checks(name, words, directions)
    report(
        "topic_rules",
        asked,
        about=BENCHMARK,
        quick=options.quick,
        seed=options.seed,
        results=results,
    )


if __name__ == "__main__":
    main()

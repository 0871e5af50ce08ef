#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The spherical admixture model for sam_20news.py, sam_arxiv_methods.py and sam_compile.py."""

from __future__ import annotations

import time

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pymc as pm
import scipy.sparse as sp

import pymc_geodesic as pmg

from benchmarks.harness.data import data_file

__all__ = [
    "ALPHA",
    "KAPPA",
    "SIGMA",
    "Draw",
    "by_package",
    "chain",
    "is_due",
    "model_of",
    "noisy_mean",
    "perplexity",
    "read_csr",
    "read_newsgroups",
]

# The paper's parameters for 20News-different.
ALPHA, SIGMA, KAPPA = 10.0, 1e4, 3e4
N_PROPORTIONS = 200


class Draw(NamedTuple):
    """Topics after a draw, with the seconds that sampling has taken, and the step's statistics."""

    wall: float
    cpu: float
    topics: np.ndarray
    stats: dict[str, Any]


def read_csr(archive, prefix: str) -> sp.csr_array:
    """Read a sparse matrix from its parts in an open ``.npz`` file."""
    data, indices, indptr, shape = (
        archive[prefix + part] for part in ("data", "indices", "indptr", "shape")
    )
    return sp.csr_array((data, indices.astype("int32"), indptr), shape=tuple(map(int, shape)))


def read_newsgroups() -> tuple[pmg.BagOfWords, sp.csr_array]:
    """Read the paper's unit vectors: documents to fit, and documents to score."""
    with np.load(data_file("20news_diff", "20news_diff.npz")) as z:
        return pmg.BagOfWords(read_csr(z, "train_tfidf_")), read_csr(z, "test_tfidf_")


def model_of(
    corpus: pmg.BagOfWords,
    *,
    n_topics: int,
    batch_size: int | None,
    sigma: float = SIGMA,
    kappa: float = KAPPA,
    total_size: int | None = None,
) -> pm.Model:
    """Spherical admixture model of documents in batches, or of all at once."""
    n_rows = batch_size or len(corpus)
    documents = corpus if batch_size is None else pm.Minibatch(corpus, batch_size=batch_size)
    with pm.Model() as model:
        theta = pm.Dirichlet("theta", np.full(n_topics, ALPHA), shape=(n_rows, n_topics))
        topics = pmg.CollapsedMeanTopics(
            "topics", corpus.mean_direction(), sigma, n_topics=n_topics, mean_concentration=sigma
        )
        total = {} if batch_size is None else {"total_size": total_size or len(corpus)}
        pmg.SphericalAdmixture("v", theta, topics, kappa, observed=documents, **total)
    return model


def noisy_mean(corpus: pmg.BagOfWords, n_topics: int, *, seed: int) -> np.ndarray:
    """Start of the paper's programs: the mean direction, with as much noise for each topic."""
    noise = np.random.default_rng(seed).standard_normal((n_topics, corpus.n_words))
    start = corpus.mean_direction() + noise / np.sqrt(corpus.n_words)
    return start / np.linalg.norm(start, axis=1, keepdims=True)


def chain(
    model: pm.Model, step, start: np.ndarray, *, tune: int = 0, seed: int = 1
) -> Iterator[Draw]:
    """Draw without end; the clocks stop while the caller looks at a draw."""
    step.setup_chain(np.random.default_rng(seed), tune, 10**6)
    name = model.rvs_to_values[model["topics"]].name
    point = model.initial_point() | {name: start}
    wall, cpu, n = 0.0, 0.0, 0
    while True:
        begin = time.perf_counter(), time.process_time()
        if n == tune:
            step.stop_tuning()
        point, [stats] = step.step(point)
        wall, cpu = wall + time.perf_counter() - begin[0], cpu + time.process_time() - begin[1]
        n += 1
        yield Draw(wall, cpu, point[name], stats)


def by_package(
    corpus: pmg.BagOfWords,
    start: np.ndarray,
    *,
    batch_size: int | None,
    n_steps: int,
    seed: int,
    sigma: float = SIGMA,
    kappa: float = KAPPA,
) -> pmg.topics.VariationalAdmixture:
    """Fit topics by the package's variational inference, with a fixed concentration."""
    return pmg.topics.fit_spherical_admixture(
        corpus,
        n_topics=len(start),
        mean=corpus.mean_direction(),
        mean_concentration=sigma,
        concentration=sigma,
        kappa=kappa,
        alpha=ALPHA,
        batch_size=batch_size,
        n_steps=n_steps,
        topics=start,
        rng=seed,
    )


def is_due(n: int, *, per_tenfold: int = 10) -> bool:
    """Tell whether to note the state after ``n`` draws: evenly on the logarithm's scale."""
    return n < 2 or int(per_tenfold * np.log10(n)) != int(per_tenfold * np.log10(n - 1))


def perplexity(draws, documents: sp.csr_array, *, kappa: float = KAPPA):
    """Log perplexity with the paper's 200 proportions, the same ones every time."""
    return pmg.topics.log_perplexity(
        draws, documents=documents, alpha=ALPHA, kappa=kappa, n_proportions=N_PROPORTIONS, rng=1
    )

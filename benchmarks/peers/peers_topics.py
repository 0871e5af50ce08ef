#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Thirty topics of 20,000 texts: ours beside tomotopy, gensim and scikit-learn.

The texts are those of ``benchmarks.topics.texts``, abstracts of arXiv; 2,000 others are held out.
Ours draws by default, and each of the others then has as many seconds of the processor as the draws
of the same seed took. tomotopy samples with its learned priors; its topics are ten states of the
second half. gensim learns its priors too (``alpha="auto"``, ``eta="auto"``), in batches of 2,000;
scikit-learn has ours, in batches of 1,000. Both give one set of topics, of as many passes as fit.
Coherence is the NPMI of ten words in the documents, and perplexity that of one half of the held-out
documents given the other, by one function for all. Megabytes are the peak of the process beyond
what it had when it began to fit, with the counts and all imports but the package's own in memory.

    python -m benchmarks.peers.peers_topics [--quick] [--only NAME ...] [--resume]

The counts are read from ``arxiv/arxiv250k.npz`` in the folder that the environment variable
PYMC_GEODESIC_DATA names.
"""

from __future__ import annotations

import resource
import tempfile
import time

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness.declared import Benchmark
from benchmarks.harness.processes import in_a_process
from benchmarks.peers import runs
from benchmarks.peers.runs import SEED

BENCHMARK = Benchmark(
    question="Thirty topics of 20,000 texts in the same seconds, beside three other packages.",
    asked=(
        "On average over the seeds: coherence not below the best of the others, and perplexity at "
        "most 1.02 times the best of theirs."
    ),
    fixed="2026-11-27",
    seeds=(1, 2, 3),
)

OURS, N_TEXTS, QUICK, N_TOPICS, RATIO = "pymc_geodesic", 20_000, 1_000, 30, 1.02
HEADER = ["by", "seeds", "CPU s", "wall s", "MB", "coherence", "perplexity", "worst perplexity"]

type Fitted = tuple[np.ndarray, np.ndarray]


def ours(corpus: Any, _seconds: float) -> Fitted:
    """Draw by default: the time that the others have."""
    import pymc_geodesic as pmg

    idata = pmg.topics.sample(corpus, n_topics=N_TOPICS, rng=SEED, progressbar=False)
    topics = idata.posterior["topics"].values.reshape(-1, N_TOPICS, corpus.n_words)
    return topics[3::4], idata.posterior.attrs["alpha"]


def tomotopy(corpus: Any, seconds: float) -> Fitted:
    """Sample for some seconds; ten states of the second half."""
    import tomotopy

    begin, counts, states = time.process_time(), corpus.matrix, []
    model = tomotopy.LDAModel(k=N_TOPICS, seed=SEED)
    names = [str(word) for word in range(corpus.n_words)]
    for row in map(slice, counts.indptr[:-1], counts.indptr[1:]):
        model.add_doc([names[w] for w in np.repeat(counts.indices[row], counts.data[row])])
    while (taken := time.process_time() - begin) < seconds:
        model.train(5, workers=1)
        states.append((taken, np.array([model.get_topic_word_dist(k) for k in range(N_TOPICS)])))
    late = [state for taken, state in states if taken > seconds / 2] or [states[-1][1]]
    chosen = np.array([late[i] for i in np.linspace(0, len(late) - 1, 10).astype(int)])
    topics = np.full((len(chosen), N_TOPICS, corpus.n_words), 1e-9)
    topics[..., [int(word) for word in model.used_vocabs]] = chosen
    return topics / topics.sum(axis=-1, keepdims=True), np.asarray(model.alpha)


def gensim(corpus: Any, seconds: float) -> Fitted:
    """Learn by online variational Bayes for some seconds."""
    from gensim.models import LdaModel

    begin, counts = time.process_time(), corpus.matrix
    documents = [
        list(zip(counts.indices[row].tolist(), counts.data[row].tolist(), strict=True))
        for row in map(slice, counts.indptr[:-1], counts.indptr[1:])
    ]
    model = LdaModel(
        num_topics=N_TOPICS,
        id2word={word: str(word) for word in range(corpus.n_words)},
        alpha="auto",
        eta="auto",
        random_state=SEED,
    )
    for part in batches(len(documents), 2_000):
        if time.process_time() - begin > seconds:
            break
        model.update([documents[i] for i in part], chunksize=2_000)
    return model.get_topics()[None].astype(float), np.asarray(model.alpha, dtype=float)


def scikit_learn(corpus: Any, seconds: float) -> Fitted:
    """Learn by online variational Bayes for some seconds."""
    from sklearn.decomposition import LatentDirichletAllocation

    begin, alpha = time.process_time(), 0.1
    model = LatentDirichletAllocation(
        N_TOPICS,
        doc_topic_prior=alpha,
        topic_word_prior=0.01,
        total_samples=corpus.matrix.shape[0],
        random_state=SEED,
    )
    for part in batches(corpus.matrix.shape[0], 1_000):
        if time.process_time() - begin > seconds:
            break
        model.partial_fit(corpus.matrix[part])
    weights = model.components_
    return (weights / weights.sum(axis=1, keepdims=True))[None], np.full(N_TOPICS, alpha)


def batches(n_rows: int, size: int):
    """Yield the rows of batches, pass after pass in another order."""
    rng = np.random.default_rng(SEED)
    while True:
        order = rng.permutation(n_rows)
        yield from np.split(order, range(size, n_rows, size))


METHODS: dict[str, Callable[[Any, float], Fitted]] = {
    OURS: ours,
    "tomotopy": tomotopy,
    "gensim": gensim,
    "scikit-learn": scikit_learn,
}


def answer(name: str, n_texts: int, seconds: float) -> runs.Run:
    """Fit in this process, and score."""
    import pymc_geodesic as pmg

    from benchmarks.topics.texts import read, score

    texts, new = read(n_texts)
    corpus = pmg.BagOfWords.from_texts(texts)
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    before = pages * resource.getpagesize() / 1e6
    cpu, wall = time.process_time(), time.perf_counter()
    topics, alpha = METHODS[name](corpus, seconds)
    return {
        "cpu": time.process_time() - cpu,
        "wall": time.perf_counter() - wall,
        "MB": max(0.0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3 - before),
        **score(topics, corpus, new, alpha),
    }


def line(name: str, found: Sequence[runs.Run]) -> list[str]:
    """Write the means of the seeds, and the worst perplexity."""
    mean = {key: float(np.mean([run[key] for run in found])) for key in found[0]}
    numbers = [f"{mean[key]:.0f}" for key in ("cpu", "wall", "MB")]
    numbers += [f"{mean['coherence']:.3f}", f"{mean['perplexity']:,.0f}"]
    worst = max(run["perplexity"] for run in found)
    return [name, str(len(found)), *numbers, f"{worst:,.0f}"]


def checks(found: Mapping[str, Sequence[runs.Run]]) -> list[tuple[str, str, str, bool]]:
    """Compare with the best of the others."""
    mean = {
        key: {name: float(np.mean([run[key] for run in all_])) for name, all_ in found.items()}
        for key in ("coherence", "perplexity")
    }
    own, ratio = mean["coherence"].pop(OURS), mean["perplexity"].pop(OURS)
    coherent = max(mean["coherence"], key=mean["coherence"].__getitem__)
    sharp = min(mean["perplexity"], key=mean["perplexity"].__getitem__)
    differs, ratio = own - mean["coherence"][coherent], ratio / mean["perplexity"][sharp]
    return [
        (f"coherence above that of {coherent}", f"{differs:.3f}", ">= 0", differs >= 0),
        (f"perplexity over that of {sharp}", f"{ratio:.3f}", f"<= {RATIO}", ratio <= RATIO),
    ]


def main() -> None:
    given = runs.options(__doc__, METHODS)
    if given.measure:
        name, n_texts, seconds = given.measure
        runs.say(answer(name, int(n_texts), float(seconds)))
        return
    from benchmarks.harness.console import table
    from benchmarks.harness.records import Check, report

    n_texts = QUICK if given.quick else N_TEXTS
    made, keep = runs.made_before("peers_topics", quick=given.quick)
    found: dict[str, list[runs.Run]] = {}
    for seed in BENCHMARK.seeds[: 1 if given.quick else None]:
        for name in METHODS:
            key = f"{name}, {seed}"
            if name in given.only and not (given.resume and key in made):
                # The time of ours is that of the others.
                seconds = 0.0 if name == OURS else made[f"{OURS}, {seed}"]["cpu"]
                arguments = "--measure", name, str(n_texts), str(seconds)
                with tempfile.TemporaryDirectory() as cache:
                    made[key] = in_a_process(*arguments, cache=cache, BENCHMARK_SEED=str(seed))
                print(key, made[key], flush=True)
                keep(made)
            if key in made:
                found.setdefault(name, []).append(made[key])
    rows = [
        line(name, found[name]) if name in found else [name, "not run", *[""] * 6]
        for name in METHODS
    ]
    table(BENCHMARK.question, HEADER, rows)
    n_seeds = 1 if given.quick else len(BENCHMARK.seeds)
    if [len(found.get(name, [])) for name in METHODS] == [n_seeds] * len(METHODS):
        asked = [Check(*check) for check in checks(found)]
    else:
        asked = [Check("coherence, and perplexity", "", "see above", None)]
    options = {"about": BENCHMARK, "quick": given.quick}
    report("peers_topics", asked, **options, header=HEADER, rows=rows, runs=made)


if __name__ == "__main__":
    main()

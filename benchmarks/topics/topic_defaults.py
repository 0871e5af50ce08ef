#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""``SGRLD()`` beside online variational Bayes, both without a search for settings, on five corpora.

Documents have 321 to 15 tokens. Both methods read 100,000 documents, with the same priors and with
three seeds each. They predict a fifth of the tokens of documents that neither has read: single
draws, and the probabilities averaged over ten draws. Variational Bayes is scikit-learn's. Word
frequencies show what no topics predict.

    python -m benchmarks.topics.topic_defaults [--quick] [--only NAME ...]

The corpora are files in the folder that the environment variable PYMC_GEODESIC_DATA names, see
``benchmarks/topics/corpora.py``. A corpus that is not named in ``--only`` keeps what an earlier run
of the same code has found.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import pymc as pm
import scipy.sparse as sp

from sklearn.decomposition import LatentDirichletAllocation

import pymc_geodesic as pmg

from benchmarks.harness.declared import Benchmark
from benchmarks.harness.parts import part_of
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import sample
from benchmarks.topics.corpora import CORPORA, N_TEST, read
from pymc_geodesic.topic_models import document_completion_perplexity, split_tokens

BENCHMARK = Benchmark(
    question="Does SGRLD with its defaults predict better than online variational Bayes?",
    asked=(
        "On every corpus and with every seed: the mean perplexity of single draws at most that of "
        "variational Bayes, that of ten draws below it, and below 0.95 of that of word frequencies."
    ),
    fixed="2026-11-23",
    seeds=(1, 2, 3),
)

N_TOPICS, ALPHA, BETA, BATCH_SIZE = 20, 0.1, 0.05, 100
# Transitions per draw; draws of the tuning phase and draws that are kept, of full and quick runs.
N_STEPS, LENGTHS = 5, {False: (100, 100), True: (20, 20)}
# The better of the sizes tried; everything else is scikit-learn's default.
VARIATIONAL_BATCH = 256
OF_FREQUENCIES = 0.95
HEADER = ["corpus", "tokens per document", "word frequencies", "variational", "single draws"]
HEADER += ["ten draws", "seconds, variational", "seconds, SGRLD"]


def sampled(learned: sp.csr_array, *, quick: bool, seed: int) -> np.ndarray:
    """Sample topics by ``SGRLD`` with its default step sizes."""
    n_documents, n_words = learned.shape
    with pm.Model() as model:
        batch = pm.Minibatch(pmg.BagOfWords(learned), batch_size=BATCH_SIZE)
        topics = pmg.SymmetricDirichlet("topics", BETA, shape=(N_TOPICS, n_words))
        pmg.LatentDirichletAllocation(
            "words", topics, ALPHA, observed=batch, total_size=n_documents, sweeps=6
        )
    tune, draws = LENGTHS[quick]
    run = sample(
        model,
        lambda: pmg.SGRLD(n_steps=N_STEPS),
        tune=tune,
        draws=draws,
        chains=1,
        random_seed=seed,
    )
    return run.draws["topics"][0, :: draws // 10]


def variational(learned: sp.csr_array, *, quick: bool, seed: int) -> np.ndarray:
    """Fit topics by online variational Bayes to as many documents."""
    model = LatentDirichletAllocation(
        N_TOPICS,
        doc_topic_prior=ALPHA,
        topic_word_prior=BETA,
        total_samples=learned.shape[0],
        random_state=seed,
    )
    n_documents = N_STEPS * sum(LENGTHS[quick]) * BATCH_SIZE
    for start in np.arange(0, n_documents, VARIATIONAL_BATCH) % learned.shape[0]:
        model.partial_fit(learned[start : start + VARIATIONAL_BATCH])
    return (model.components_ / model.components_.sum(axis=1, keepdims=True))[None]


def one_run(name: str, method: str, seed: int, *, quick: bool) -> dict[str, float]:
    """Score the topics of one method and seed."""
    counts = read(name, quick=quick)
    n_test = N_TEST[name]
    observed, held_out = split_tokens(counts[:n_test], fraction=0.2, rng=1)
    learned = counts[n_test:]
    start = time.process_time()
    fit = {"SGRLD": sampled, "variational": variational}[method]
    topics = fit(learned, quick=quick, seed=seed)
    seconds = time.process_time() - start
    found = document_completion_perplexity(
        topics, observed=observed, held_out=held_out, alpha=ALPHA, sweeps=40, rng=1
    )
    frequencies = np.asarray(learned.sum(axis=0)).ravel() + BETA
    frequencies = np.log(frequencies / frequencies.sum())
    return {
        "tokens": float(learned.sum() / learned.shape[0]),
        "frequencies": float(np.exp(-(held_out @ frequencies).sum() / held_out.sum())),
        "single": float(np.mean(found.single)),
        "average": float(found.value),
        "seconds": seconds,
    }


def spread(values: np.ndarray) -> str:
    """Write the median of the seeds with their range."""
    return f"{np.median(values):,.0f} ({values.min():,.0f} to {values.max():,.0f})"


def compare(name: str, runs: dict[str, list[dict | None]]) -> tuple[list[str], list[Check]]:
    """Write the row of a corpus, and compare seed by seed with what was asked."""
    if None in runs["SGRLD"] or None in runs["variational"]:
        return [name, *[""] * 7], [Check(f"{name}: all seeds", "", BENCHMARK.asked, None)]
    single, average, seconds = (
        np.array([found[key] for found in runs["SGRLD"]])
        for key in ("single", "average", "seconds")
    )
    other, its_seconds = (
        np.array([found[key] for found in runs["variational"]]) for key in ("average", "seconds")
    )
    first = runs["SGRLD"][0]
    ratios = {
        "single draws / variational, largest of three seeds": (single / other, 1.0),
        "ten draws / variational, largest of three seeds": (average / other, 1.0),
        "ten draws / word frequencies, largest of three seeds": (
            average / first["frequencies"],
            OF_FREQUENCIES,
        ),
    }
    checks = [
        Check(f"{name}: {what}", f"{x.max():.3f}", f"<= {limit:g}", bool(x.max() <= limit))
        for what, (x, limit) in ratios.items()
    ]
    row = [name, f"{first['tokens']:.0f}", f"{first['frequencies']:,.0f}"]
    row += [spread(other), spread(single), spread(average)]
    return [*row, f"{np.median(its_seconds):.0f}", f"{np.median(seconds):.0f}"], checks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few documents, to see that it runs")
    parser.add_argument("--only", nargs="+", choices=CORPORA, default=list(CORPORA))
    options = parser.parse_args()
    quick = options.quick
    warnings.filterwarnings("ignore", "Explicitly requested dtype", UserWarning)
    rows, checks = [], []
    for name in CORPORA:
        settings = {"now": name in options.only, "quick": quick}
        runs = {
            method: [
                part_of(
                    "topic_defaults",
                    f"{name} {method} {seed}",
                    lambda seed=seed, method=method, name=name: one_run(
                        name, method, seed, quick=quick
                    ),
                    **settings,
                )
                for seed in (BENCHMARK.seeds[:1] if quick else BENCHMARK.seeds)
            ]
            for method in ("SGRLD", "variational")
        }
        row, found = compare(name, runs)
        print(*row, sep=" | ", flush=True)
        rows.append(row)
        checks += found
    report("topic_defaults", checks, about=BENCHMARK, quick=quick, header=HEADER, rows=rows)


if __name__ == "__main__":
    main()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The spherical admixture model of a quarter of a million abstracts: cost, memory, perplexity.

250,000 abstracts of arXiv, less 1,000 that are scored, as tf-idf unit vectors of 5,000 words; 50
topics, batches of 100, and the settings that Liu, Zhu and Song (2016) use for Wikipedia-150K, the
nearest of their data: sigma = 6e3, kappa = 2e4, gamma = 0.1, rho = 0.5, ten transitions a batch.
These are far too hot, so there is a chain at temperature one too, from variational topics of some
of the documents.

    python -m benchmarks.topics.sam_arxiv [--quick] [--part cost|memory|curve|healthy ...]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import time
import warnings

from collections.abc import Callable
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import scipy.sparse as sp

import pymc_geodesic as pmg

from benchmarks.harness.console import table
from benchmarks.harness.data import data_file
from benchmarks.harness.declared import Benchmark, this_command
from benchmarks.harness.records import Check, earlier, report
from benchmarks.topics.spherical_admixture import (
    chain,
    is_due,
    model_of,
    noisy_mean,
    perplexity,
    read_csr,
)
from benchmarks.topics.spherical_variational import fit
from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.potential.packed import corpus_of, take_rows, unpack

BENCHMARK = Benchmark(
    question="The spherical admixture model of 250,000 abstracts: cost, memory, perplexity.",
    asked=(
        "Temperature 0.95 to 1.05 at settings for it; less than 2 GB to hold and batch all "
        "documents."
    ),
    fixed="2026-11-21",
    seeds=(1,),
    measures=("topic_models", "algorithms", "latents"),
)

N_TOPICS, N_WORDS, BATCH_SIZE, N_TEST = 50, 5000, 100, 1000
SIGMA, KAPPA = 6e3, 2e4
SIZES = [2_500, 25_000, 250_000]
# Words in a larger share of the documents are left out, as in the paper.
LARGEST_SHARE = 0.06
PARTS = ("memory", "cost", "curve", "healthy")
# Documents for the variational topics, which from all of them would take half an hour.
N_FIT = 20_000
# The thermostat changes by no more than the step size a transition, so that at such small ones it
# cannot follow the noise of the batches, which grows on the way from the start. At this step size,
# with twice as much noise injected as the batches have, that does not matter.
HEALTHY_STEP_SIZE, HEALTHY_FRICTION = 2e-7, 0.2


def read_counts() -> sp.csr_array:
    """Read the counts of all words in all documents."""
    with np.load(data_file("arxiv", "arxiv250k.npz")) as z:
        return read_csr(z, "")


def chosen_words(counts: sp.csr_array) -> np.ndarray:
    """Choose words by document frequency, as the paper did: the most frequent below a share."""
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    frequency = np.where(frequency <= LARGEST_SHARE * counts.shape[0], frequency, 0)
    return np.sort(np.argsort(-frequency, kind="stable")[:N_WORDS])


def corpora() -> tuple[pmg.BagOfWords, sp.csr_array]:
    """Unit vectors of all documents but the last, and of these."""
    counts = read_counts()
    counts = counts[:, chosen_words(counts)]
    counts = counts[np.diff(counts.indptr) > 0]
    vectors = pmg.BagOfWords(counts).tf_idf().matrix
    return pmg.BagOfWords(vectors[:-N_TEST]), vectors[-N_TEST:]


def model_for(corpus: pmg.BagOfWords, *, total_size: int) -> pm.Model:
    return model_of(
        corpus,
        n_topics=N_TOPICS,
        batch_size=BATCH_SIZE,
        sigma=SIGMA,
        kappa=KAPPA,
        total_size=total_size,
    )


def published(model: pm.Model, **options):
    """Make the step of the paper, whose proportions hardly leave the least-squares solution."""
    with model:
        return pmg.gSGNHT.from_learning_rate(
            0.1,
            0.5,
            ["topics"],
            local=pmg.LocalGMC("theta", draws=20, tune=40, step_size=1e-6),
            steps_per_batch=10,
            **options,
        )


def cost(*, quick: bool) -> dict[str, Any]:
    """Time draws with more and more documents, in turn."""
    corpus, _ = corpora()
    chains = {}
    for size in SIZES[: 2 if quick else 3]:
        # The scored documents are left out of the largest.
        part = pmg.BagOfWords(corpus.matrix[:size])
        start = noisy_mean(part, N_TOPICS, seed=1)
        # A compiled function is that of a number of documents.
        model = model_for(part, total_size=len(corpus))
        chains[size] = chain(model, published(model, trust_total_size=True), start)
        next(chains[size])
    taken: dict[int, list[float]] = {size: [] for size in chains}
    for _ in range(5 if quick else 15):
        for size, draws in chains.items():
            begin = time.process_time()
            next(draws)
            taken[size].append(time.process_time() - begin)
    return {"seconds": {size: float(np.median(t)) for size, t in taken.items()}}


def memory() -> dict[str, float]:
    """Hold all documents and words in a corpus and a minibatch of it, and read batches."""
    before = peak()
    corpus = pmg.BagOfWords(read_counts()).tf_idf()
    held = peak()
    with pm.Model():
        batch = pm.Minibatch(corpus, batch_size=BATCH_SIZE)
    rows = pt.lvector()
    documents = take_rows(batch.owner.inputs[0], rows)
    words = corpus_of(documents)
    read = Interpreted([rows], [*unpack(documents, words, width=words.width)])
    rng = np.random.default_rng(1)
    for _ in range(20):
        read(rng.integers(0, len(corpus), BATCH_SIZE))
    matrix = corpus.matrix
    arrays = (matrix.data, matrix.indices, matrix.indptr)
    return {
        "imports": before,
        "corpus": held,
        "minibatch": peak(),
        "arrays": sum(a.nbytes for a in arrays) / 1e9,
    }


def peak() -> float:
    """Return the largest memory that the process has had, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def at_temperature_one(model: pm.Model):
    """Make a step whose chain is not hot, with a fresh batch for each transition."""
    with model:
        return pmg.gSGNHT(
            ["topics"],
            local=pmg.LocalGMC("theta", draws=10, tune=20),
            step_size=HEALTHY_STEP_SIZE,
            diffusion=HEALTHY_FRICTION / HEALTHY_STEP_SIZE,
            n_steps=5,
        )


def curve(*, quick: bool) -> dict[str, Any]:
    """Score a chain at the published settings, from the paper's start."""
    corpus, test = corpora()
    start = noisy_mean(corpus, N_TOPICS, seed=1)
    return scored(corpus, test, start, step_of=published, n_draws=10 if quick else 1000)


def healthy(*, quick: bool) -> dict[str, Any]:
    """Score a chain at temperature one, and the variational topics that it starts from."""
    corpus, test = corpora()
    n_fit, rounds = (500, 1) if quick else (N_FIT, 3)
    start = fit(
        corpus.matrix[:: len(corpus) // n_fit],
        corpus.mean_direction(),
        noisy_mean(corpus, N_TOPICS, seed=1),
        kappa=KAPPA,
        sigma=SIGMA,
        rounds=rounds,
    ).topics
    tune, n_draws = (4, 10) if quick else (300, 1000)
    found = scored(corpus, test, start, step_of=at_temperature_one, n_draws=n_draws, tune=tune)
    return found | {"start": perplexity(start[None], test, kappa=KAPPA).value}


def scored(
    corpus: pmg.BagOfWords,
    test: sp.csr_array,
    start: np.ndarray,
    *,
    step_of: Callable[[pm.Model], Any],
    n_draws: int,
    tune: int = 0,
) -> dict[str, Any]:
    """Log perplexity against the number of averaged draws and the documents read."""
    model = model_for(corpus, total_size=len(corpus))
    step = step_of(model)
    draws, topics = [], []
    for i, draw in enumerate(chain(model, step, start, tune=tune)):
        if i < tune:
            continue
        draws.append(draw._replace(topics=None))
        topics.append(draw.topics.astype("float32"))
        if len(draws) == n_draws:
            break
    scores = perplexity(np.array(topics), test, kappa=KAPPA)
    mean = np.tile(corpus.mean_direction(), (1, N_TOPICS, 1))
    half = draws[n_draws // 2 :]
    local = ("local_acceptance", "local_spread", "local_step_size")
    return {
        "n_documents": len(corpus),
        "statistics": {key: float(np.mean([d.stats[key] for d in half])) for key in local},
        "moved": float(1 - np.einsum("kv,kv->k", topics[-1], start).mean()),
        "single": float(scores.single[n_draws // 2 :].mean()),
        "baseline": perplexity(mean, test, kappa=KAPPA).value,
        "curve": [
            [n, draws[n - 1].wall, draws[n - 1].cpu, scores.cumulative[n - 1], scores.single[n - 1]]
            for n in range(1, n_draws + 1)
            if is_due(n, per_tenfold=5) or n == n_draws
        ],
        "rate": n_draws / draws[-1].cpu,
        "temperature": float(np.mean([draw.stats["kinetic_temperature"] for draw in half])),
        "peak": peak(),
    }


def in_process(part: str, *, quick: bool) -> dict[str, Any]:
    """Run a part in a process of its own, so that its memory is its own too."""
    command = this_command("--child", part, *(["--quick"] if quick else []))
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def checks_of(found: dict[str, Any]) -> list[Check]:
    """Compare with what was asked for."""
    checks = []
    if "memory" in found:
        gb = found["memory"]["minibatch"]
        what = "peak memory with 250,000 x 9,677 documents and a minibatch, GB"
        checks.append(Check(what, f"{gb:.2f}", "< 2", gb < 2))
    if "cost" in found:
        seconds = list(found["cost"]["seconds"].values())
        ratio = max(seconds) / min(seconds)
        what = "longest over shortest time of a draw, 2,500 to 250,000 documents"
        checks.append(Check(what, f"{ratio:.2f}", "<= 1.1", ratio <= 1.1))
    if "healthy" in found:
        temperature = found["healthy"]["temperature"]
        cool = abs(temperature - 1) <= 0.05
        checks.append(Check("temperature", f"{temperature:.3f}", "1 +- 0.05", cool))
    return checks


def main() -> None:
    warnings.simplefilter("ignore", UserWarning)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few draws, to see that it runs")
    parser.add_argument("--part", nargs="*", choices=PARTS, default=PARTS, help="what to measure")
    parser.add_argument("--child", choices=PARTS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        functions = {"cost": cost, "curve": curve, "healthy": healthy}
        child = given.child
        result = memory() if child == "memory" else functions[child](quick=given.quick)
        print(json.dumps(result, default=float))
        return
    found = {} if given.quick else earlier("sam_arxiv").get("found", {})
    for part in given.part:
        found[part] = in_process(part, quick=given.quick) | {"load": os.getloadavg()[0]}
        print(part, found[part], flush=True)
    header = ["averaged draws", "wall s", "CPU s", "log perplexity", "this draw"]
    for part, what in (("curve", "published settings"), ("healthy", "temperature one")):
        if part in found:
            table(f"Abstracts of arXiv, {what}", header, found[part]["curve"])
    report("sam_arxiv", checks_of(found), about=BENCHMARK, quick=given.quick, found=found)


if __name__ == "__main__":
    main()

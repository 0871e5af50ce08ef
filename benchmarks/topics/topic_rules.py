#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Spherical topics whose concentrations and step size follow from the corpus, on four corpora.

Nothing is chosen by hand. In the spherical admixture model the concentrations of documents and of
topics are maximum-likelihood values for clusters of documents, and the step size follows from
them. Held-out documents are scored against the uniform distribution and against the best von
Mises-Fisher distribution about one mean direction.

    python -m benchmarks.topics.topic_rules [--quick] [--only NAME ...]

The corpora are files in the folder that the environment variable PYMC_GEODESIC_DATA names, see
``benchmarks/topics/corpora.py``. A corpus that is not named in ``--only`` keeps what an earlier run
of the same code has found.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pymc as pm

from scipy.cluster.vq import kmeans2

import pymc_geodesic as pmg

from benchmarks.harness.declared import Benchmark
from benchmarks.harness.parts import part_of
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import Run, sample
from benchmarks.topics.corpora import CORPORA, N_TEST, common_words, read
from pymc_geodesic.topic_models import fit_concentration, log_perplexity

BENCHMARK = Benchmark(
    question="Do concentrations and step sizes that follow from the corpus work?",
    asked=(
        "With every seed on every corpus: above the uniform distribution, above one direction, and "
        "a temperature of 0.9 to 1.1."
    ),
    fixed="2026-11-23",
    seeds=(1, 2, 3),
)

# The full abstracts would differ little from those of other corpora.
NAMES = [name for name in CORPORA if name != "arXiv"]
N_WORDS, N_DOCUMENTS, MOST_TESTED = 1500, 2000, 500
N_TOPICS, ALPHA, BATCH_SIZE = 6, 2.0, 50
TEMPERATURES = (0.9, 1.1)
HEADER = ["corpus", "kappa / V", "above uniform", "above one direction", "temperature", "seconds"]


def one_run(name: str, seed: int, *, quick: bool) -> dict[str, float]:
    """Learn spherical topics, and score held-out documents against two simple distributions."""
    n_test = min(N_TEST[name], MOST_TESTED)
    counts = common_words(read(name, quick=quick)[: N_DOCUMENTS + n_test], N_WORDS)
    counts = counts[np.diff(counts.indptr) > 4]
    learned = pmg.BagOfWords(counts[n_test:])
    idf = learned.inverse_document_frequencies()
    learned, new = learned.tf_idf(), pmg.BagOfWords(counts[:n_test]).tf_idf(idf=idf)
    centers, _ = kmeans2(learned.matrix.toarray(), N_TOPICS, minit="++", seed=seed)
    centers /= np.linalg.norm(centers, axis=1, keepdims=True)
    kappa, of_topics = fit_concentration(learned, topics=centers), fit_concentration(centers)
    of_mean, mean = fit_concentration(learned), learned.mean_direction()
    run = spherical_run(learned, centers, kappa, of_topics, quick=quick, seed=seed)

    def score(topics: np.ndarray, concentration: float) -> float:
        options = {"alpha": ALPHA, "kappa": concentration, "rng": 1}
        return log_perplexity(topics, documents=new, **options).value

    found = score(run.draws["topics"][0, ::10], kappa)
    return {
        "kappa / V": kappa / learned.n_words,
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
        batch = pm.Minibatch(learned, batch_size=BATCH_SIZE)
        shape = (BATCH_SIZE, N_TOPICS)
        theta = pm.Dirichlet("theta", np.full(N_TOPICS, ALPHA), shape=shape)
        topics = pmg.CollapsedMeanTopics(
            "topics",
            learned.mean_direction(),
            of_topics,
            n_topics=N_TOPICS,
            mean_concentration=of_topics,
            initval=centers,
        )
        pmg.SphericalAdmixture("v", theta, topics, kappa, observed=batch, total_size=len(learned))
    step_size = 0.1 * np.sqrt(N_TOPICS / (len(learned) * kappa))
    tune, draws = (10, 20) if quick else (100, 100)
    return sample(
        model,
        lambda: pmg.gSGNHT(
            "topics",
            local=pmg.LocalGMC("theta", draws=5, tune=10),
            step_size=step_size,
            diffusion=0.02 / step_size,
            n_steps=10,
        ),
        tune=tune,
        draws=draws,
        chains=1,
        random_seed=seed,
        var_names=["topics"],
    )


def spread(values: list[float], form: str) -> str:
    """Write the median of the seeds with their range."""
    low, high = format(min(values), form), format(max(values), form)
    return f"{np.median(values):{form}} ({low} to {high})"


def compare(name: str, runs: list[dict | None]) -> tuple[list[str], list[Check]]:
    """Write the row of a corpus, and compare all seeds with what was asked."""
    if None in runs:
        return [name, *[""] * 5], [Check(f"{name}: all seeds", "", BENCHMARK.asked, None)]
    found = {key: [run[key] for run in runs] for key in runs[0]}
    checks = []
    for what in ("nats above uniform", "nats above one direction"):
        least = min(found[what])
        checks.append(Check(f"{name}: {what}, least", f"{least:.3g}", "> 0", least > 0))
    low, high = TEMPERATURES
    warm = found["temperature"]
    inside = low < min(warm) and max(warm) < high
    checks.append(Check(f"{name}: temperature", spread(warm, ".3f"), f"{low} to {high}", inside))
    forms = dict(zip(found, (".3f", ".3g", ".3g", ".3f", ".0f"), strict=True))
    return [name, *(spread(found[key], form) for key, form in forms.items())], checks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few documents, to see that it runs")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES)
    options = parser.parse_args()
    quick = options.quick
    warnings.filterwarnings("ignore", "Explicitly requested dtype", UserWarning)
    rows, checks = [], []
    for name in NAMES:
        runs = [
            part_of(
                "topic_rules",
                f"{name} {seed}",
                lambda name=name, seed=seed: one_run(name, seed, quick=quick),
                now=name in options.only,
                quick=quick,
            )
            for seed in (BENCHMARK.seeds[:1] if quick else BENCHMARK.seeds)
        ]
        row, found = compare(name, runs)
        print(*row, sep=" | ", flush=True)
        rows.append(row)
        checks += found
    report("topic_rules", checks, about=BENCHMARK, quick=quick, header=HEADER, rows=rows)


if __name__ == "__main__":
    main()

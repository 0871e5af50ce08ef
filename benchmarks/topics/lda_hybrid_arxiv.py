#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Hybrid stochastic variational Gibbs beside SGRLD on a large corpus: Figure 2b.

The figure of Patterson and Teh (2013) with arXiv abstracts in place of Wikipedia. SGRLD and online
variational Bayes have the settings that the search of ``lda`` found on validation documents; the
decay of hybrid stochastic variational Gibbs is chosen from three on the same documents here, after
6 s. Then the perplexity of test documents as in ``lda_hybrid``, after 3, 6 and 12 s.

    python -m benchmarks.topics.lda_hybrid_arxiv [--quick]

Needs ``arxiv/arxiv250k.npz`` in $PYMC_GEODESIC_DATA.
"""

from __future__ import annotations

import warnings

from typing import Any

import numpy as np

from benchmarks.harness.console import parser, table
from benchmarks.harness.data import data_file
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import report
from benchmarks.topics.lda import VARIATIONAL, divided, second_half
from benchmarks.topics.lda_baselines import CORPORA, FILES, read_counts
from benchmarks.topics.lda_hybrid import GRID, HYBRID, checks_of, row, scored

BENCHMARK = Benchmark(
    question="Patterson and Teh (2013), Figure 2b with arXiv: is SGRLD better than HSVG?",
    asked=(
        "In every seed, after 12 s and averaged: SGRLD below HSVG and below online variational "
        "Bayes."
    ),
    fixed="2026-11-24",
    seeds=(1, 2, 3),
)

OURS = "SGRLD"
EARLY, END, CHOICE = (3.0, 6.0), 12.0, 6.0
HEADER = ["method", "setting", "documents", "3 s", "6 s", "12 s", "eight averaged", "of one seed"]


def main() -> None:
    # JAX says that it takes indices as int32, which it does for all of single precision.
    warnings.filterwarnings("ignore", "Explicitly requested dtype", UserWarning)
    given = parser(__doc__.split("\n")[0]).parse_args()
    corpus = CORPORA["arxiv"](read_counts(data_file(FILES["arxiv"])))
    validation, test = divided("arxiv", corpus)
    scale = 0.5 if given.quick else 1.0
    times = [0.75 * CHOICE * scale, CHOICE * scale]
    options: dict[str, Any] = {"times": times, "n_averaged": 2, "seed": 1, "where": "arxiv"}
    found = [scored(validation, HYBRID, setting, **options)["averaged"] for setting in GRID[HYBRID]]
    validated = [
        [HYBRID, f"decay {setting['decay']:g}", f"{value:,.0f}"]
        for setting, value in zip(GRID[HYBRID], found, strict=True)
    ]
    table("Validation", ["method", "setting", "two averaged"], validated)
    best = GRID[HYBRID][int(np.argmin(found))]
    chosen: dict[str, dict[str, float]] = {OURS: {}, HYBRID: best, VARIATIONAL: {}}
    times = [t * scale for t in (*EARLY, *second_half(END))]
    runs: dict[str, list[dict[str, Any]]] = {method: [] for method in chosen}
    for seed in BENCHMARK.seeds[:1] if given.quick else BENCHMARK.seeds:
        for method, of_method in runs.items():
            settings = chosen[method]
            of_method.append(
                scored(test, method, settings, times=times, n_averaged=8, seed=seed, where="arxiv")
            )
            print(method, seed, of_method[-1], flush=True)
    rows = [row(method, of_method) for method, of_method in runs.items()]
    table("Perplexity, medians of the seeds", HEADER, rows)
    kept = {"about": BENCHMARK, "quick": given.quick, "header": HEADER, "rows": rows}
    report("lda_hybrid_arxiv", checks_of(runs, ours=OURS), **kept, runs=runs, validation=validated)


if __name__ == "__main__":
    main()

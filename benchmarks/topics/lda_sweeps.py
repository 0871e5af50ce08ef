#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""All papers in each batch: Figure 2a of Patterson and Teh (2013) by its protocol.

NIPS papers at alpha = beta = 0.01, all of them in each batch, as the paper has it: SGRLD with 1, 5
and 10 sweeps of Gibbs, hybrid stochastic variational Gibbs (HSVG) with 5, variational Bayes and
collapsed Gibbs. Every method has the same time of the processor, without compiling and scoring.
First the step sizes: three settings for each method that has one, by the perplexity of validation
documents after 40 s, the probabilities averaged over the topics of two times; the best is used with
every seed, that of 5 sweeps also with 1 and 10. Then the perplexity of test documents after 50, 100
and 200 s, for the last topics alone and averaged over four topics of the second half of the time,
for all methods alike.

    python -m benchmarks.topics.lda_sweeps [--quick] [--resume]

Takes an hour and a half of one core. Needs ``nips/nips.npz`` in $PYMC_GEODESIC_DATA.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from benchmarks.harness.console import table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.topics.lda import VARIATIONAL
from benchmarks.topics.lda_hybrid import GIBBS, HYBRID, OURS, compared, read_options, row

BENCHMARK = Benchmark(
    question="Patterson and Teh (2013), Figure 2a, all papers in each batch: what is best?",
    asked=(
        "The order of the paper in every seed, after 200 s and averaged: collapsed Gibbs below "
        "SGRLD with 5 sweeps, that below variational Bayes, that below HSVG."
    ),
    fixed="2026-11-25",
    seeds=(1, 2, 3),
)

N_PAPERS = 1500
# With all papers in each batch variational Bayes needs no forgetting, which is a decay of 0.
GRID: dict[str, list[dict[str, float]]] = {
    OURS: [{"a": a, "batch_size": N_PAPERS} for a in (0.01, 0.02, 0.05)],
    HYBRID: [{"decay": decay, "batch_size": N_PAPERS} for decay in (0.55, 0.7, 0.9)],
    VARIATIONAL: [{"decay": decay, "batch_size": N_PAPERS} for decay in (0.0, 0.5, 0.7)],
}
TIMES = (50.0, 100.0, 125.0, 150.0, 175.0, 200.0)
N_AVERAGED, CHOICE = 4, (30.0, 40.0)
HEADER = ["method", "setting", "documents", "50 s", "100 s", "200 s", "averaged", "of one seed"]
ORDER = (GIBBS, OURS, VARIATIONAL, HYBRID)


def checks_of(runs: dict[str, list[dict[str, Any]]]) -> list[Check]:
    """Each method of the paper's order is below the next, seed by seed."""
    averages = {method: [run["averaged"] for run in runs[method]] for method in ORDER}
    checks = []
    for method, other in pairwise(ORDER):
        below = all(a < b for a, b in zip(averages[method], averages[other], strict=True))
        found, asked = (", ".join(f"{v:,.0f}" for v in averages[m]) for m in (method, other))
        claim = f"{method}, and {other}: each seed"
        checks.append(Check(claim, found, f"below {asked}", below))
    return checks


def main() -> None:
    given = read_options(__doc__)
    scale = 0.02 if given.quick else 1.0
    runs, validated = compared(
        "lda_sweeps",
        BENCHMARK,
        given,
        choice=[t * scale for t in CHOICE],
        times=[t * scale for t in TIMES],
        n_averaged=N_AVERAGED,
        grid=GRID,
    )
    rows = [row(method, found) for method, found in runs.items()]
    table("Perplexity, medians of the seeds", HEADER, rows)
    kept = {"about": BENCHMARK, "quick": given.quick, "header": HEADER, "rows": rows}
    report("lda_sweeps", checks_of(runs), **kept, runs=runs, validation=validated)


if __name__ == "__main__":
    main()

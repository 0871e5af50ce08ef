#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Models some of whose entries few rows concern, by default arguments: are all entries right?

Four chains of ``pmg.sample`` against moments by quadrature, or a run of NUTS (nutpie) on all rows.
All parameters are compared, with the effects of the smallest groups: a batch of 300 holds a row of
some of them once in a hundred. Seconds are the processor's, all threads together, for everything.

    python -m benchmarks.correctness.rare_rows [--quick] [--only [NAME ...]]
"""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.correctness import ordinary_rare
from benchmarks.correctness.models import (
    LARGEST_BIAS,
    LARGEST_RHAT,
    RATIOS,
    UNKNOWN,
    Found,
    Truth,
    by_default,
    by_nuts,
    kept,
    restored,
    verdict,
)
from benchmarks.correctness.ordinary_models import Ordinary
from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.parts import part_of
from benchmarks.harness.records import TRUTHS, Check, report

BENCHMARK = Benchmark(
    question="Are effects that few rows concern right by default arguments, beside large ones?",
    asked=(
        "Of every entry, bias at most 0.15 sd, sd ratio in 0.85 to 1.15 and R-hat at most 1.01, "
        "in all runs; none wrong without a warning."
    ),
    fixed="2026-11-25",
    seeds=(1, 2, 3),
)

# Enough for errors of a fiftieth of a deviation.
NUTS_DRAWS, NUTS_TUNE = 1_000, 500
CASES = {
    "dummies": Ordinary(
        "logistic regression, dummies of 12 to 20,000 rows",
        400_000,
        ["beta"],
        ordinary_rare.dummies,
        ordinary_rare.dummies_moments,
    ),
    "rents": Ordinary(
        "rents, 60 districts of 2 to 19,000 rows, Student errors",
        120_000,
        ["mu", "tau", "effect", "beta", "sigma", "nu"],
        ordinary_rare.rents,
    ),
    "clinics": Ordinary(
        "readmissions, 300 clinics, half of them small",
        200_000,
        ["mu", "tau", "effect", "beta"],
        ordinary_rare.clinics,
    ),
}
HEADER = ["model", "N", "seed", "bias", "sd ratios", "R-hat", "effective in CPU s", "nutpie"]
HEADER += ["step", "warns", "verdict"]


def truth_of(case: Ordinary, *, quick: bool) -> Truth:
    """Take the moments that are known, or sample all rows by NUTS."""
    if case.moments is not None:
        return UNKNOWN.with_exact(case.moments())
    return by_nuts(case, quick=quick, draws=NUTS_DRAWS, tune=NUTS_TUNE)


def line(case: Ordinary, seed: int, found: Found, truth: Truth) -> list:
    """Write a run as a row of the table."""
    low, high = found.ratios(truth)
    nuts = "" if np.isnan(truth.seconds) else f"{truth.ess:,.0f} in {truth.seconds:,.0f}"
    return [
        case.what,
        f"{case.n_rows:,}",
        str(seed),
        f"{found.bias(truth):.3f}",
        f"{low:.3f} to {high:.3f}",
        f"{found.rhat:.3f}",
        f"{found.ess:,.0f} in {found.seconds:.0f}",
        nuts,
        found.step_size,
        "yes" if found.warned else "no",
        verdict(found, truth),
    ]


def checked(runs: dict[str, list[tuple[Found, Truth]]]) -> list[Check]:
    """Compare what was found with what is asked."""
    asked = f"<= {LARGEST_BIAS}, {RATIOS[0]} to {RATIOS[1]}, <= {LARGEST_RHAT}"
    checks = []
    for name, pairs in runs.items():
        n_right = [verdict(*pair) for pair in pairs].count("right")
        ratios = [pair[0].ratios(pair[1]) for pair in pairs]
        found = f"{n_right} of {len(pairs)} right, bias {max(f.bias(t) for f, t in pairs):.2f}, "
        found += f"{min(low for low, _ in ratios):.2f} to {max(high for _, high in ratios):.2f}"
        checks.append(Check(f"{CASES[name].what}: worst seed", found, asked, n_right == len(pairs)))
    verdicts = [verdict(*pair) for pairs in runs.values() for pair in pairs]
    n_silent = verdicts.count("SILENTLY WRONG")
    silent = f"{n_silent} of {len(verdicts)} runs"
    return [*checks, Check("wrong without a warning", silent, "0", n_silent == 0)]


def main() -> None:
    reader = parser(__doc__.splitlines()[0])
    reader.add_argument("--only", nargs="*", choices=CASES, default=list(CASES))
    options = reader.parse_args()
    quick = options.quick
    seeds = BENCHMARK.seeds[:1] if quick else BENCHMARK.seeds
    runs: dict[str, list[tuple[Found, Truth]]] = {}
    for name, case in CASES.items():

        def measured(case=case):
            return [by_default(case, seed, quick=quick) for seed in seeds]

        now = name in options.only
        found = part_of("rare_rows", name, measured, now=now, quick=quick)
        if found is None:
            continue
        known = kept(
            TRUTHS / "rare_rows.json", name, partial(truth_of, case, quick=quick), quick=quick
        )
        runs[name] = [(restored(Found, one), restored(Truth, known)) for one in found]
        for seed, pair in zip(seeds, runs[name], strict=True):
            print(*line(case, seed, *pair), *pair[0].said, sep=" | ", flush=True)
    rows = [
        line(CASES[name], seed, *pair)
        for name, pairs in runs.items()
        for seed, pair in zip(seeds, pairs, strict=True)
    ]
    table("Entries that few rows concern", HEADER, rows)
    report("rare_rows", checked(runs), about=BENCHMARK, quick=quick, header=HEADER, rows=rows)


if __name__ == "__main__":
    main()

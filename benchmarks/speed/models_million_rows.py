#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Ordinary models with a million rows by default arguments, beside NUTS on all rows.

Five models of ``correctness/models.py``, with 33 times the rows or more: those in which a gradient
of all rows is cheapest. They were chosen as those in which NUTS should end within a quarter of an
hour of the processor, which proved too little for two of them; others would take hours.
Four chains each: of ``pmg.sample`` by its defaults in batches of 300, and of nutpie on JAX with
fewer draws than it takes at 30,000 rows, so that it ends. Seconds are the processor's, all threads
together, for everything from the model to the draws; effective samples are the smallest over means
and squares of all that is compared. The kernel of the first seed serves the others, so that only
the first is compared with NUTS, which is sampled once. What ``--only`` leaves out is what a run
before found; ``--only`` by itself reports that alone.

    python -m benchmarks.speed.models_million_rows [--quick] [--only [NAME ...]]
"""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.correctness import ordinary_groups, ordinary_latents, ordinary_regressions
from benchmarks.correctness.models import (
    LARGEST_BIAS,
    LARGEST_RHAT,
    RATIOS,
    Found,
    Truth,
    by_default,
    by_nuts,
    kept,
    over_nuts,
    restored,
    truth_key,
    verdict,
)
from benchmarks.correctness.ordinary_models import MODELS, Ordinary
from benchmarks.correctness.ordinary_truths import crossed_moments
from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.parts import part_of
from benchmarks.harness.records import PARTS, Check, report

BENCHMARK = Benchmark(
    question="With a million rows, how much faster than NUTS are ordinary models, and right?",
    asked=(
        "Effective samples per second over nutpie's: at least 50 in the median model, at least 5 "
        "in the worst. Bias at most 0.15 sd, sd ratios in 0.85 to 1.15 and R-hat at most 1.01 in "
        "every run, or a warning."
    ),
    fixed="2026-11-24",
    seeds=(1, 2, 3),
)

NAMES = ("quantile", "radon_85", "zero_inflated", "mixture_regression", "crossed_small")
N_ROWS, N_QUICK = 1_000_000, 60_000
# What NUTS came to, which our code does not change.
NUTS = PARTS / "models_million_rows_nuts.json"
# Enough for 400 effective draws of the slowest entry of all but ridges.
NUTS_DRAWS, NUTS_TUNE = 400, 300
ASKED_MEDIAN, ASKED_WORST = 50.0, 5.0
HEADER = ["model", "seed", "bias", "sd ratios", "R-hat", "effective in CPU s", "nutpie"]
HEADER += ["over nutpie", "step", "warns", "verdict"]


def cases(n_rows: int) -> dict[str, Ordinary]:
    """Return the models, of which all write their data when they are built."""
    for module in (ordinary_groups, ordinary_latents, ordinary_regressions):
        module.N_ROWS = n_rows
    crossed = MODELS["crossed_small"]
    ratings = {"n_users": 200, "n_items": 40, "n_rows": n_rows}
    of_ratings = crossed._replace(
        model=lambda minibatch: ordinary_groups.crossed(minibatch, centered=True, **ratings),
        moments=lambda: crossed_moments(
            *ordinary_groups.ratings(**ratings), prior_mean=ordinary_groups.PRIOR_MEAN
        ),
    )
    chosen = {name: MODELS[name] for name in NAMES} | {"crossed_small": of_ratings}
    return {name: case._replace(n_rows=n_rows) for name, case in chosen.items()}


def nuts(case: Ordinary, *, quick: bool) -> Truth:
    """Sample all rows by NUTS, for long enough."""
    return by_nuts(case, quick=quick, draws=NUTS_DRAWS, tune=NUTS_TUNE)


def line(what: str, seed: int, found: Found, truth: Truth) -> list:
    """Write a run as a row of the table."""
    low, high = found.ratios(truth)
    first = seed == BENCHMARK.seeds[0]
    return [
        what,
        str(seed),
        f"{found.bias(truth):.3f}",
        f"{low:.3f} to {high:.3f}",
        f"{found.rhat:.3f}",
        f"{found.ess:,.0f} in {found.seconds:.0f}",
        f"{truth.ess:,.0f} in {truth.seconds:,.0f}",
        over_nuts(found, truth) if first and truth.is_of_nuts else np.nan,
        found.step_size,
        "yes" if found.warned else "no",
        verdict(found, truth),
    ]


def checked(runs: dict[str, list[tuple[Found, Truth]]]) -> list[Check]:
    """Compare what was found with what is asked."""
    # Where NUTS has not converged, its effective samples are none.
    ratios = [over_nuts(*pairs[0]) for pairs in runs.values() if pairs[0][1].is_of_nuts]
    verdicts = [verdict(*pair) for pairs in runs.values() for pair in pairs]
    n_right, n_silent = verdicts.count("right"), verdicts.count("SILENTLY WRONG")
    median, worst = float(np.median(ratios)), min(ratios)
    n_models = len(runs)
    asked = f"<= {LARGEST_BIAS}, {RATIOS[0]} to {RATIOS[1]}, <= {LARGEST_RHAT}, or a warning"
    return [
        Check("models run", f"{n_models} of {len(NAMES)}", "all", n_models == len(NAMES)),
        Check(
            "over NUTS, median model",
            f"{median:.0f}, of {len(ratios)} models",
            f">= {ASKED_MEDIAN:g}",
            median >= ASKED_MEDIAN,
        ),
        Check(
            "over NUTS, worst model", f"{worst:.1f}", f">= {ASKED_WORST:g}", worst >= ASKED_WORST
        ),
        Check(
            "bias, sd ratios, R-hat of every run",
            f"{n_right} of {len(verdicts)} right, {n_silent} silently wrong",
            asked,
            n_silent == 0,
        ),
    ]


def main() -> None:
    reader = parser(__doc__.splitlines()[0])
    reader.add_argument("--only", nargs="*", choices=NAMES, default=NAMES)
    options = reader.parse_args()
    quick = options.quick
    runs: dict[str, list[tuple[Found, Truth]]] = {}
    named = cases(N_QUICK if quick else N_ROWS)
    for name, case in named.items():
        now = name in options.only

        def measured(case=case):
            seeds = BENCHMARK.seeds[:1] if quick else BENCHMARK.seeds
            return [by_default(case, seed, quick=quick) for seed in seeds]

        found = part_of("models_million_rows", name, measured, now=now, quick=quick)
        if found is None:
            continue
        truth = restored(
            Truth, kept(NUTS, truth_key(name), partial(nuts, case, quick=quick), quick=quick)
        )
        if case.moments is not None:
            truth = truth.with_exact(case.moments())
        runs[name] = [(restored(Found, one), truth) for one in found]
        for seed, pair in zip(BENCHMARK.seeds, runs[name], strict=False):
            print(*line(case.what, seed, *pair), *pair[0].said, sep=" | ", flush=True)
    rows = [
        line(named[name].what, seed, *pair)
        for name, pairs in runs.items()
        for seed, pair in zip(BENCHMARK.seeds, pairs, strict=False)
    ]
    table("A million rows by defaults", HEADER, rows)
    report(
        "models_million_rows",
        checked(runs),
        about=BENCHMARK,
        quick=quick,
        header=HEADER,
        rows=rows,
    )


if __name__ == "__main__":
    main()

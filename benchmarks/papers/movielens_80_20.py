#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""MovieLens 1M with the paper's split: 80 per cent of the ratings to learn from, 20 to predict.

Everything else is as in ``movielens``: the paper's length, and its best settings for each method.
Needs ``ml-1m/ml-1m.npz`` in $PYMC_GEODESIC_DATA; its terms forbid to pass it on.
"""

from __future__ import annotations

import numpy as np

from matrix_factorization import Ratings, load_ratings
from shared import single_precision

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.papers.movielens import DRAWS, PAPER, SEED, SETTINGS, TUNE, measured

BENCHMARK = Benchmark(
    question="Ding et al. (2014), Table 2: MovieLens 1M with the paper's 80 / 20 split.",
    asked="At most the paper's error for each method, and SGNHT at most SGHMC's.",
    fixed="2026-11-22",
    seeds=(20261121,),
    measures=("algorithms", "kernel"),
)


def split() -> tuple[Ratings, Ratings]:
    """Divide all ratings at random, 80 to 20."""
    both = zip(*load_ratings(), strict=True)
    ratings = Ratings(*(np.concatenate(parts) for parts in both))
    learned = np.random.default_rng(SEED).random(len(ratings.stars)) < 0.8
    # The last of the films must be among those to learn from: the model counts them there.
    learned |= (ratings.item == ratings.item.max()) | (ratings.user == ratings.user.max())
    return ratings.part(learned), ratings.part(~learned)


def main() -> None:
    quick = arguments(__doc__.splitlines()[0]).quick
    length, (train, test) = (5, 5) if quick else (TUNE, DRAWS), split()
    rows, errors = [], {}
    with single_precision("jax"):
        for method, (learning_rate, injected) in SETTINGS.items():
            run = measured(method, train, test, *length)
            errors[method] = run["error"]
            numbers = [f"{run[key]:.4f}" for key in ("first", "error")]
            rows.append([method, injected, f"{learning_rate:g}", *numbers, PAPER[method]])
            rows[-1] += [f"{run['temperature']:.3f}", f"{run['seconds'][1]:.0f}"]
            print(rows[-1], flush=True)
    header = ["method", "a", "learning rate", "one draw", "average", "paper", "temperature"]
    header.append("CPU s")
    table(f"{len(test.stars):,} test ratings", header, rows)
    checks = [
        Check(f"{method}: RMSE", f"{error:.4f}", f"<= {PAPER[method]}", error <= PAPER[method])
        for method, error in errors.items()
    ]
    ours, theirs = errors["SGNHT"], errors["SGHMC"]
    checks.append(Check("SGNHT's RMSE", f"{ours:.4f}", f"<= {theirs:.4f}", ours <= theirs))
    report("movielens_80_20", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)


if __name__ == "__main__":
    main()

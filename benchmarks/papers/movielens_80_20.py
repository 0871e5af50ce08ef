#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""MovieLens 1M with the paper's split: 80 per cent of the ratings to learn from, 20 to predict.

Everything else is as in ``movielens``: the paper's length, and its best settings for each method.
Three seeds, each with its own start; the split is the same for all, and medians are asked for.
Needs ``ml-1m/ml-1m.npz`` in $PYMC_GEODESIC_DATA; its terms forbid to pass it on.

    python -m benchmarks.papers.movielens_80_20 [--quick] [--resume]

Each run is kept in ``results/parts``; with ``--resume`` only the missing ones are run.
"""

from __future__ import annotations

import argparse
import warnings

from functools import partial

import numpy as np

from matrix_factorization import Ratings, load_ratings
from shared import single_precision

from benchmarks.harness.console import table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.parts import part_of
from benchmarks.harness.records import Check, report
from benchmarks.papers.movielens import DRAWS, PAPER, SEED, SETTINGS, TUNE, measured

BENCHMARK = Benchmark(
    question="Ding et al. (2014), Table 2: MovieLens 1M with the paper's 80 / 20 split.",
    asked="At most the paper's error for each method, and SGNHT at most SGHMC's.",
    fixed="2026-11-22",
    seeds=(20261121, 20261122, 20261123),
    measures=("algorithms", "kernel"),
)

HEADER = ["method", "a", "learning rate", "one draw", "average", "of one seed", "paper"]
HEADER += ["temperature", "CPU s"]


def split() -> tuple[Ratings, Ratings]:
    """Divide all ratings at random, 80 to 20."""
    both = zip(*load_ratings(), strict=True)
    ratings = Ratings(*(np.concatenate(parts) for parts in both))
    learned = np.random.default_rng(SEED).random(len(ratings.stars)) < 0.8
    # The last of the films must be among those to learn from: the model counts them there.
    learned |= (ratings.item == ratings.item.max()) | (ratings.user == ratings.user.max())
    return ratings.part(learned), ratings.part(~learned)


def row(method: str, runs: list[dict]) -> list[str]:
    """Medians of the seeds, and the range of the errors."""
    learning_rate, injected = SETTINGS[method]
    median = {key: np.median([run[key] for run in runs]) for key in ("first", "temperature")}
    errors, seconds = [run["error"] for run in runs], [run["seconds"][1] for run in runs]
    return [
        method,
        f"{injected:g}",
        f"{learning_rate:g}",
        f"{median['first']:.4f}",
        f"{np.median(errors):.4f}",
        f"{min(errors):.4f} to {max(errors):.4f}",
        f"{PAPER[method]:.4f}",
        f"{median['temperature']:.3f}",
        f"{np.median(seconds):.0f}",
    ]


def checks_of(runs: dict[str, list[dict]]) -> list[Check]:
    """Medians against the paper's figures, and the two methods' against each other."""
    errors = {method: float(np.median([r["error"] for r in runs[method]])) for method in runs}
    checks = [
        Check(f"{method}: RMSE", f"{error:.4f}", f"<= {PAPER[method]}", error <= PAPER[method])
        for method, error in errors.items()
    ]
    ours, theirs = errors["SGNHT"], errors["SGHMC"]
    checks.append(Check("SGNHT's RMSE", f"{ours:.4f}", f"<= {theirs:.4f}", ours <= theirs))
    return checks


def main() -> None:
    # JAX says that it takes indices as int32, which it does for all of single precision.
    warnings.filterwarnings("ignore", "Explicitly requested dtype", UserWarning)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few draws, to see that it runs")
    parser.add_argument("--resume", action="store_true", help="run only what is not there yet")
    given = parser.parse_args()
    length, (train, test) = (5, 5) if given.quick else (TUNE, DRAWS), split()
    runs: dict[str, list[dict]] = {method: [] for method in SETTINGS}
    with single_precision("jax"):
        for seed in BENCHMARK.seeds[:1] if given.quick else BENCHMARK.seeds:
            for method, found in runs.items():
                run = partial(measured, method, train, test, *length, seed=seed)
                part = partial(
                    part_of,
                    "movielens_80_20",
                    f"{method} {seed}",
                    run,
                    about=BENCHMARK,
                    quick=given.quick,
                )
                found.append((part(now=False) if given.resume else None) or part(now=True))
                print(method, seed, found[-1]["error"], found[-1]["seconds"], flush=True)
    rows = [row(method, found) for method, found in runs.items()]
    table(f"{len(test.stars):,} test ratings", HEADER, rows)
    for run in (run for found in runs.values() for run in found):
        # Enough to draw it.
        run["curve"] = run["curve"][::20]
    kept = {"about": BENCHMARK, "quick": given.quick, "header": HEADER, "rows": rows, "runs": runs}
    report("movielens_80_20", checks_of(runs), **kept)


if __name__ == "__main__":
    main()

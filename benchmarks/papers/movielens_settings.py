#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Matrix factorisation of MovieLens 1M: the settings of both methods by validation.

Ding et al. (2014) choose learning rate and injected noise by cross-validation. Here all of the grid
of their Figure 3 is scored on a fifth of the ratings to learn from, which is left out, with one
seed and half of the paper's length. What the chosen settings give on the test ratings, at full
length and with three seeds, is in ``movielens_80_20``. Needs ``ml-1m/ml-1m.npz`` in
$PYMC_GEODESIC_DATA; its terms forbid to pass it on.

    python -m benchmarks.papers.movielens_settings [--quick] [--resume]
"""

from __future__ import annotations

import itertools
import warnings

from functools import partial
from typing import Any

import numpy as np

from matrix_factorization import Ratings

from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.parts import part_of
from benchmarks.harness.records import Check, report
from benchmarks.papers.movielens_80_20 import (
    INJECTED,
    LEARNING_RATES,
    STEPS,
    key_of,
    measured,
    number,
    split,
)

BENCHMARK = Benchmark(
    question="Ding et al. (2014), Table 2: which settings does validation choose for MovieLens 1M?",
    asked="SGNHT's lowest validation error is at most that of SGHMC.",
    fixed="2026-11-26",
    seeds=(20261121,),
)

# Of the paper's length: enough to tell settings apart that differ by hundredths.
SHARE = 0.5
HEADER = ["method", "a", "learning rate", "validation error", "temperature", "CPU s", "chosen"]


def left_out(train: Ratings) -> tuple[Ratings, Ratings]:
    """Leave a fifth of the ratings out."""
    [seed] = BENCHMARK.seeds
    learned = np.random.default_rng(seed + 1).random(len(train.stars)) < 0.8
    # The last of the films and viewers must be among those to learn from: the model counts them.
    learned |= (train.item == train.item.max()) | (train.user == train.user.max())
    return train.part(learned), train.part(~learned)


def error_of(run: dict[str, Any]) -> float:
    """Return the validation error; infinity for a chain that has diverged."""
    error = number(run["error"])
    return float(error) if np.isfinite(number(run["temperature"])) else np.inf


def main() -> None:
    # JAX says that it takes indices as int32, which it does for all of single precision.
    warnings.filterwarnings("ignore", "Explicitly requested dtype", UserWarning)
    reader = parser(__doc__.splitlines()[0])
    reader.add_argument("--resume", action="store_true", help="run only what is not there yet")
    given = reader.parse_args()
    ratings, [seed] = left_out(split()[0]), BENCHMARK.seeds
    runs: dict[str, dict[str, dict[str, Any]]] = {method: {} for method in STEPS}
    for method, *setting in itertools.product(STEPS, LEARNING_RATES, INJECTED):
        options = {"seed": seed, "quick": given.quick, "share": SHARE}
        key = key_of(method, tuple(setting))
        run = partial(measured, method, tuple(setting), ratings, **options)
        options = {"quick": given.quick, "resume": given.resume}
        runs[method][key] = part_of("movielens_settings", key, run, now=True, **options)
        print(key, runs[method][key], flush=True)
    best = {method: min(of, key=lambda key: error_of(of[key])) for method, of in runs.items()}
    rows = [
        [
            *key.split(", "),
            f"{error_of(run):.4f}",
            f"{number(run['temperature']):.3f}",
            f"{run['seconds']:.0f}",
            "chosen" if key == best[method] else "",
        ]
        for method, of in runs.items()
        for key, run in of.items()
    ]
    ours, theirs = (error_of(runs[method][best[method]]) for method in ("SGNHT", "SGHMC"))
    check = Check("SGNHT's lowest error", f"{ours:.4f}", f"<= {theirs:.4f}", ours <= theirs)
    table(f"{len(ratings[1].stars):,} ratings left out", HEADER, rows)
    kept = {"about": BENCHMARK, "quick": given.quick, "header": HEADER, "rows": rows, "runs": runs}
    report("movielens_settings", [check], **kept)


if __name__ == "__main__":
    main()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Posteriors of posteriordb by default arguments, against the database's reference draws.

The data are small, 46 to 5,000 rows, and NUTS on all rows is the right tool for them: this is a
stress test. Batches have a tenth of the rows, or more up to a half if that is fewer than fifty.

The data (Magnusson and others, posteriordb, BSD-3) are read from ``posteriordb/NAME.json``, with
the key ``data``, and ``posteriordb/NAME.npz``, with names, means and deviations ``_names``,
``_mean`` and ``_sd`` of the reference draws, in the folder that the environment variable
PYMC_GEODESIC_DATA names.

Runs are kept in the results as they end, and all of them are reported each time; delete the file to
measure anew.

    python -m benchmarks.correctness.posteriordb [--quick] [--seed 1] [NAME ...]
"""

from __future__ import annotations

import json

from functools import cache, partial
from pathlib import Path

import numpy as np

from benchmarks.correctness.models import (
    LARGEST_BIAS,
    RATIOS,
    Found,
    Truth,
    by_default,
    kept,
    read,
)
from benchmarks.correctness.ordinary_models import Ordinary
from benchmarks.correctness.posteriordb_models import POSTERIORS, Data, batch_size
from benchmarks.harness.console import parser, table
from benchmarks.harness.data import data_file
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import PARTS, Check, report

BENCHMARK = Benchmark(
    question=(
        "Are posteriors of posteriordb right with default arguments, on minibatches of small data, "
        "or else does the run warn?"
    ),
    asked=(
        "Every mean within 0.15 sd of the reference and every sd ratio in 0.85 to 1.15 in 27 of "
        "29, in each of three seeds; the others flagged by a warning."
    ),
    fixed="2026-11-22",
    seeds=(1, 2, 3),
)

ASKED_RIGHT = 27
RUNS = PARTS / "posteriordb.json"
# Of a warning, in the table.
LENGTH = 60


def folder() -> Path:
    """Return the folder of the database's files."""
    return data_file("posteriordb")


@cache
def data_of(name: str) -> Data:
    """Read the data of a posterior."""
    return json.loads((folder() / f"{name}.json").read_text(encoding="utf-8"))["data"]


def reference(name: str) -> Truth:
    """Read the moments of the reference draws, 10,000 almost independent ones."""
    found = np.load(folder() / f"{name}.npz")
    names = list(dict.fromkeys(str(entry).split("[")[0] for entry in found["_names"]))
    if names != POSTERIORS[name].parameters:
        raise ValueError(f"{name} expected draws of {POSTERIORS[name].parameters}, got {names}.")
    return Truth(found["_mean"].tolist(), found["_sd"].tolist(), True, np.nan, np.nan, np.nan)


def ordinary(name: str) -> Ordinary:
    """Describe a posterior as the other ordinary models are."""
    posterior, data = POSTERIORS[name], data_of(name)
    return Ordinary(name, data["N"], posterior.parameters, partial(posterior.model, data))


def verdict(found: Found, truth: Truth) -> str:
    """Judge a run in a word: only means and deviations count."""
    low, high = found.ratios(truth)
    if found.bias(truth) <= LARGEST_BIAS and low >= RATIOS[0] and high <= RATIOS[1]:
        return "right"
    return "flagged" if found.said else "SILENTLY WRONG"


def line(key: str, found: Found, truth: Truth) -> list:
    """Write a run as a row of the table."""
    name, seed = key.split()
    low, high = found.ratios(truth)
    n_rows = data_of(name)["N"]
    return [
        name,
        int(seed),
        f"{batch_size(n_rows):,} of {n_rows:,}",
        f"{found.bias(truth):.3f}",
        f"{low:.3f} to {high:.3f}",
        f"{found.rhat:.3f}",
        f"{found.ess:.0f} in {found.seconds:.1f}",
        verdict(found, truth),
        "; ".join(dict.fromkeys(text.split("\n")[0][:LENGTH] for text in found.said)),
    ]


def checked(runs: dict[str, tuple[Found, Truth]]) -> list[Check]:
    """Compare each seed with what is asked of it."""
    checks = []
    for seed in BENCHMARK.seeds:
        found = [verdict(*pair) for key, pair in runs.items() if key.endswith(f" {seed}")]
        right, silent = found.count("right"), found.count("SILENTLY WRONG")
        what = f"posteriors that are right, seed {seed}", f"wrong without a warning, seed {seed}"
        asked = f">= {ASKED_RIGHT}", "0"
        if not found:
            checks += [Check(name, "", ask, None) for name, ask in zip(what, asked, strict=True)]
            continue
        run = "" if len(found) == len(POSTERIORS) else f", {len(found)} run"
        is_silent = silent > 0 or len(found) < len(POSTERIORS)
        checks += [
            Check(what[0], f"{right} of {len(POSTERIORS)}{run}", asked[0], right >= ASKED_RIGHT),
            Check(what[1], f"{silent} of {len(found)}", asked[1], not is_silent),
        ]
    return checks


def main() -> None:
    """Run what is named, or all posteriors, and report all that was kept."""
    reader = parser(__doc__.splitlines()[0])
    reader.add_argument("names", nargs="*", metavar="NAME")
    reader.add_argument("--seed", type=int, default=1)
    options = reader.parse_args()
    quick, fresh = options.quick, {}
    for name in options.names or POSTERIORS:
        key = f"{name} {options.seed}"
        measure = partial(by_default, ordinary(name), options.seed, quick=quick)
        fresh[key] = Found(*kept(RUNS, key, measure, quick=quick))
        print(*line(key, fresh[key], reference(name)), sep=" | ", flush=True)
    found = fresh if quick else {key: Found(*values) for key, values in read(RUNS).items()}
    order = {name: i for i, name in enumerate(POSTERIORS)}
    keys = sorted(found, key=lambda key: (key.split()[1], order[key.split()[0]]))
    runs = {key: (found[key], reference(key.split()[0])) for key in keys}
    header = ["posterior", "seed", "rows of a batch", "largest z of a mean", "sd ratios", "R-hat"]
    header += ["effective in CPU s", "verdict", "warnings"]
    lines = [line(key, *pair) for key, pair in runs.items()]
    table("Posteriors by default arguments", header, lines)
    report(
        "posteriordb",
        checked(runs),
        about=BENCHMARK,
        quick=quick,
        header=header,
        rows=lines,
        runs={key: pair[0]._asdict() for key, pair in runs.items()},
    )


if __name__ == "__main__":
    main()

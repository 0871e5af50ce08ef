#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Ten to a hundred events in a million rows, with twenty seeds of data and of chains.

Every run has a process of its own and nothing but a seed. Batches of 500 rows hold an event once in
20 to 200 times. The moments are by quadrature.

    python -m benchmarks.correctness.rare_events [--quick]
"""

from __future__ import annotations

import sys
import tempfile

import numpy as np

from benchmarks.correctness.uneven_rows import LONGEST, is_right, one
from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.processes import in_a_process
from benchmarks.harness.records import Check, report

BENCHMARK = Benchmark(
    question="Are posteriors of rare events right, with default arguments, in twenty seeds each?",
    asked="Bias at most .15 deviations, deviations within 15 per cent, in every seed.",
    fixed="2026-11-27",
    seeds=tuple(range(1, 21)),
)

CASES = ("10 events", "30 events", "100 events")
HEADER = ["case", "seed", "right", "bias", "ratios of sd", "CPU s", "said"]


def run(name: str, seed: int, cache: str) -> list:
    """Return a row of the table."""
    found = in_a_process("--one", name, str(seed), cache=cache, most_seconds=LONGEST)
    bias, low, high, z, seconds, said = found or [np.inf, 0.0, np.inf, 1.0, LONGEST, ["stopped"]]
    is_good = is_right(bias, low, high, z)
    ratios = f"{low:.2f} to {high:.2f}"
    return [name, seed, is_good, f"{bias:.3f}", ratios, round(seconds), (said or [""])[-1][:100]]


def main() -> None:
    options = parser(__doc__.splitlines()[0])
    options.add_argument("--one", nargs=2)
    given = options.parse_args()
    if given.one:
        return one(given.one[0], int(given.one[1]))
    seeds = BENCHMARK.seeds[:2] if given.quick else BENCHMARK.seeds
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        for name in CASES:
            for seed in seeds:
                rows.append(run(name, seed, cache))
                print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    checks = []
    for name in CASES:
        of_case = [row for row in rows if row[0] == name]
        n, seconds = sum(row[2] for row in of_case), [row[5] for row in of_case]
        figure = f"{n} of {len(of_case)}, {np.median(seconds):.0f} CPU s in the middle"
        checks.append(Check(f"{name}: right", figure, "all", n == len(of_case)))
    n_quiet = sum(not row[2] and not row[6] for row in rows)
    checks.append(Check("wrong without a word", str(n_quiet), "0", n_quiet == 0))
    table("Rare events", HEADER, rows)
    report("rare_events", checks, about=BENCHMARK, quick=given.quick, header=HEADER, rows=rows)


if __name__ == "__main__":
    main()

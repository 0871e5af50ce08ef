#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Five million rows of 23,000 workers and 2,000 tasks, crossed, with default arguments.

Every run has a process of its own and nothing but a seed. No other method has this posterior in
minutes, so that parameters are compared with their true values, and effects, apart from what those
of a factor have in common, by the distribution of their errors. ``crossed_factors`` has a tenth of
the rows beside exact posteriors.

    python -m benchmarks.correctness.crossed_millions [--quick] [--seeds 1 2 3]
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
import warnings

from typing import Any

import numpy as np

from arviz import ess, rhat

from benchmarks.correctness.crossed_factors import of_errors
from benchmarks.correctness.crossed_models import MODELS
from benchmarks.correctness.strangers import listen
from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.processes import in_a_process
from benchmarks.harness.records import Check, report

BENCHMARK = Benchmark(
    question="Is a crossed model of five million rows sampled in five minutes?",
    asked=(
        "Every parameter within 3.5 deviations of its true value, errors of each factor's effects "
        "with deviation 1 within .1, R-hat at most 1.01, 400 effective draws of every parameter, "
        "in every seed; 300 seconds of the processor and 4 GB, everything counted."
    ),
    fixed="2026-11-28",
    seeds=(1, 2, 3),
)

CASES = "5e6 rows", "5e6 rows, logistic"
QUICK = "5e5 rows", "5e5 rows, logistic"
FARTHEST, Z_RATIOS, LARGEST_R_HAT, FEWEST = 3.5, (0.9, 1.1), 1.01, 400
MOST_SECONDS, MOST_GIGABYTES, LONGEST = 300.0, 4.0, 1_500


def one(name: str, seed: int) -> None:
    """Run one case in this process and print what was found."""
    import pymc_geodesic as pmg

    warnings.simplefilter("ignore")
    case, said = MODELS[name](), listen()
    begun = time.process_time()
    idata = pmg.sample(model=case.model, random_seed=seed, progressbar=False)
    seconds = time.process_time() - begun
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    far, z, effective, r_hat = 0.0, [], np.inf, 1.0
    for key, value in case.truth.items():
        draws = idata.posterior[key].values
        if np.ndim(value):
            z.append(of_errors(draws, value))
        else:
            far = max(far, abs(float(draws.mean() - value)) / float(draws.std()))
            effective, r_hat = min(effective, float(ess(draws))), max(r_hat, float(rhat(draws)))
    print(json.dumps([far, z, effective, r_hat, gigabytes, seconds, said]))


def is_right(far: float, z: list[float], effective: float, r_hat: float) -> bool:
    """Whether figures of a run are within what was asked."""
    is_near = far <= FARTHEST and all(Z_RATIOS[0] <= x <= Z_RATIOS[1] for x in z)
    return is_near and r_hat <= LARGEST_R_HAT and effective >= FEWEST


def main() -> None:
    options = parser(__doc__.splitlines()[0])
    options.add_argument("--seeds", nargs="*", type=int, default=BENCHMARK.seeds)
    options.add_argument("--one", nargs=2)
    given = options.parse_args()
    if given.one:
        return one(given.one[0], int(given.one[1]))
    rows, checks = [], []
    with tempfile.TemporaryDirectory() as cache:
        for name in QUICK if given.quick else CASES:
            found: list[Any] = []
            for seed in given.seeds[:1] if given.quick else given.seeds:
                run = in_a_process("--one", name, str(seed), cache=cache, most_seconds=LONGEST)
                *figures, gigabytes, seconds, said = run or [
                    *(np.inf, [np.inf], 0.0, np.inf, np.inf, LONGEST, ["stopped"])
                ]
                far, z, effective, r_hat = figures
                found.append((is_right(*figures), seconds, gigabytes))
                errors = " and ".join(f"{x:.2f}" for x in z)
                line = f"{far:.1f}; {errors}; {r_hat:.3f}"
                last = (said or [""])[-1][:100]
                sizes = [round(effective), round(seconds), f"{gigabytes:.1f}"]
                rows.append([name, seed, found[-1][0], line, *sizes, last])
                print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
            n_right, longest, most = sum(x[0] for x in found), *np.max(found, axis=0)[1:]
            checks += [
                Check(f"{name}: right", f"{n_right} of {len(found)}", "all", n_right == len(found)),
                Check(
                    f"{name}: seconds",
                    f"{longest:.0f}",
                    f"{MOST_SECONDS:.0f}",
                    bool(longest <= MOST_SECONDS),
                ),
                Check(f"{name}: GB", f"{most:.1f}", "4", bool(most <= MOST_GIGABYTES)),
            ]
    header = ["case", "seed", "right", "z of parameters; sd of z of effects; R-hat"]
    header += ["ESS", "CPU s", "GB", "said"]
    table("Crossed factors of millions of rows", header, rows)
    report("crossed_millions", checks, about=BENCHMARK, quick=given.quick, header=header, rows=rows)


if __name__ == "__main__":
    main()

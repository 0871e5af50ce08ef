#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Crossed factors and uneven groups of the sizes that people have, with default arguments.

Every run has a process of its own and nothing but a seed. It is right if all means of parameters
are within .15 deviations and all deviations within 15 per cent, and if the errors of effects, apart
from what those of a factor have in common, have the deviation one.

    python -m benchmarks.correctness.crossed_factors [--quick] [--seeds 1 2 3] [NAME ...]
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

from arviz import ess

from benchmarks.correctness.crossed_models import MODELS
from benchmarks.correctness.crossed_references import COMPARED, reference
from benchmarks.correctness.strangers import listen
from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.processes import in_a_process
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import flat

BENCHMARK = Benchmark(
    question="Are models of crossed factors right with default arguments, and what do they cost?",
    asked=(
        "Bias at most .15 deviations, deviations within 15 per cent, errors of effects with "
        "deviation 1 within .1, 400 effective draws of every parameter, in every seed; none wrong "
        "without a word; seconds of the processor as in the table, everything counted."
    ),
    fixed="2026-11-27",
    seeds=(1, 2, 3),
)

BIAS, RATIOS, Z_RATIOS, FEWEST = 0.15, (0.85, 1.15), (0.9, 1.1), 400
# Cases that are run without names: those whose reference is exact and soon found.
USUAL = "crossed", "InstEval, a fifth"
# Of the processor, in seconds.
MOST_SECONDS = {
    "crossed": 20.0,
    "InstEval": 40.0,
    "InstEval, a fifth": 40.0,
    "ratings": 30.0,
    "claims": 90.0,
    "inflated counts": 30.0,
}
LONGEST = 900
# Fewer effects do not show the deviation of their errors.
FEWEST_EFFECTS = 100


def one(name: str, seed: int) -> None:
    """Run one case in this process and print what was found."""
    import pymc_geodesic as pmg

    warnings.simplefilter("ignore")
    case, said = MODELS[name](), listen()
    begun = time.process_time()
    idata = pmg.sample(model=case.model, random_seed=seed, progressbar=False)
    seconds = time.process_time() - begun
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    draws = {n: x.values for n, x in idata.posterior.data_vars.items()}
    moments = reference(name, case)
    found = flat(draws, COMPARED[name])
    effective = min(float(ess(x)) for x in np.moveaxis(found, -1, 0))
    found = found.reshape(-1, found.shape[-1])
    bias = float(np.abs((found.mean(axis=0) - moments.mean) / moments.sd).max())
    ratios = found.std(axis=0) / moments.sd
    z = [
        of_errors(draws[key], value)
        for key, value in case.truth.items()
        if np.size(value) >= FEWEST_EFFECTS
    ]
    z = max([*z, 1.0], key=lambda x: abs(np.log(x)))
    figures = [bias, float(ratios.min()), float(ratios.max()), z, effective]
    print(json.dumps([*figures, gigabytes, seconds, said]))


def of_errors(draws: np.ndarray, truth: np.ndarray) -> float:
    """Return the deviation of the errors of effects, in theirs, apart from a common shift."""
    draws = draws - draws.mean(axis=-1, keepdims=True)
    errors = draws.mean(axis=(0, 1)) - (truth - np.mean(truth))
    return float(np.std(errors / draws.std(axis=(0, 1))))


def is_right(bias: float, low: float, high: float, z: float) -> bool:
    """Whether figures of a run are within what was asked."""
    is_near = bias <= BIAS and RATIOS[0] <= low and high <= RATIOS[1]
    return is_near and Z_RATIOS[0] <= z <= Z_RATIOS[1]


def main() -> None:
    options = parser(__doc__.splitlines()[0])
    options.add_argument("names", nargs="*")
    options.add_argument("--seeds", nargs="*", type=int, default=BENCHMARK.seeds)
    options.add_argument("--one", nargs=2)
    given = options.parse_args()
    if given.one:
        return one(given.one[0], int(given.one[1]))
    seeds = given.seeds[:1] if given.quick else given.seeds
    names, rows, checks = given.names or USUAL, [], []
    n_quiet = 0
    with tempfile.TemporaryDirectory() as cache:
        for name in names:
            found: list[Any] = []
            for seed in seeds:
                run = in_a_process("--one", name, str(seed), cache=cache, most_seconds=LONGEST)
                stopped = [np.inf, 0.0, np.inf, np.inf, 0.0, 0.0, LONGEST, ["stopped"]]
                *figures, effective, gigabytes, seconds, said = run or stopped
                right = is_right(*figures)
                n_quiet += not right and not said
                found.append((right, effective, seconds))
                bias, low, high, z = figures
                line = f"{bias:.2f}; {low:.2f} to {high:.2f}; {z:.2f}"
                last = (said or [""])[-1][:100]
                rows.append([name, seed, right, line, round(effective), round(seconds), last])
                print(*rows[-1], f"{gigabytes:.1f} GB", sep=" | ", file=sys.stderr, flush=True)
            n_right, fewest = sum(x[0] for x in found), min(x[1] for x in found)
            longest, most = max(x[2] for x in found), MOST_SECONDS.get(name, LONGEST)
            checks += [
                Check(f"{name}: right", f"{n_right} of {len(found)}", "all", n_right == len(found)),
                Check(f"{name}: effective draws", f"{fewest:.0f}", f"{FEWEST}", fewest >= FEWEST),
                Check(f"{name}: seconds", f"{longest:.0f}", f"{most:.0f}", longest <= most),
            ]
    checks.append(Check("wrong without a word", str(n_quiet), "0", n_quiet == 0))
    header = ["case", "seed", "right", "bias; ratios of sd; sd of z", "ESS", "CPU s", "said"]
    table("Crossed factors", header, rows)
    is_short = given.quick or bool(given.names)
    report("crossed_factors", checks, about=BENCHMARK, quick=is_short, header=header, rows=rows)


if __name__ == "__main__":
    main()

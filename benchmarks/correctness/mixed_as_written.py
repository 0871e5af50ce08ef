#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Mixed models as tutorials write them, with default arguments: right, and in how long?

Effects that are not centred, correlated ones as ``z @ chol.T``, groups within groups, a multinomial
logit without a reference class, codes of pandas; all rows, and nothing that would suit minibatches.
Every run has a process of its own and nothing but a seed. Parameters are compared with exact
posteriors, effects by the deviation of their errors: near 1, but the same data give that of the
exact posterior, so that the ratio of both is one within what draws tell.

    python -m benchmarks.correctness.mixed_as_written [--quick] [--seeds 1 2 3] [NAME ...]
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import warnings

from typing import Any

import numpy as np

from arviz import ess, rhat

from benchmarks.correctness.mixed_models import MODELS
from benchmarks.correctness.strangers import listen
from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.processes import in_a_process
from benchmarks.harness.records import Check, report

BENCHMARK = Benchmark(
    question="Are mixed models right as tutorials write them, and what do they cost?",
    asked=(
        "Bias at most .15 deviations, deviations within 15 per cent, no parameter farther than 4 "
        "deviations from its true value, errors of effects within .1 of those of the exact "
        "posterior, R-hat at most 1.02, in every seed; none wrong without a word; 60 seconds of "
        "the processor, everything counted."
    ),
    fixed="2026-11-28",
    seeds=(1, 2, 3),
)

BIAS, RATIOS, Z_RATIOS, FARTHEST = 0.15, (0.85, 1.15), (0.9, 1.1), 4.0
LARGEST_R_HAT, MOST_SECONDS = 1.02, 60.0
LONGEST = 400


def one(name: str, seed: int) -> None:
    """Run one case in this process and print what was found."""
    import pymc_geodesic as pmg

    warnings.simplefilter("ignore")
    case, said = MODELS[name](), listen()
    begun = time.process_time()
    idata = pmg.sample(model=case.model, random_seed=seed, progressbar=False)
    seconds = time.process_time() - begun
    draws = {n: x.values for n, x in idata.posterior.data_vars.items()}
    truth, moments = case.reference()
    each = np.moveaxis(case.parameters_in(draws), -1, 0)
    effective, r_hat = min(float(ess(x)) for x in each), max(float(rhat(x)) for x in each)
    mean, sd = each.mean(axis=(1, 2)), each.std(axis=(1, 2))
    bias = float(np.abs((mean - truth.mean) / truth.sd).max())
    ratios = sd / truth.sd
    farthest = float(np.abs((mean - case.parameters_in(case.truth)) / sd).max())
    effects = case.effects_in(draws)
    true = case.effects_in(case.truth)
    z = np.std((effects.mean(axis=(0, 1)) - true) / effects.std(axis=(0, 1)))
    z = float(z / np.std((moments.mean - true) / moments.sd))
    figures = [bias, float(ratios.min()), float(ratios.max()), farthest, z]
    print(json.dumps([*figures, r_hat, effective, seconds, said]))


def is_right(bias: float, low: float, high: float, farthest: float, z: float) -> bool:
    """Whether figures of a run are within what was asked."""
    is_near = bias <= BIAS and RATIOS[0] <= low and high <= RATIOS[1] and farthest <= FARTHEST
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
    names, rows, checks = given.names or [*MODELS], [], []
    n_quiet = 0
    with tempfile.TemporaryDirectory() as cache:
        for name in names:
            found: list[Any] = []
            for seed in seeds:
                run = in_a_process("--one", name, str(seed), cache=cache, most_seconds=LONGEST)
                stopped = [np.inf, 0.0, np.inf, np.inf, np.inf, np.inf, 0.0, LONGEST, ["stopped"]]
                *figures, r_hat, effective, seconds, said = run or stopped
                right = is_right(*figures)
                n_quiet += not right and not said
                found.append((right, r_hat, seconds))
                bias, low, high, farthest, z = figures
                line = f"{bias:.2f}; {low:.2f} to {high:.2f}; {farthest:.1f}; {z:.2f}"
                rows.append([name, seed, right, line, f"{r_hat:.3f}", round(effective)])
                rows[-1] += [round(seconds), (said or [""])[-1][:100]]
                print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
            n_right, worst, longest = sum(x[0] for x in found), *np.max(found, axis=0)[1:]
            checks += [
                Check(f"{name}: right", f"{n_right} of {len(found)}", "all", n_right == len(found)),
                Check(
                    f"{name}: R-hat",
                    f"{worst:.3f}",
                    f"{LARGEST_R_HAT}",
                    bool(worst <= LARGEST_R_HAT),
                ),
                Check(
                    f"{name}: seconds",
                    f"{longest:.0f}",
                    f"{MOST_SECONDS:.0f}",
                    bool(longest <= MOST_SECONDS),
                ),
            ]
    checks.append(Check("wrong without a word", str(n_quiet), "0", n_quiet == 0))
    header = ["case", "seed", "right", "bias; ratios of sd; farthest from truth; errors of effects"]
    header += ["R-hat", "ESS", "CPU s", "said"]
    table("Mixed models as tutorials write them", header, rows)
    is_short = given.quick or bool(given.names)
    report("mixed_as_written", checks, about=BENCHMARK, quick=is_short, header=header, rows=rows)


if __name__ == "__main__":
    main()

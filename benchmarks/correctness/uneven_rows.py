#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Posteriors that few rows determine: heavy columns, rare events, stores of uneven sizes.

Every run has a process of its own and nothing but a seed. It is right if all means are within .15
deviations and all deviations within 15 per cent; intercepts of stores by the distribution of their
errors.

    python -m benchmarks.correctness.uneven_rows [--quick] [--seeds 1 2 3] [NAME ...]
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import warnings

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pymc as pm

from scipy.special import log_expit

from benchmarks.correctness import uneven_stores
from benchmarks.correctness.strangers import listen
from benchmarks.correctness.strangers_posteriors import Posterior, fraud, of, severity
from benchmarks.correctness.strangers_truths import grid_moments
from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.processes import in_a_process
from benchmarks.harness.records import Check, report

BENCHMARK = Benchmark(
    question="Are posteriors right, with default arguments, if few rows matter?",
    asked=(
        "Bias at most .15 deviations, deviations within 15 per cent, errors of intercepts with "
        "deviation 1 within .1, in every seed; none wrong without a word; 30 seconds of the "
        "processor (20 for stores), everything counted."
    ),
    fixed="2026-11-27",
    seeds=(1, 2, 3),
)

BIAS, RATIOS, Z_RATIOS = 0.15, (0.85, 1.15), (0.9, 1.1)
MOST_SECONDS, MOST_OF_STORES = 30.0, 20.0
LONGEST = 400


def rare(n_events: int, seed: int) -> Posterior:
    """Events in a million rows, four in five of them in the hundredth part that has a flag."""
    rng, n = np.random.default_rng(seed), 1_000_000
    flag, y = (rng.uniform(size=n) < 0.01).astype("float64"), np.zeros(n, "int32")
    flagged, others = round(0.8 * n_events), n_events - round(0.8 * n_events)
    y[rng.choice(np.flatnonzero(flag == 1), flagged, replace=False)] = 1
    y[rng.choice(np.flatnonzero(flag == 0), others, replace=False)] = 1
    with pm.Model() as model:
        xb, yb = pm.Minibatch(flag, y, batch_size=500)
        a, b = pm.Normal("a", 0.0, 10.0), pm.Normal("b", 0.0, 5.0)
        pm.Bernoulli("y", logit_p=a + b * xb, observed=yb, total_size=n)
    a, b = np.meshgrid(np.linspace(-22, -7, 1_001), np.linspace(-1, 14, 1_001), indexing="ij")
    n_flagged = flag.sum()
    log_density = others * log_expit(a) + (n - n_flagged - others) * log_expit(-a)
    log_density += flagged * log_expit(a + b) + (n_flagged - flagged) * log_expit(-a - b)
    log_density -= 0.5 * (a / 10.0) ** 2 + 0.5 * (b / 5.0) ** 2
    return Posterior(model, of("a", "b"), grid_moments([a, b], log_density))


def stores(n_rows: int, seed: int) -> Posterior:
    """Random intercepts of 1,200 stores of Dirichlet sizes."""
    return Posterior(
        uneven_stores.model(n_rows), uneven_stores.entries, uneven_stores.moments(n_rows)
    )


CASES: dict[str, Callable[[int], Posterior]] = {
    "fraud": lambda seed: fraud(10, 1.6),
    "fraud, 28 components": lambda seed: fraud(28, 1.0),
    "severity": lambda seed: severity(),
    "10 events": partial(rare, 10),
    "30 events": partial(rare, 30),
    "100 events": partial(rare, 100),
    "stores, 2e5 rows": partial(stores, 200_000),
    "stores, 2e6 rows": partial(stores, 2_000_000),
}


def one(name: str, seed: int) -> None:
    """Run one case in this process and print what was found."""
    import pymc_geodesic as pmg

    warnings.simplefilter("ignore")
    case, said = CASES[name](seed), listen()
    begun = time.process_time()
    idata = pmg.sample(model=case.model, random_seed=seed, progressbar=False)
    seconds = time.process_time() - begun
    said += [str(finding) for finding in pmg.diagnose(idata, model=case.model).findings]
    draws = {n: x.values for n, x in idata.posterior.data_vars.items()}
    found = case.entries(draws).reshape(-1, len(case.moments.mean))
    bias = float(np.abs((found.mean(axis=0) - case.moments.mean) / case.moments.sd).max())
    ratios = found.std(axis=0) / case.moments.sd
    z = 1.0
    if name.startswith("stores"):
        z = uneven_stores.z_of_effects(draws, n_rows_of(name))
    print(json.dumps([bias, float(ratios.min()), float(ratios.max()), z, seconds, said]))


def n_rows_of(name: str) -> int:
    """Return the number of rows in the name of a case."""
    return int(float(name.split()[1]))


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
    names, rows, checks = given.names or [*CASES], [], []
    n_quiet = 0
    with tempfile.TemporaryDirectory() as cache:
        for name in names:
            found: list[Any] = []
            for seed in seeds:
                run = in_a_process("--one", name, str(seed), cache=cache, most_seconds=LONGEST)
                *figures, seconds, said = run or [np.inf, 0.0, np.inf, np.inf, LONGEST, ["stopped"]]
                right = is_right(*figures)
                n_quiet += not right and not said
                found.append((right, *figures, seconds))
                bias, low, high, z = figures
                line = f"{bias:.2f}; {low:.2f} to {high:.2f}; {z:.2f}"
                rows.append([name, seed, right, line, round(seconds), (said or [""])[-1][:100]])
                print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
            most = MOST_OF_STORES if name.startswith("stores") else MOST_SECONDS
            n_right, longest = sum(x[0] for x in found), max(x[-1] for x in found)
            checks += [
                Check(f"{name}: right", f"{n_right} of {len(found)}", "all", n_right == len(found)),
                Check(f"{name}: seconds", f"{longest:.0f}", f"{most:.0f}", longest <= most),
            ]
    checks.append(Check("wrong without a word", str(n_quiet), "0", n_quiet == 0))
    header = ["case", "seed", "right", "bias; ratios of sd; sd of z", "CPU s", "said"]
    table("Few rows that matter", header, rows)
    is_short = given.quick or bool(given.names)
    report("uneven_rows", checks, about=BENCHMARK, quick=is_short, header=header, rows=rows)


if __name__ == "__main__":
    main()

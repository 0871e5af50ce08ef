#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Seconds to 400 and to 2,500 effective draws, everything counted: ours beside others.

A logistic regression on 20 coefficients with N rows. Each figure is one run in a process of its
own, with empty folders for what is kept on disk: import, compilation and tuning count, the making
of the data does not. The effective size is the smallest over means and squares of all
coefficients. A run that falls short is made again with more draws, and only the last one counts.
A run is ended after MOST_SECONDS of the processor, and not made with other seeds; what it would
have taken is not guessed. Figures are medians of the seeds, errors those of the worst.
ADVI gives no effective draws; its seconds are those of a fixed number of iterations, and its error
says what they are worth.

Cells that ``--rows`` and ``--only`` leave out are those of the run before, or of the record.

    python -m benchmarks.speed.answer_peers [--quick] [--rows N ...] [--only NAME ...]
"""

from __future__ import annotations

import json
import math
import os
import resource
import sys
import tempfile
import time

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness.declared import Benchmark
from benchmarks.harness.processes import in_a_process
from benchmarks.speed.answer import SEED, laplace, logistic, logistic_model

BENCHMARK = Benchmark(
    question=(
        "How many seconds do 400 and 2,500 effective draws take, compared with NUTS of "
        "two packages and ADVI?"
    ),
    asked="",
    fixed="2026-11-22",
    seeds=(1, 2, 3),
)

type Measured = dict[str, float]
type Cell = dict[str, list[Measured | None]]

GOALS = (400, 2_500)
# Chains, and draws of the tuning phase: for ours the defaults, for NUTS what finds a step size and
# a diagonal mass of 20 coefficients.
CHAINS, TUNE, TUNE_NUTS = 4, 1_000, 300
# Adam with this rate reaches the optimum within the iterations; the default of PyMC does not.
ADVI_RATE, ADVI_ITERATIONS, ADVI_DRAWS = 0.01, 20_000, 2_500
FIRST_DRAWS = {"ours": 0.4, "nutpie": 0.4, "numpyro": 0.4}
"""Draws per chain of the first run, as a share of the goal."""
MOST_RUNS = 4
MOST_SECONDS = 120
"""Of the processor, for one run."""


def ours(x: np.ndarray, y: np.ndarray, draws: int) -> np.ndarray:
    """Draw by `pmg.sample` with its defaults."""
    import pymc_geodesic as pmg

    idata = pmg.sample(
        draws, tune=TUNE, model=logistic_model(x, y), random_seed=SEED, progressbar=False
    )
    return idata.posterior["slope"].values


def nutpie(x: np.ndarray, y: np.ndarray, draws: int) -> np.ndarray:
    """Draw by nutpie, all rows and all cores."""
    import nutpie
    import pymc as pm

    with pm.Model() as model:
        slope = pm.Normal("slope", 0.0, 1.0, shape=x.shape[1])
        pm.Bernoulli("y", logit_p=x @ slope, observed=y)
    compiled = nutpie.compile_pymc_model(model, backend="numba")
    options = {"chains": CHAINS, "cores": os.cpu_count(), "progress_bar": False, "seed": SEED}
    return nutpie.sample(compiled, draws=draws, tune=TUNE_NUTS, **options).posterior["slope"].values


def numpyro(x: np.ndarray, y: np.ndarray, draws: int) -> np.ndarray:
    """Draw by NumPyro's NUTS, all rows."""
    import jax
    import numpyro.distributions as dist

    from numpyro import sample
    from numpyro.infer import MCMC, NUTS

    jax.config.update("jax_enable_x64", True)

    def model(x: Any, y: Any) -> None:
        slope = sample("slope", dist.Normal(0.0, 1.0).expand([x.shape[1]]).to_event(1))
        sample("y", dist.BernoulliLogits(x @ slope), obs=y)

    run = MCMC(
        NUTS(model),
        num_warmup=TUNE_NUTS,
        num_samples=draws,
        num_chains=CHAINS,
        chain_method="sequential",
        progress_bar=False,
    )
    run.run(jax.random.PRNGKey(SEED), x, y)
    return np.asarray(run.get_samples(group_by_chain=True)["slope"])


def advi(x: np.ndarray, y: np.ndarray, draws: int) -> np.ndarray:
    """Fit a Gaussian distribution with independent coefficients, by batches."""
    import pymc as pm

    with logistic_model(x, y):
        optimizer = pm.adam(learning_rate=ADVI_RATE)
        found = pm.fit(
            draws, method="advi", obj_optimizer=optimizer, random_seed=SEED, progressbar=False
        )
    idata = found.sample(ADVI_DRAWS, random_seed=SEED)
    return idata.posterior["slope"].values


METHODS: dict[str, Callable[[np.ndarray, np.ndarray, int], np.ndarray]] = {
    "ours": ours,
    "nutpie": nutpie,
    "numpyro": numpyro,
    "advi": advi,
}


def measure(name: str, n_rows: int, draws: int) -> dict[str, float]:
    """Make one run in this process."""
    x, y = logistic(n_rows)
    cpu, wall = time.process_time(), time.perf_counter()
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(cpu) + MOST_SECONDS, hard))
    found = METHODS[name](x, y, draws)
    seconds = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))
    from benchmarks.harness.statistics import effective_samples

    mean, deviation = laplace(x, y)
    ratios = found.std((0, 1)) / deviation
    return seconds | {
        "draws": draws,
        "effective": math.nan if name == "advi" else effective_samples(found),
        "bias": float(abs((found.mean((0, 1)) - mean) / deviation).max()),
        "least sd": float(ratios.min()),
        "largest sd": float(ratios.max()),
    }


def cold(name: str, n_rows: int, draws: int, *, seed: int) -> Measured | None:
    """Make one run in a process of its own, with nothing kept on disk before; None if cut off."""
    arguments = "--measure", name, str(n_rows), str(draws)
    with tempfile.TemporaryDirectory() as cache:
        return in_a_process(*arguments, cache=cache, BENCHMARK_SEED=str(seed))


def to_goal(name: str, n_rows: int, goal: int, *, seed: int) -> Measured | None:
    """Run until a run has the effective draws that are asked for; None if one was cut off."""
    draws = math.ceil(FIRST_DRAWS[name] * goal)
    for _ in range(MOST_RUNS):
        found = cold(name, n_rows, draws, seed=seed)
        if found is None or found["effective"] >= goal:
            return found
        draws = math.ceil(draws * max(1.2, 1.3 * goal / max(found["effective"], 1.0)))
    return None


def cell(name: str, n_rows: int, goals: Sequence[int], seeds: Sequence[int]) -> Cell:
    """Measure one method: what it took to each goal by seed, or None where it was ended."""
    if name == "advi":
        return {"": [cold(name, n_rows, goals[0], seed=seed) for seed in seeds]}
    found: Cell = {}
    for goal in goals:
        runs = found[str(goal)] = []
        for seed in seeds:
            # Who has not reached the lesser goal in time does not reach the greater one.
            missed = any(None in other for other in found.values())
            runs.append(None if missed else to_goal(name, n_rows, goal, seed=seed))
            if None in runs:
                break
    return found


def written(cells: dict[str, Cell]) -> list[list[Any]]:
    """Write the rows of the table."""
    rows = []
    names = [*METHODS]
    keys = [key.split() for key in cells]
    for n_rows, name in sorted(keys, key=lambda key: (int(key[0]), names.index(key[1]))):
        for goal, runs in cells[f"{n_rows} {name}"].items():
            rows.append([f"{int(n_rows):,}", name, goal, *figures_of(runs)])
    return rows


def figures_of(runs: list[Measured | None]) -> list[str]:
    """Write the median of the runs of all seeds, the range of its cost, and the worst errors."""
    made = [run for run in runs if run is not None]
    if len(made) < len(runs):
        return [f"> {MOST_SECONDS}", *[""] * 7]
    cost, median = [run["cpu"] for run in made], partial(_median, made)
    enough = median("effective")
    return [
        f"{median('cpu'):.1f}",
        f"{min(cost):.1f} to {max(cost):.1f}",
        f"{median('wall'):.0f}",
        f"{median('draws'):.0f}",
        "" if math.isnan(enough) else f"{enough:,.0f}",
        f"{max(run['bias'] for run in made):.3f}",
        f"{min(run['least sd'] for run in made):.3f}",
        f"{max(run['largest sd'] for run in made):.3f}",
    ]


def _median(runs: list[Measured], name: str) -> float:
    # JSON has no number that is none.
    values = [math.nan if run[name] is None else run[name] for run in runs]
    return float(np.median(values))


def main() -> None:
    from benchmarks.harness.console import parser, table
    from benchmarks.harness.records import PARTS, RESULTS, keep, report

    reader = parser(__doc__)
    reader.add_argument("--rows", nargs="*", type=float, default=[1e4, 1e5, 1e6])
    reader.add_argument("--only", nargs="+", choices=METHODS, default=list(METHODS))
    given = reader.parse_args()
    sizes, goals, iterations = [int(n) for n in given.rows], GOALS, ADVI_ITERATIONS
    part, cells, seeds = PARTS / "answer_peers.json", {}, BENCHMARK.seeds
    if given.quick:
        sizes, goals, iterations, seeds = [2_000], (100,), 500, seeds[:1]
    else:
        # A clone has no parts, but the record.
        record = json.loads((RESULTS / part.name).read_text(encoding="utf-8"))
        cells = record["figures"]["measurements"]
        cells |= json.loads(part.read_text(encoding="utf-8")) if part.exists() else {}
    for n_rows in sizes:
        for name in given.only:
            found = cell(name, n_rows, (iterations,) if name == "advi" else goals, seeds)
            cells[f"{n_rows} {name}"] = found
            print(f"{n_rows} {name}: {found}", flush=True)
            if not given.quick:
                keep(part, cells)
    header = ["N", "by", "goal", "CPU s", "range", "wall s", "draws", "effective"]
    header += ["bias (sd)", "least sd", "largest sd"]
    rows = written(cells)
    table("Seconds to effective draws", header, rows)
    report(
        "answer_peers",
        [],
        about=BENCHMARK,
        quick=given.quick,
        header=header,
        rows=rows,
        measurements=cells,
    )


if __name__ == "__main__":
    if "--measure" in sys.argv:
        import logging

        logging.getLogger("pymc").setLevel(logging.ERROR)
        method, n_rows, n_draws = sys.argv[sys.argv.index("--measure") + 1 :]
        print(json.dumps(measure(method, int(n_rows), int(n_draws))))
    else:
        main()

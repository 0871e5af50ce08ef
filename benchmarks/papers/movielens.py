#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Matrix factorisation of MovieLens 1M: the thermostat beside a fixed friction.

Ten tastes and traits, batches of 400, 20,000 transitions thrown away and 80,000 kept, as in Ding et
al. (2014). Needs ``ml-1m/ml-1m.npz`` in $PYMC_GEODESIC_DATA; its terms forbid to pass it on.
"""

from __future__ import annotations

import argparse
import time

import pymc as pm

from matrix_factorization import averages, build_model, load_ratings, rmse
from shared import single_precision

import pymc_geodesic as pmg

from benchmarks.harness.console import table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report

BENCHMARK = Benchmark(
    question="Ding et al. (2014), Table 3: matrix factorisation of MovieLens 1M.",
    asked="At most the paper's error.",
    fixed="2026-11-21",
    seeds=(20261121,),
    measures=("algorithms", "kernel"),
)

PAPER = {"SGNHT": 0.8572, "SGHMC": 0.8582}
# Learning rate and injected noise: the best of the paper for each.
SETTINGS = {"SGNHT": (8e-7, 0.01), "SGHMC": (2e-7, 0.01)}
STEPS = {"SGNHT": pmg.SGNHT, "SGHMC": pmg.SGHMC}
FRICTIONS = {"SGNHT": "diffusion", "SGHMC": "friction"}
TUNE, DRAWS, N_STEPS = 100, 400, 200
SEED = 20261121


def measured(method: str, train, test, tune: int, draws: int, *, seed: int = SEED) -> dict:
    """Sample with a method at its settings and predict the test ratings.

    The seed determines the start too.
    """
    learning_rate, injected = SETTINGS[method]
    step_size = learning_rate**0.5
    start, processor = time.perf_counter(), time.process_time()
    with build_model(train, seed=seed):
        step = STEPS[method](
            step_size=step_size,
            n_steps=N_STEPS,
            backend="jax",
            **{FRICTIONS[method]: injected / step_size},
        )
        idata = pm.sample(
            draws,
            tune=tune,
            chains=1,
            step=step,
            random_seed=seed,
            progressbar=False,
            compute_convergence_checks=False,
        )
    seconds = time.perf_counter() - start, time.process_time() - processor
    predictions = averages(idata, test, train.stars.mean())
    curve = [rmse(predicted, test.stars) for predicted in predictions]
    stats = idata.sample_stats
    return {
        "first": curve[0],
        "error": curve[-1],
        "curve": curve,
        "temperature": float(stats["kinetic_temperature"].mean()),
        "scales": {
            name: float(idata.posterior[f"{name}_scale"].mean())
            for name in ("viewer", "film", "tastes", "traits")
        },
        "seconds": seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few draws, to see that it runs")
    parser.add_argument("--methods", nargs="*", choices=list(STEPS), default=list(STEPS))
    arguments = parser.parse_args()
    quick = arguments.quick
    length = (5, 5) if quick else (TUNE, DRAWS)
    train, test = load_ratings()
    runs, checks, rows = {}, [], []
    with single_precision("jax"):
        for method in arguments.methods:
            run = runs[method] = measured(method, train, test, *length)
            wall, processor = run["seconds"]
            numbers = [run["first"], run["error"], run["temperature"]]
            rows.append([method, *SETTINGS[method], *numbers, f"{wall:.0f}", f"{processor:.0f}"])
            print(rows[-1], run["scales"], flush=True)
            found, asked = f"{run['error']:.4f}", PAPER[method]
            checks.append(Check(f"{method}: RMSE", found, f"<= {asked}", run["error"] <= asked))
    header = ["method", "learning rate", "a", "one draw", "average", "temperature"]
    table("MovieLens 1M: RMSE of test ratings", [*header, "s", "processor s"], rows)
    report("movielens", checks, about=BENCHMARK, quick=quick, runs=runs)


if __name__ == "__main__":
    main()

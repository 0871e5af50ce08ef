#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The neural network of Ding et al. (2014) on MNIST: the thermostat beside a fixed friction.

One network of 100 hidden units, batches of 20. First the paper's best settings of both, and the
largest step size, with 10,000 transitions thrown away and 40,000 kept; then both over the step
sizes of Figure 3, in runs of a fifth of the length. Needs ``mnist/mnist.npz`` in
$PYMC_GEODESIC_DATA.
"""

from __future__ import annotations

import argparse
import itertools
import time

import numpy as np
import pymc as pm

from neural_network import averages, build_model, error, load_digits
from shared import single_precision

import pymc_geodesic as pmg

from benchmarks.harness.console import table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import set_step_size

BENCHMARK = Benchmark(
    question="Ding et al. (2014), Table 2 and Figure 3: a neural network on MNIST.",
    asked="At most the paper's error; SGNHT not above SGHMC by more than two standard errors.",
    fixed="2026-11-21",
    seeds=(20261121,),
    measures=("algorithms", "kernel"),
)

STEPS = {"SGNHT": pmg.SGNHT, "SGHMC": pmg.SGHMC}
PAPER = {"SGHMC": 0.0225, "SGNHT": 0.0215}
LEARNING_RATES, INJECTED = (2e-7, 4e-7, 6e-7, 8e-7), (0.001, 0.01)
BEST = [("SGNHT", 2e-7, 0.01), ("SGHMC", 2e-7, 0.01), ("SGNHT", 8e-7, 0.01)]
N_STEPS = 100
# Draws to throw away and to keep, and networks whose readings are averaged: one draw in so many.
LONG, SHORT, QUICK = (100, 400, 2), (20, 80, 2), (3, 4, 1)
SEED = 20261121


def built(method: str, digits) -> pmg.SGNHT | pmg.SGHMC:
    """Compile a step; what it is set to does not matter yet."""
    with build_model(digits):
        return STEPS[method](step_size=1e-4, n_steps=N_STEPS, backend="jax")


def set_parameters(step, learning_rate: float, injected: float) -> None:
    """Give the step the paper's learning rate and injected noise, which are not compiled in."""
    step_size = learning_rate**0.5
    name = "diffusion" if isinstance(step, pmg.SGNHT) else "friction"
    set_step_size(step, step_size, **{name: injected / step_size})


def measured(step, digits, learning_rate: float, injected: float, length) -> dict:
    """Sample and read the test digits."""
    tune, draws, every = length
    set_parameters(step, learning_rate, injected)
    start, processor = time.perf_counter(), time.process_time()
    with step.model:
        idata = pm.sample(
            draws,
            tune=tune,
            chains=1,
            step=step,
            random_seed=SEED,
            progressbar=False,
            compute_convergence_checks=False,
        )
    seconds = time.perf_counter() - start, time.process_time() - processor
    readings = averages(idata, digits.test_images, every)
    errors = [error(reading, digits.test_labels) for reading in readings]
    stats = idata.sample_stats
    temperature = float(stats["kinetic_temperature"].mean())
    friction = "thermostat" if "thermostat" in stats else "friction"
    return {
        "first": errors[0],
        "error": errors[-1],
        "curve": errors,
        "temperature": temperature,
        "friction": float(stats[friction].mean()),
        "seconds": seconds,
        "transitions": (tune + draws) * N_STEPS,
    }


def compared(what: str, settings: list[tuple], steps: dict, digits, length) -> dict[str, dict]:
    """Run methods at settings, and print a table."""
    runs, rows = {}, []
    for method, learning_rate, injected in settings:
        run = measured(steps[method], digits, learning_rate, injected, length)
        runs[f"{method}, {injected:g}, {learning_rate:g}"] = run
        percents = [f"{100 * run[key]:.2f}" for key in ("first", "error")]
        seconds = [f"{value:.0f}" for value in run["seconds"]]
        numbers = [run["temperature"], run["friction"]]
        rows.append([method, injected, learning_rate, *percents, *numbers, *seconds])
        print(rows[-1], flush=True)
    header = ["method", "a", "learning rate", "one network %", "average %", "temperature"]
    n, thrown = sum(length[:2]) * N_STEPS, length[0] * N_STEPS
    title = f"MNIST, {what}: {n:,} transitions, {thrown:,} thrown away"
    table(title, [*header, "friction", "s", "processor s"], rows)
    return runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few draws, to see that it runs")
    parser.add_argument("--only", choices=["long", "sweep"], help="one of the two parts")
    arguments = parser.parse_args()
    quick, only = arguments.quick, arguments.only
    digits = load_digits()
    sweep = list(itertools.product(STEPS, LEARNING_RATES, INJECTED))
    with single_precision("jax"):
        steps = {method: built(method, digits) for method in STEPS}
        if only != "sweep":
            long = compared("long", BEST, steps, digits, QUICK if quick else LONG)
            report("mnist", paper_checks(long), about=BENCHMARK, quick=quick, runs=long)
        if only != "long":
            length, settings = (QUICK, sweep[::8]) if quick else (SHORT, sweep)
            short = compared("short", settings, steps, digits, length)
            report("mnist_sweep", checks_of(short), about=BENCHMARK, quick=quick, runs=short)


def paper_checks(runs: dict) -> list[Check]:
    """The errors of the paper's Table 2."""
    checks = []
    for key, run in runs.items():
        asked, found = PAPER[key.split(",")[0]], run["error"]
        checks.append(Check(key, f"{found:.2%}", f"<= {asked:.2%}", found <= asked))
    return checks


def checks_of(runs: dict) -> list[Check]:
    """SGNHT is not worse than SGHMC beyond the chance of 10,000 digits."""
    checks = []
    for key in [key for key in runs if key.startswith("SGNHT")]:
        ours, theirs = runs[key]["error"], runs[key.replace("SGNHT", "SGHMC")]["error"]
        chance = 2 * np.sqrt(2 * theirs * (1 - theirs) / 10_000)
        found = f"{100 * ours:.2f} against {100 * theirs:.2f} %"
        checks.append(Check(key, found, "not above SGHMC's", ours <= theirs + chance))
    return checks


if __name__ == "__main__":
    main()

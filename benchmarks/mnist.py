#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The neural network of Ding et al. (2014) on MNIST: the thermostat beside a fixed friction.

One network of 100 hidden units, batches of 20. First SGNHT at the paper's settings, 10,000
transitions thrown away and 40,000 kept; then SGNHT and SGHMC over the step sizes of Figure 3, in
runs of a fifth of the length. Needs ``mnist/mnist.npz`` in $PYMC_GEODESIC_DATA.
"""

from __future__ import annotations

import argparse
import sys
import time

from pathlib import Path

import numpy as np
import pymc as pm
import pytensor

from common import Check, report, table

import pymc_geodesic as pmg

sys.path.append(str(Path(__file__).parents[1] / "examples"))

import neural_network

PAPER = {"SGHMC": 0.0225, "SGNHT": 0.0215}
LEARNING_RATES, INJECTED = (2e-7, 4e-7, 6e-7, 8e-7), (0.001, 0.01)
N_STEPS = 100
# Draws to throw away and to keep, and networks whose readings are averaged: one draw in so many.
LONG, SHORT, QUICK = (100, 400, 2), (20, 80, 2), (3, 4, 1)
SEED = 20261121


def built(method: str, digits) -> pmg.SGNHT | pmg.SGHMC:
    """Compile a step; what it is set to does not matter yet."""
    with neural_network.build_model(digits):
        step = {"SGNHT": pmg.SGNHT, "SGHMC": pmg.SGHMC}[method]
        return step(step_size=1e-4, n_steps=N_STEPS, backend="jax")


def set_parameters(step, learning_rate: float, injected: float) -> None:
    """Give the step the paper's learning rate and injected noise, which are not compiled in."""
    step_size = learning_rate**0.5
    step.schedule = pmg.ConstantSchedule(step_size)
    step.parameters["diffusion" if isinstance(step, pmg.SGNHT) else "friction"] = (
        injected / step_size
    )


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
    averages = neural_network.averages(idata, digits.test_images, every)
    errors = [neural_network.error(average, digits.test_labels) for average in averages]
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


def cells(run: dict) -> list:
    return [
        f"{100 * run['first']:.2f}",
        f"{100 * run['error']:.2f}",
        run["temperature"],
        run["friction"],
        f"{run['seconds'][0]:.0f}",
        f"{run['seconds'][1]:.0f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few draws, to see that it runs")
    parser.add_argument("--only", choices=["long", "sweep"], help="one of the two parts")
    arguments = parser.parse_args()
    quick, only = arguments.quick, arguments.only
    digits = neural_network.load_digits()
    header = ["one network %", "average %", "temperature", "friction", "s", "processor s"]
    checks, runs = [], {}
    with pytensor.config.change_flags(floatX="float32"):
        step = built("SGNHT", digits)
        if only != "sweep":
            run = measured(step, digits, 2e-7, 0.01, QUICK if quick else LONG)
            table("MNIST: SGNHT at the paper's settings", header, [cells(run)])
            asked = PAPER["SGNHT"]
            found = f"{100 * run['error']:.2f} %"
            checks.append(
                Check("error of SGNHT", found, f"<= {100 * asked:.2f} %", run["error"] <= asked)
            )
            runs["long"] = run
            report("mnist", checks, quick=quick, runs=runs)
        if only != "long":
            sweep(step, digits, header, runs, quick=quick)
            report("mnist_sweep", checks_of(runs), quick=quick, runs=runs)


def sweep(step, digits, header: list[str], runs: dict, *, quick: bool) -> None:
    """Run both methods over the step sizes of the paper's figure."""
    length = QUICK if quick else SHORT
    steps = {"SGNHT": step, "SGHMC": built("SGHMC", digits)}
    rows = []
    for injected in INJECTED[:1] if quick else INJECTED[::-1]:
        for learning_rate in LEARNING_RATES[-1:] if quick else LEARNING_RATES:
            for method, each in steps.items():
                run = measured(each, digits, learning_rate, injected, length)
                runs[f"{method}, {injected:g}, {learning_rate:g}"] = run
                rows.append([method, injected, learning_rate, *cells(run)])
                print(rows[-1], flush=True)
    table(
        f"MNIST: {sum(length[:2]) * N_STEPS:,} transitions, {length[0] * N_STEPS:,} thrown away",
        ["method", "a", "learning rate", *header],
        rows,
    )


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

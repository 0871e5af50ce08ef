#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The neural network of Ding et al. (2014) on MNIST: the thermostat beside a fixed friction.

One network of 100 hidden units, batches of 20, learned from the first 50,000 digits; the other
10,000 are for validation. Both methods over the step sizes and injected noises of Figure 3, among
which are the best settings of Table 2, with 10,000 transitions thrown away and 40,000 kept.

Prior and start are those of the public program of Chen, Fox and Guestrin (2014), whose network the
paper uses: the weights of each of the four arrays are normal, their common precision is from
Gamma(1, 1), weights start at a standard deviation of 0.01, biases at zero, and pixels are divided
by 256. That program draws the precisions anew once per pass over the data; here they are integrated
out, after a first pass in which they are one, as in the program. Without that pass the small first
weights would have precisions in the thousands, which 50,000 transitions do not undo: 3.5 per cent
of the digits are then wrong. Needs ``mnist/mnist.npz`` in $PYMC_GEODESIC_DATA.

    python -m benchmarks.papers.mnist [--quick] [--best] [--resume] [METHOD ...]

Takes a minute of one core for each of 48 runs; with ``--best`` only the settings of Table 2.
"""

from __future__ import annotations

import itertools
import time

from functools import cache
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt

from neural_network import BATCH_SIZE, CLASSES, HIDDEN, averages, error, load_digits
from pymc.pytensorf import intX
from shared import single_precision

import pymc_geodesic as pmg

from benchmarks.harness.console import parser, table
from benchmarks.harness.data import data_file
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.parts import part_of
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import set_step_size

BENCHMARK = Benchmark(
    question="Ding et al. (2014), Table 2 and Figure 3: a neural network on MNIST.",
    asked="At most the paper's error; SGNHT not above SGHMC by more than two standard errors.",
    fixed="2026-11-27",
    seeds=(20261121, 20261122, 20261123),
)

STEPS = {"SGNHT": pmg.SGNHT, "SGHMC": pmg.SGHMC}
PAPER = {"SGHMC": 0.0225, "SGNHT": 0.0215}
LEARNING_RATES, INJECTED = (2e-7, 4e-7, 6e-7, 8e-7), (0.001, 0.01)
# Of Table 2.
BEST = [("SGNHT", 2e-7, 0.01), ("SGHMC", 2e-7, 0.01), ("SGNHT", 8e-7, 0.01)]
N_STEPS = 100
# Draws of the first pass, others to throw away, and draws to keep; and networks whose readings are
# averaged: one draw in so many.
LONG, QUICK = (25, 75, 400, 2), (2, 1, 4, 1)
# The validation digits are read by every fourth of these networks.
VALIDATED = 4
N_TRAIN, N_TEST = 50_000, 10_000


@cache
def split():
    """Divide the digits to learn from as the paper does: 50,000, and 10,000 for validation."""
    digits = load_digits(data_file("mnist", "mnist.npz"))
    learned = digits._replace(images=digits.images[:N_TRAIN], labels=digits.labels[:N_TRAIN])
    return learned, (digits.images[N_TRAIN:], digits.labels[N_TRAIN:])


def start(digits, seed: int) -> dict[str, np.ndarray]:
    """Draw first weights; biases are zero."""
    rng, pixels = np.random.default_rng(seed), digits.images.shape[1]
    shapes = {"w1": (pixels, HIDDEN), "w2": (HIDDEN, CLASSES)}
    weights = {k: 0.01 * rng.standard_normal(s, dtype="float32") for k, s in shapes.items()}
    return weights | {k: np.zeros(n, "float32") for k, n in (("b1", HIDDEN), ("b2", CLASSES))}


def build_model(digits, *, first_pass: bool) -> pm.Model:
    """Write the network with precisions of one, or integrated out."""

    def weights(name: str, *shape: int):
        w = pm.Flat(name, shape=shape)
        half = pt.sum(w**2) / 2
        log_prior = -half if first_pass else -(1 + np.prod(shape) / 2) * pt.log1p(half)
        pm.Potential(f"{name}_prior", log_prior)
        return w

    with pm.Model() as model:
        x, y = pm.Minibatch(digits.images, intX(digits.labels), batch_size=BATCH_SIZE)
        x = x.astype(pytensor.config.floatX) / 256
        hidden = pt.sigmoid(x @ weights("w1", x.type.shape[1], HIDDEN) + weights("b1", HIDDEN))
        logit = hidden @ weights("w2", HIDDEN, CLASSES) + weights("b2", CLASSES)
        pm.Categorical("digit", logit_p=logit, observed=y, total_size=len(digits.labels))
    return model


def readings(idata, images: np.ndarray, every: int):
    """Average the networks' readings of images, whose pixels are divided by 256 and not 255."""
    return averages(idata, images.astype("float32") * (255 / 256), every)


@cache
def built(method: str, *, first_pass: bool = False) -> pmg.SGNHT | pmg.SGHMC:
    """Compile a step; what it is set to does not matter yet."""
    with build_model(split()[0], first_pass=first_pass):
        friction = {"diffusion" if method == "SGNHT" else "friction": 1.0}
        return STEPS[method](step_size=1e-4, n_steps=N_STEPS, **friction)


def set_parameters(step, learning_rate: float, injected: float) -> None:
    """Give the step the paper's learning rate and injected noise, which are not compiled in."""
    step_size = learning_rate**0.5
    name = "diffusion" if isinstance(step, pmg.SGNHT) else "friction"
    set_step_size(step, step_size, **{name: injected / step_size})


def sampled(step, setting: tuple, point: dict[str, np.ndarray], seed: int, **length: int):
    """Sample a chain from a point."""
    set_parameters(step, *setting)
    with step.model:
        return pm.sample(
            **length,
            chains=1,
            step=step,
            initvals=point,
            random_seed=seed,
            progressbar=False,
            compute_convergence_checks=False,
        )


def measured(method: str, setting: tuple, length, seed: int) -> dict[str, Any]:
    """Sample, and read the test digits and those for validation."""
    (first, tune, draws, every), (digits, (images, labels)) = length, split()
    begin = time.process_time()
    step = built(method, first_pass=True)
    idata = sampled(step, setting, start(digits, seed), seed, draws=first, tune=0)
    last = idata.posterior.isel(chain=0, draw=-1)
    point = {name: last[name].values for name in ("w1", "b1", "w2", "b2")}
    idata = sampled(built(method), setting, point, seed, draws=draws, tune=tune)
    seconds = time.process_time() - begin
    errors = [error(r, digits.test_labels) for r in readings(idata, digits.test_images, every)]
    *_, validated = readings(idata, images, VALIDATED * every)
    stats = idata.sample_stats
    friction = "thermostat" if "thermostat" in stats else "friction"
    return {
        "first": errors[0],
        "error": errors[-1],
        "validation": error(validated, labels),
        "curve": errors,
        "temperature": float(stats["kinetic_temperature"].mean()),
        "friction": float(stats[friction].mean()),
        "seconds": seconds,
    }


def of_seeds(method: str, setting: tuple, *, quick: bool) -> dict[str, Any]:
    """Run a setting with each seed; medians, and all runs."""
    length, seeds = (QUICK, BENCHMARK.seeds[:1]) if quick else (LONG, BENCHMARK.seeds)
    with single_precision():
        runs = [measured(method, setting, length, seed) for seed in seeds]
    numbers = [key for key in runs[0] if key != "curve"]
    return {key: float(np.median([run[key] for run in runs])) for key in numbers} | {"runs": runs}


HEADER = ["method", "a", "learning rate", "one network %", "average %", "of one seed", "paper %"]
HEADER += ["validation %", "temperature", "friction", "processor s"]


def key_of(method: str, learning_rate: float, injected: float) -> str:
    """Name a setting."""
    return f"{method}, {injected:g}, {learning_rate:g}"


def row_of(key: str, found: dict[str, Any]) -> list[str]:
    """Write a setting as a row of the table."""
    method = key.split(", ")[0]
    errors = [100 * run["error"] for run in found["runs"]]
    row = [*key.split(", "), *(f"{100 * found[name]:.2f}" for name in ("first", "error"))]
    row += [f"{min(errors):.2f} to {max(errors):.2f}", f"{100 * PAPER[method]:.2f}"]
    row += [f"{100 * found['validation']:.2f}", f"{found['temperature']:.3f}"]
    return [*row, f"{found['friction']:.1f}", f"{found['seconds']:.0f}"]


def main() -> None:
    reader = parser(__doc__.splitlines()[0])
    reader.add_argument("methods", nargs="*", metavar="METHOD", help="the only ones to run now")
    reader.add_argument("--best", action="store_true", help="only the settings of Table 2")
    reader.add_argument("--resume", action="store_true", help="keep parts that have been run")
    options = reader.parse_args()
    runs = {}
    settings = list(itertools.product(STEPS, LEARNING_RATES, INJECTED))
    if options.best:
        settings = [setting for setting in settings if setting in BEST]
    for method, *setting in settings[::7] if options.quick else settings:
        key = key_of(method, *setting)
        found = part_of(
            "mnist",
            key,
            lambda method=method, setting=setting: of_seeds(
                method, tuple(setting), quick=options.quick
            ),
            now=not options.methods or method in options.methods,
            quick=options.quick,
            resume=options.resume,
        )
        if found is not None:
            runs[key] = found
            print(row_of(key, found), flush=True)
    rows = [row_of(*pair) for pair in runs.items()]
    table(f"MNIST: {sum(LONG[:3]) * N_STEPS:,} transitions", HEADER, rows)
    best = {key: runs[key] for key in (key_of(*setting) for setting in BEST) if key in runs}
    checks = [*paper_checks(best), *checks_of(runs)]
    tables = {"header": HEADER, "rows": rows}
    report("mnist", checks, about=BENCHMARK, quick=options.quick, runs=runs, **tables)


def paper_checks(runs: dict) -> list[Check]:
    """The errors of the paper's Table 2; medians of the seeds."""
    checks = []
    for key, run in runs.items():
        asked, found = PAPER[key.split(",")[0]], run["error"]
        checks.append(Check(key, f"{found:.2%}", f"<= {asked:.2%}", found <= asked))
    return checks


def checks_of(runs: dict) -> list[Check]:
    """SGNHT is not worse than SGHMC beyond the chance of 10,000 digits."""
    checks = []
    for key in [key for key in runs if key.startswith("SGNHT")]:
        if (other := key.replace("SGNHT", "SGHMC")) not in runs:
            continue
        ours, theirs = runs[key]["error"], runs[other]["error"]
        chance = 2 * np.sqrt(2 * theirs * (1 - theirs) / N_TEST)
        found = f"{100 * ours:.2f} against {100 * theirs:.2f} %"
        checks.append(Check(f"{key}, and SGHMC", found, "not above", ours <= theirs + chance))
    return checks


if __name__ == "__main__":
    main()

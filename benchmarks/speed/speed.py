#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Microseconds a transition: the compiled kernel against BlackJAX's, and where the time goes.

Logistic regression with N = 1e5 rows, d = 10 and batches of 100, in double precision, all in one
process with interleaved repetitions, because the machine's speed drifts; ratios are of medians.
All of this three times: figures are medians of the three.
Both sides count everything that a transition needs: drawing indices, gathering rows, noise,
gradient, update. BlackJAX draws its random numbers inside the compiled loop, our kernel gets them
from NumPy.
"""

from __future__ import annotations

import logging
import subprocess
import sys
import time

from collections.abc import Callable
from typing import Any

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
import pymc as pm
import pytensor

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark, this_command
from benchmarks.harness.records import Check, report
from benchmarks.harness.statistics import median_and_range
from pymc_geodesic.kernel.jax.function import JAXFunction
from pymc_geodesic.kernel.streams import draw_noise

BENCHMARK = Benchmark(
    question="What does a transition cost, beside BlackJAX, and a draw through `pm.sample`?",
    asked=(
        "At most 1.2 times BlackJAX; at most 80 microseconds per draw of one "
        "transition, also on S^99; at most 6 s from a new process to its first draw with a warm "
        "cache."
    ),
    fixed="2026-11-21",
    seeds=(1, 2, 3),
    changed="The rows of the second backend went with it; the limits of the others are the same.",
)

# As PyTensor's JAX backend does when `floatX` is float64, so that both sides compute in the same.
jax.config.update("jax_enable_x64", True)

N_ROWS, N_FEATURES, BATCH_SIZE, N_STEPS = 100_000, 10, 100, 1000
REFERENCE = "BlackJAX SGNHT, lax.scan"
SETTINGS = {"step_size": 1e-3, "diffusion": 10.0}


def regression_data(seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Simulate the regression."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    beta = rng.normal(size=N_FEATURES) / np.sqrt(N_FEATURES)
    return X, (rng.random(N_ROWS) < 1 / (1 + np.exp(-X @ beta))).astype("int32")


def regression_model(X: np.ndarray, y: np.ndarray) -> pm.Model:
    """Write the regression as a user would."""
    with pm.Model() as model:
        batch_X, batch_y = pm.Minibatch(X, y, batch_size=BATCH_SIZE)
        beta = pm.Normal("beta", shape=N_FEATURES)
        pm.Bernoulli("y", logit_p=batch_X @ beta, observed=batch_y, total_size=N_ROWS)
    return model


def sphere_model(n: int = 100) -> pm.Model:
    """Write a von Mises-Fisher model with N = 1e5 rows on S^(n-1)."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(N_ROWS, n)) + 2 * np.eye(n)[0]
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    with pm.Model() as model:
        mu = pmg.SphericalUniform("mu", shape=n)
        batch = pm.Minibatch(X, batch_size=BATCH_SIZE)
        pmg.VonMisesFisher("x", mu=mu, kappa=20.0, observed=batch, total_size=N_ROWS)
    return model


def our_call(model: pm.Model, step_class=pmg.SGNHT) -> Callable[[], None]:
    """Return a function that makes N_STEPS transitions, as ``pm.sample`` would."""
    with model:
        step = step_class(**SETTINGS, n_steps=N_STEPS, rng=1)
    point = model.initial_point()
    return lambda: step.step(point)


def blackjax_call(X: np.ndarray, y: np.ndarray) -> Callable[[], None]:
    """Return a function that makes N_STEPS transitions of BlackJAX's SGNHT in one ``lax.scan``."""
    data = jnp.asarray(X), jnp.asarray(y, dtype=float)

    def log_prior(beta):
        return -0.5 * jnp.sum(beta**2)

    def log_likelihood(beta, batch):
        x, label = batch
        logit = x @ beta
        return label * logit - jnp.logaddexp(0.0, logit)

    gradient = blackjax.sgmcmc.gradients.grad_estimator(log_prior, log_likelihood, N_ROWS)
    algorithm = blackjax.sgnht(gradient, SETTINGS["diffusion"])

    def body(state, key):
        rows_key, key = jax.random.split(key)
        rows = jax.random.randint(rows_key, (BATCH_SIZE,), 0, N_ROWS)
        batch = data[0][rows], data[1][rows]
        return algorithm.step(key, state, batch, SETTINGS["step_size"]), None

    @jax.jit
    def run(state, key):
        return jax.lax.scan(body, state, jax.random.split(key, N_STEPS))[0]

    state = algorithm.init(jnp.zeros(N_FEATURES), jax.random.key(1))
    return lambda: jax.block_until_ready(run(state, jax.random.key(2)))


def interleaved(calls: dict[str, Callable[[], None]], repetitions: int) -> dict[str, float]:
    """Median seconds of each call; the calls take turns."""
    seconds = {name: [] for name in calls}
    for call in calls.values():
        call()
    for _ in range(repetitions):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
    return {name: float(np.median(times)) for name, times in seconds.items()}


def gradient_only(model: pm.Model) -> Callable[[], None]:
    """Return a function that evaluates N_STEPS minibatch gradients in a scan, and no dynamics."""
    with model:
        step = pmg.SGLD(step_size=1e-6, variance_reduction=None, n_steps=N_STEPS)
    potential = step.sampler.problem.potential
    [index] = potential.indices
    rows = pytensor.tensor.tensor("rows", dtype="int64", shape=(N_STEPS, *index.type.shape))
    [x0] = potential.positions
    width = pytensor.tensor.constant(1e-3)
    [x] = pytensor.scan(
        lambda row, x: [1e-9 * potential.gradient((x,), [row], width=width)[0]],
        sequences=[rows],
        outputs_info=[x0],
        return_list=True,
        return_updates=False,
    )
    function = JAXFunction([rows, x0], [x[-1]])
    draws = np.random.default_rng(1).integers(0, N_ROWS, (N_STEPS, BATCH_SIZE))
    start = np.full(x0.type.shape, 0.1)
    return lambda: np.asarray(function(draws, start)[0])


def host_calls(shape: tuple[int, ...]) -> dict[str, Callable[[], None]]:
    """Return functions that draw the noise and the rows of N_STEPS transitions."""
    rng = np.random.default_rng(1)
    return {
        "noise": lambda: draw_noise(rng, N_STEPS, [shape], "float64"),
        "indices": lambda: rng.integers(0, N_ROWS, (N_STEPS, BATCH_SIZE)),
    }


def through_sample(model: pm.Model, step: Any, draws: int, *, seed: int) -> float:
    """Microseconds a draw of ``pm.sample`` with one transition a draw, after compilation."""
    seconds = []
    with model:
        for n in (draws // 10, draws):
            start = time.perf_counter()
            pm.sample(
                n,
                tune=0,
                chains=1,
                cores=1,
                step=step,
                random_seed=seed,
                progressbar=False,
                compute_convergence_checks=False,
            )
            seconds.append(time.perf_counter() - start)
    # The difference of two runs leaves out what does not grow with the draws.
    return (seconds[1] - seconds[0]) / (draws - draws // 10) * 1e6


def first_draw_seconds() -> float:
    """Seconds from the start of a new process to its first draw, with a warm cache."""
    command = this_command("--first-draw")
    subprocess.run(command, check=True, capture_output=True)
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def first_draw() -> None:
    """Make one draw, for :func:`first_draw_seconds`."""
    model = regression_model(*regression_data())
    with model:
        pm.sample(1, tune=0, chains=1, cores=1, step=pmg.SGNHT(**SETTINGS), progressbar=False)


def all_calls(model: pm.Model, sphere: pm.Model, data: tuple) -> dict[str, Callable[[], None]]:
    """Return what is timed in turns."""
    return {
        REFERENCE: blackjax_call(*data),
        "SGNHT on JAX": our_call(model),
        "gSGNHT on JAX, S^99": our_call(sphere, pmg.gSGNHT),
        "gradient on JAX": gradient_only(model),
        **host_calls((N_FEATURES,)),
    }


def micros_of(calls: dict[str, Callable[[], None]], repetitions: int) -> dict[str, float]:
    """Microseconds a transition of each call."""
    seconds = interleaved(calls, repetitions)
    return {name: value / N_STEPS * 1e6 for name, value in seconds.items()}


def main() -> None:
    """Measure, print the table, write the results."""
    logging.getLogger("pymc").setLevel(logging.ERROR)
    options = arguments(__doc__.splitlines()[0])
    repetitions, draws = (5, 2000) if options.quick else (41, 20_000)
    data = regression_data()
    model, sphere = regression_model(*data), sphere_model()
    calls = all_calls(model, sphere, data)
    found = [micros_of(calls, repetitions) for _ in BENCHMARK.seeds]
    micros = {name: [run[name] for run in found] for name in calls}
    ratios = {name: [run[name] / run[REFERENCE] for run in found] for name in calls}
    rows = [[name, *map(median_and_range, (micros[name], ratios[name]))] for name in calls]
    header = ["what", "microseconds per transition", "of BlackJAX"]
    table("SGNHT, N = 1e5, d = 10, batch 100", header, rows)

    with model:
        flat = pmg.SGNHT(**SETTINGS)
    with sphere:
        curved = pmg.gSGNHT(**SETTINGS)
    on_flat = [through_sample(model, flat, draws, seed=seed) for seed in BENCHMARK.seeds]
    on_sphere = [through_sample(sphere, curved, draws, seed=seed) for seed in BENCHMARK.seeds]
    starts = [first_draw_seconds() for _ in BENCHMARK.seeds]
    checks = [
        _check("SGNHT on JAX / BlackJAX", ratios["SGNHT on JAX"], 1.2),
        _check("one transition a draw through pm.sample, us", on_flat, 80),
        _check("the same on S^99, us", on_sphere, 80),
        _check("new process to first draw, warm cache, s", starts, 6),
    ]
    report("speed", checks, about=BENCHMARK, quick=options.quick, header=header, rows=rows)


def _check(what: str, values: list[float], limit: float) -> Check:
    passed = bool(np.median(values) <= limit)
    return Check(what, median_and_range(values), f"<= {limit}", passed)


if __name__ == "__main__":
    if "--first-draw" in sys.argv:
        first_draw()
    else:
        main()

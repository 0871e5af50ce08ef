#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A million rows: a step that tunes itself against BlackJAX's SGLD and SGNHT, tuned by a grid.

The regression of ``million_rows.py``. BlackJAX gets its own control variates, centered at the mode,
the same batches, `lax.scan`, and the best of a grid of its step size and friction, in the model's
own coordinates and in ones scaled by hand to a posterior of unit width. Seconds are the
processor's, for sampling alone, on both sides; ours hold PyMC's loop. For ours those in all are
given too.
"""

from __future__ import annotations

import time

from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
import pymc as pm

from million import BATCH_SIZE, N_COEFFICIENTS, build_model, laplace, make_data

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import SamplingClock
from benchmarks.harness.statistics import effective_samples
from benchmarks.speed.million_rows import errors

BENCHMARK = Benchmark(
    question=(
        "Does a step that tunes itself give as many effective samples per second as BlackJAX at "
        "its best settings?"
    ),
    asked="At least as many, at both accuracies.",
    fixed="2026-11-21",
    seeds=(1,),
    measures=("algorithms", "kernel", "potential", "tuning"),
)

jax.config.update("jax_enable_x64", True)

N_CHAINS = 2
# Largest bias of a mean in standard deviations, and largest relative error of a width.
ACCURACIES = {"5 per cent": (0.1, 0.05), "15 per cent": (0.15, 0.15)}
# In units of the posterior's width and, for SGLD, of its square.
STEP_SIZES = [0.05, 0.1, 0.2, 0.3, 0.4, 0.6]
FRICTIONS = [0.3, 1.0, 3.0]
LANGEVIN_STEPS = [0.05, 0.1, 0.2, 0.3, 0.4]


class Problem(NamedTuple):
    """Data, and the posterior's mode and widths."""

    design: np.ndarray
    outcome: np.ndarray
    mean: np.ndarray
    sd: np.ndarray


class Result(NamedTuple):
    """A run: what it was, its errors, effective samples and seconds of sampling."""

    what: str
    errors: list[float]
    effective: float
    seconds: float

    @property
    def rate(self) -> float:
        """Effective samples a second."""
        return self.effective / self.seconds

    def is_within(self, accuracy: str) -> bool:
        """Whether means and widths are as good as asked."""
        bias, width = ACCURACIES[accuracy]
        found, low, high = self.errors
        return bool(found <= bias and 1 - width <= low and high <= 1 + width)


def log_prior(beta):
    """Log density of the prior, up to a constant."""
    return -0.5 * jnp.sum((beta / 10.0) ** 2)


def log_likelihood(beta, row):
    """Log probability of one outcome."""
    x, outcome = row
    logit = x @ beta
    return outcome * logit - jnp.logaddexp(0.0, logit)


def controlled_gradient(problem: Problem, scale: float) -> Callable:
    """Return BlackJAX's estimator with control variates, in coordinates divided by ``scale``."""
    gradient = blackjax.sgmcmc.gradients.grad_estimator(
        lambda z: log_prior(scale * z),
        lambda z, row: log_likelihood(scale * z, row),
        len(problem.design),
    )
    center = jnp.asarray(problem.mean / scale)
    rows = jnp.asarray(problem.design), jnp.asarray(problem.outcome)
    return blackjax.sgmcmc.gradients.control_variates(gradient, center, rows)


def chain(algorithm: Callable, problem: Problem, *, thin: int) -> Callable:
    """Compile a chain: ``run(key, start, draws, step_size, friction)``, every ``thin``-th state.

    ``algorithm`` makes a BlackJAX algorithm of a friction. Settings are arguments of the compiled
    function, so that a grid compiles once.
    """
    rows = jnp.asarray(problem.design), jnp.asarray(problem.outcome)

    def transition(state, key, step_size, friction):
        key_rows, key = jax.random.split(key)
        index = jax.random.randint(key_rows, (BATCH_SIZE,), 0, len(problem.design))
        batch = tuple(array[index] for array in rows)
        return algorithm(friction).step(key, state, batch, step_size), None

    def draw(settings):
        def body(state, key):
            keys = jax.random.split(key, thin)
            state, _ = jax.lax.scan(lambda s, k: transition(s, k, *settings), state, keys)
            return state, state.position if hasattr(state, "position") else state

        return body

    @jax.jit
    def run(keys, start, step_size, friction):
        state = algorithm(friction).init(start, keys[0])
        return jax.lax.scan(draw((step_size, friction)), state, keys)[1]

    return run


def blackjax_run(
    what: str, run: Callable, problem: Problem, scale: float, draws: int, settings
) -> Result:
    """Sample a fifth to settle, then time and judge the rest."""
    start, all_draws, seconds = jnp.asarray(problem.mean / scale), [], 0.0
    for seed in range(N_CHAINS):
        keys = jax.random.split(jax.random.key(seed), draws + draws // 5)
        clock = time.process_time()
        found = np.asarray(run(keys, start, *settings))
        seconds += (time.process_time() - clock) / 1.2
        all_draws.append(found[draws // 5 :] * scale)
    return judged(what, np.array(all_draws), seconds, problem)


def judged(what: str, draws: np.ndarray, seconds: float, problem: Problem) -> Result:
    """Compare draws with the truth."""
    if not np.all(np.isfinite(draws)):
        return Result(what, [np.inf, np.inf, np.inf], 0.0, seconds)
    return Result(what, errors(draws, problem.mean, problem.sd), effective_samples(draws), seconds)


def grid(problem: Problem, draws: int, thin: int, *, quick: bool) -> dict[str, list[Result]]:
    """Run BlackJAX at all settings; by method."""
    width = float(np.exp(np.mean(np.log(problem.sd))))
    found = {}
    for coordinates, scale in {"own coordinates": 1.0, "scaled to unit width": width}.items():
        gradient = controlled_gradient(problem, scale)
        unit = width / scale
        methods = {
            "SGLD": (
                lambda _, gradient=gradient: blackjax.sgld(gradient),
                [(h * unit**2, 0.0) for h in LANGEVIN_STEPS],
            ),
            "SGNHT": (
                lambda friction, gradient=gradient: blackjax.sgnht(gradient, friction),
                [(h * unit, a / unit) for h, a in product(STEP_SIZES, FRICTIONS)],
            ),
        }
        for name, (algorithm, settings) in methods.items():
            run = chain(algorithm, problem, thin=thin)
            settings = settings[:: 4 if quick else 1]
            what = f"BlackJAX {name}, {coordinates}"
            blackjax_run(what, run, problem, scale, draws, settings[0])
            found[what] = []
            for setting in settings:
                label = f"step {setting[0]:.3g}, friction {setting[1]:.3g}"
                result = blackjax_run(label, run, problem, scale, draws, setting)
                found[what].append(result)
                print(what, label, result.errors, f"{result.rate:.0f}", sep=" | ", flush=True)
    return found


def ours(problem: Problem, draws: int) -> tuple[Result, float]:
    """Sample with defaults; return also the seconds in all, with tuning and compilation."""
    start = time.process_time()
    clock = SamplingClock()
    with build_model(problem.design, problem.outcome, minibatch=True):
        idata = pm.sample(
            draws,
            step=pmg.SGNHT(),
            chains=N_CHAINS,
            cores=1,
            random_seed=1,
            progressbar=False,
            compute_convergence_checks=False,
            callback=clock,
        )
    total = time.process_time() - start
    found = np.asarray(idata.posterior["beta"])
    return judged("SGNHT, defaults", found, clock.seconds, problem), total


def best(results: list[Result], accuracy: str) -> Result | None:
    """Return the fastest run that is as accurate as asked."""
    right = [result for result in results if result.is_within(accuracy)]
    return max(right, key=lambda result: result.rate, default=None)


def main() -> None:
    quick = arguments(__doc__.splitlines()[0]).quick
    n_rows, draws = (20_000, 1_000) if quick else (1_000_000, 3_000)
    design, outcome = make_data(n_rows)
    problem = Problem(design, outcome, *laplace(design, outcome))
    own, total = ours(problem, draws)
    peers = grid(problem, draws, 10, quick=quick)
    header = ["accuracy", "method", "best settings", "bias (sd)", "smallest sd", "largest sd"]
    header += ["effective", "s", "a second", "ours over it"]
    rows, checks = [], []
    rows.append(["", own.what, f"{total:.1f} s in all", *own.errors])
    rows[-1] += [own.effective, own.seconds, own.rate, 1.0]
    for accuracy, (what, results) in product(ACCURACIES, peers.items()):
        found = best(results, accuracy)
        if found is None:
            rows.append([accuracy, what, "none", *[np.nan] * 7])
            continue
        ratio = own.rate / found.rate
        rows.append([accuracy, what, found.what, *found.errors])
        rows[-1] += [found.effective, found.seconds, found.rate, ratio]
        checks.append(Check(f"ours over {what}, {accuracy}", f"{ratio:.2f}", ">= 1", ratio >= 1))
    bias, low, high = own.errors
    text = f"{bias:.3f}, {low:.3f} to {high:.3f}"
    checks.append(Check(own.what, text, "5 per cent", own.is_within("5 per cent")))
    table(f"Logistic regression, N = {n_rows:,}, d = {N_COEFFICIENTS}", header, rows)
    everything = {what: [r._asdict() for r in results] for what, results in peers.items()}
    report(
        "blackjax_million_rows",
        checks,
        about=BENCHMARK,
        quick=quick,
        header=header,
        rows=rows,
        grid=everything,
    )


if __name__ == "__main__":
    main()

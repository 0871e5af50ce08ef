#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Bayesian matrix completion on Stiefel manifolds, from minibatches of entries.

Liu, Zhu and Song (2016) name it as an outlook. The matrix of ratings is a mean for each viewer and
film and a product U diag(s) V' of rank ten, with U and V on Stiefel manifolds and uniform there,
where ``examples/matrix_factorization.py`` has tastes and traits in flat space. Both have the same
ratings, batches, means, noise and processor time, and gSGNHT or SGNHT with the same learning rate
and injected noise in comparable units. Needs ``ml-1m/ml-1m.npz`` in $PYMC_GEODESIC_DATA.

    python -m benchmarks.papers.stiefel_completion [--quick]
"""

from __future__ import annotations

import time
import warnings

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pymc as pm

from matrix_factorization import (
    BATCH_SIZE,
    INJECTED,
    LEARNING_RATE,
    N_FACTORS,
    SCALE,
    SIGMA,
    START,
    Ratings,
    build_model,
    load_ratings,
    rmse,
)
from shared import single_precision

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.data import data_file
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.statistics import median_and_range

BENCHMARK = Benchmark(
    question="Does matrix completion on Stiefel manifolds predict as well as in flat space?",
    asked=(
        "The test error of an average over draws is at most .005 stars above that of tastes and "
        "traits in flat space after as many seconds of the processor: medians of three seeds."
    ),
    fixed="2026-11-27",
    seeds=(1, 2, 3),
)

MARGIN, N_STEPS = 0.005, 100
# Seconds of the processor of a run after compilation, and the shares at which it is scored; draws
# of the first tenth are thrown away.
SECONDS, SCORED_AT, THROWN_AWAY = 60.0, (0.25, 0.5, 1.0), 0.1
FIGURES = (("temperature", ".3f"), ("transitions", ",.0f"))
NAMES = ["viewer", "film", "tastes", "traits", "U", "V", "strength"]


def on_stiefel(ratings: Ratings, *, seed: int) -> tuple[pm.Model, dict[str, float]]:
    """Write the completion, and masses that make its steps as long as those in flat space."""
    rng = np.random.default_rng(seed)
    sizes = int(ratings.user.max()) + 1, int(ratings.item.max()) + 1
    unit = float(np.sqrt(sizes[0] * sizes[1]))

    def means(name: str, n: int):
        scale = pm.HalfNormal(f"{name}_scale", SCALE, initval=START)
        start = START * rng.standard_normal(n).astype("float32")
        return pm.Normal(name, 0, scale, shape=n, initval=start)

    with pm.Model() as model:
        user, item, stars = pm.Minibatch(*ratings, batch_size=BATCH_SIZE)
        mean = (
            ratings.stars.mean() + means("viewer", sizes[0])[user] + means("film", sizes[1])[item]
        )
        frames = [
            pmg.UniformStiefel(
                name,
                n,
                N_FACTORS,
                initval=np.linalg.qr(rng.standard_normal((n, N_FACTORS)))[0].astype("float32"),
            )
            for name, n in zip("UV", sizes, strict=True)
        ]
        start = np.full(N_FACTORS, START**2, "float32")
        strength = pm.HalfNormal("strength", SCALE, shape=N_FACTORS, initval=start)
        product = frames[0][user] * frames[1][item] * (unit * strength)
        pm.Normal(
            "stars",
            mean + product.sum(axis=1),
            SIGMA,
            observed=stars,
            total_size=len(ratings.stars),
        )
    # An entry of a frame of n rows is a taste divided by START sqrt(n). A strength is met by all
    # ratings, as no taste is, and moves as slowly as a mass of all films makes it.
    masses = {"U": START**2 * sizes[0], "V": START**2 * sizes[1], "strength": float(sizes[1])}
    return model, masses


def sampled(build: Callable[[], Any], model: pm.Model, *, seed: int, seconds: float):
    """Sample for some seconds of the processor; return draws, their times and the temperature."""
    times: list[float] = []

    def note(trace, draw) -> None:
        times.append(time.process_time())

    def run(draws: int) -> Any:
        times.clear()
        options = {"tune": max(1, round(THROWN_AWAY * draws)), "chains": 1, "random_seed": seed}
        options |= {"progressbar": False, "compute_convergence_checks": False, "callback": note}
        return pm.sample(draws, step=step, **options)

    with model:
        step = build()
        run(20)
        each = (times[-1] - times[2]) / (len(times) - 3)
        idata = run(max(20, int(seconds / each / (1 + THROWN_AWAY))))
    n_kept = idata.posterior.sizes["draw"]
    first = times[0] - each
    temperature = float(idata.sample_stats["kinetic_temperature"].mean())
    return idata, np.array(times[-n_kept:]) - first, temperature


def flat(ratings: Ratings, *, seed: int) -> tuple[pm.Model, Callable[[], Any]]:
    """Return tastes and traits in flat space, and their step."""
    rate = LEARNING_RATE / len(ratings.stars)
    build = pmg.SGNHT.from_learning_rate
    return build_model(ratings, seed=seed), lambda: build(rate, INJECTED, n_steps=N_STEPS)


def curved(ratings: Ratings, *, seed: int) -> tuple[pm.Model, Callable[[], Any]]:
    """Return the product with frames, and its step."""
    model, masses = on_stiefel(ratings, seed=seed)
    step_size = float(np.sqrt(LEARNING_RATE / len(ratings.stars)))
    options = {"diffusion": INJECTED / step_size, "n_steps": N_STEPS, "mass": masses}
    return model, lambda: pmg.gSGNHT(step_size=step_size, **options)


def predicted(draw: Mapping[str, np.ndarray], pairs: Ratings, mean: float) -> np.ndarray:
    """Predict ratings by one draw, clipped to 1 to 5 stars."""
    found = mean + draw["viewer"][pairs.user] + draw["film"][pairs.item]
    if "U" in draw:
        unit = np.sqrt(len(draw["U"]) * len(draw["V"]))
        left, right = draw["U"] * (unit * draw["strength"]), draw["V"]
    else:
        left, right = draw["tastes"], draw["traits"]
    return np.clip(found + np.einsum("ij,ij->i", left[pairs.user], right[pairs.item]), 1, 5)


def scored(make: Any, *, seed: int, seconds: float) -> dict[str, Any]:
    """Return the test error of the average draw at some times, and of the last draw."""
    train, test = load_ratings(data_file("ml-1m", "ml-1m.npz"))
    with single_precision():
        model, build = make(train, seed=seed)
        idata, times, temperature = sampled(build, model, seed=seed, seconds=seconds)
    arrays = {name: idata.posterior[name].values[0] for name in NAMES if name in idata.posterior}
    total, errors, limits = np.zeros(len(test.stars)), [], list(SCORED_AT)
    for i, at in enumerate(times):
        last = predicted({n: x[i] for n, x in arrays.items()}, test, train.stars.mean())
        total += last
        if limits and (at >= limits[0] * times[-1] * (1 - 1e-9)):
            errors.append(rmse(total / (i + 1), test.stars))
            limits.pop(0)
    found = {"errors": errors, "one": rmse(last, test.stars), "temperature": temperature}
    return found | {"transitions": N_STEPS * len(times), "seconds": float(times[-1])}


def main() -> None:
    # JAX says that it takes indices as int32, which it does for all of single precision.
    warnings.filterwarnings("ignore", "Explicitly requested dtype", UserWarning)
    quick = arguments(__doc__.splitlines()[0]).quick
    seeds, seconds = (BENCHMARK.seeds[:1], 6.0) if quick else (BENCHMARK.seeds, SECONDS)
    methods = {"flat: tastes and traits, SGNHT": flat, "Stiefel: U diag(s) V', gSGNHT": curved}
    runs = {
        title: [scored(make, seed=seed, seconds=seconds) for seed in seeds]
        for title, make in methods.items()
    }
    rows = [
        [
            title,
            *(median_and_range([run["errors"][k] for run in of], ".4f") for k in range(3)),
            median_and_range([run["one"] for run in of], ".4f"),
            *(f"{np.median([run[name] for run in of]):{form}}" for name, form in FIGURES),
        ]
        for title, of in runs.items()
    ]
    theirs, ours = (float(np.median([run["errors"][-1] for run in of])) for of in runs.values())
    fits = ours <= theirs + MARGIN
    check = Check("error on Stiefel manifolds", f"{ours:.4f}", f"<= {theirs:.4f} + {MARGIN}", fits)
    header = ["model", *(f"after {share * seconds:.0f} s" for share in SCORED_AT), "one draw"]
    header += ["temperature", "transitions"]
    table("test error in stars of the average draw", header, rows)
    kept = {"header": header, "rows": rows, "runs": runs}
    report("stiefel_completion", [check], about=BENCHMARK, quick=quick, **kept)


if __name__ == "__main__":
    main()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What it costs to sample batches of a model that was written for all of its rows.

A regression with a million rows, ten columns and groups, in ``pm.Data`` with ``dims``. Conversion
and the comparison of log densities that follows are timed in a new process, and so is the memory
that they add to that of the model at its peak, beside that of the data. A transition is compared
with that of the same model written with ``pm.Minibatch``: draws of 200 transitions each, the two in
turn.

    python -m benchmarks.speed.conversion [--quick]
"""

from __future__ import annotations

import json
import resource
import tempfile
import time

from typing import Any

import numpy as np
import pymc as pm

import pymc_geodesic as pmg

from benchmarks.harness.console import parser
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.processes import in_a_process
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import SamplingClock, sample

BENCHMARK = Benchmark(
    question="What does it cost to sample batches of a model that was written for all rows?",
    asked=(
        "With a million rows at most 1.5 CPU s, and with the data themselves at most 1.2 times "
        "their memory; a transition takes at most 1.1 times as long as with `pm.Minibatch`."
    ),
    fixed="2026-11-27",
    seeds=(1,),
)
N_COLUMNS, N_GROUPS = 10, 50
SECONDS, MEMORY, RATIO = 1.5, 1.2, 1.1
N_DRAWS, N_STEPS, N_TURNS = 400, 200, 8
BATCH_SIZE = 500


def data(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Simulate columns, groups and outcomes."""
    rng = np.random.default_rng(1)
    X, g = rng.standard_normal((n, N_COLUMNS)), rng.integers(0, N_GROUPS, n)
    return X, g, X.sum(axis=1) + 0.3 * (g % 3) + rng.standard_normal(n)


def density(X: Any, g: Any, y: Any, **options: Any) -> pm.Model:
    """Write what both models have in common."""
    scale = pm.HalfNormal("scale")
    a = pm.Normal("a", 0.0, scale, shape=N_GROUPS)
    b = pm.Normal("b", 0.0, 1.0, shape=N_COLUMNS)
    return pm.Normal("y", a[g] + X @ b, pm.HalfNormal("sigma"), observed=y, **options)


def whole(X: np.ndarray, g: np.ndarray, y: np.ndarray) -> pm.Model:
    """Write the model for all rows."""
    coords = {"row": range(len(y)), "column": range(N_COLUMNS)}
    with pm.Model(coords=coords) as model:
        of_rows = pm.Data("X", X, dims=("row", "column")), pm.Data("g", g, dims="row")
        density(*of_rows, pm.Data("outcome", y, dims="row"), dims="row")
    return model


def written(X: np.ndarray, g: np.ndarray, y: np.ndarray) -> pm.Model:
    """Write the model with ``pm.Minibatch``."""
    with pm.Model() as model:
        density(*pm.Minibatch(X, g, y, batch_size=BATCH_SIZE), total_size=len(y))
    return model


def peak() -> float:
    """Return the largest memory of this process so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def conversion(n: int) -> dict[str, float]:
    """Measure a conversion; what is imported by the first one is left out."""
    pmg.minibatch(whole(*data(5_000)), batch_size=BATCH_SIZE)
    arrays = data(n)
    model, before, began = whole(*arrays), peak(), time.process_time()
    pmg.minibatch(model, batch_size=BATCH_SIZE)
    seconds, more = time.process_time() - began, peak() - before
    own = sum(x.nbytes for x in arrays) / 1e6
    return {"seconds": seconds, "memory": (own + more) / own}


def ratio(n: int, *, quick: bool) -> tuple[float, float]:
    """Return microseconds of a transition written with ``pm.Minibatch``, and of a converted one."""
    arrays = data(n)
    models = written(*arrays), pmg.minibatch(whole(*arrays), batch_size=BATCH_SIZE)
    steps = [
        pmg.SGNHT(step_size=1e-4, diffusion=1.0, n_steps=N_STEPS, model=model) for model in models
    ]
    seconds: tuple[list[float], list[float]] = [], []
    for _ in range(2 if quick else N_TURNS):
        for model, step, found in zip(models, steps, seconds, strict=True):
            clock = SamplingClock()
            options = {"tune": 1, "chains": 1, "random_seed": 1, "callback": clock}
            sample(model, lambda step=step: step, draws=N_DRAWS, **options)
            found.append(1e6 * clock.seconds / N_DRAWS / N_STEPS)
    first, second = (float(np.median(found)) for found in seconds)
    return first, second


def main() -> None:
    """Measure and report."""
    reader = parser(__doc__.splitlines()[0])
    reader.add_argument("--task", action="store_true", help="one conversion, in a new process")
    options = reader.parse_args()
    n = 20_000 if options.quick else 1_000_000
    if options.task:
        print(json.dumps(conversion(n)))
        return
    with tempfile.TemporaryDirectory() as cache:
        found = in_a_process("--task", *(["--quick"] if options.quick else []), cache=cache)
    own, converted = ratio(n, quick=options.quick)
    checks = [
        Check(
            f"conversion and proof, {n:,} rows",
            f"{found['seconds']:.2f} CPU s",
            f"<= {SECONDS:g}",
            found["seconds"] <= SECONDS,
        ),
        Check(
            "memory with the data, of that of the data",
            f"{found['memory']:.2f}",
            f"<= {MEMORY:g}",
            found["memory"] <= MEMORY,
        ),
        Check(
            "a transition, converted over written with `pm.Minibatch`",
            f"{converted / own:.3f} ({converted:.0f} and {own:.0f} us)",
            f"<= {RATIO:g}",
            converted / own <= RATIO,
        ),
    ]
    report("conversion", checks, about=BENCHMARK, quick=options.quick)


if __name__ == "__main__":
    main()

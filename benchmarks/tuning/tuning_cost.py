#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What comes before the first draw, beside ADVI and ``find_MAP``: its cost, and how good it is.

For some of the ordinary models: seconds of the processor with everything counted but the model's
own making; passes over the data, which are rows whose gradient was evaluated over all rows; the
worst bias of what ``models.py`` compares, in true deviations; and the ratios of deviations to the
true ones. ADVI has PyMC's defaults but for its number of iterations, and the model's minibatches.
The truth is that of ``models.py``, which must have been run before.

    python -m benchmarks.tuning.tuning_cost [--quick] [NAME ...]
"""

from __future__ import annotations

import logging
import time

from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pymc as pm

from benchmarks.correctness.models import TRUTHS, Truth, read, restored, truth_key
from benchmarks.correctness.ordinary_models import MODELS, Ordinary
from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import report
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.potential import Potential
from pymc_geodesic.tuning.anchor import around
from pymc_geodesic.tuning.approximation import approximate
from pymc_geodesic.tuning.self_tuner import SelfTuner

BENCHMARK = Benchmark(
    question=(
        "What does the tuning phase cost before the first draw, compared with ADVI and `find_MAP`?"
    ),
    asked="",
    fixed="2026-11-22",
    seeds=(1, 2, 3),
)

NAMES = ["quantile", "crossed_small", "radon_85", "mixture_regression"]
N_ITERATIONS, N_DRAWS, QUICK = 20_000, 1_000, 200


class Counted(HostGradient):
    """Count the rows whose gradient is evaluated."""

    def __init__(self, potential: Potential) -> None:
        super().__init__(potential)
        self.n_seen = 0

    def many(self, points, rows):
        """Evaluate, and count."""
        self.n_seen += sum(max((len(row) for row in some), default=0) for some in rows)
        return super().many(points, rows)


class Way(NamedTuple):
    """How the posterior was described, at what cost, and draws of what is compared."""

    name: str
    seconds: float
    passes: float
    draws: np.ndarray


class Compared:
    """Map PyMC's values of the sampled variables to what is compared."""

    def __init__(self, case: Ordinary, model: pm.Model) -> None:
        outputs = model.replace_rvs_by_values([model[name] for name in case.compared])
        self._of_values = model.compile_fn(
            outputs, inputs=model.value_vars, on_unused_input="ignore", mode="FAST_COMPILE"
        )
        self._names = [value.name for value in model.value_vars]

    def __call__(self, point: dict[str, Any]) -> np.ndarray:
        """Return one vector."""
        values = {name: np.asarray(point[name]) for name in self._names}
        return np.concatenate([np.ravel(x) for x in self._of_values(values)])


def by_approximation(model: pm.Model, compared: Compared, *, seed: int) -> Way:
    """Fit the Gaussian approximation that takes the place of a mode."""
    start_point = model.initial_point()
    began = time.process_time()
    gradient = Counted(Potential(model, model.value_vars, initial_point=start_point))
    names = [value.name for value in model.value_vars]
    start = gradient.to_points(*(np.asarray(start_point[name]) for name in names))
    rng = np.random.default_rng(seed)
    found = approximate(gradient, [np.asarray(x) for x in start], rng=rng)
    seconds = time.process_time() - began
    if found is None:
        return Way("Gaussian approximation: not found", seconds, np.nan, np.zeros((0, 0)))
    draws = []
    for _ in range(N_DRAWS):
        noise = [rng.standard_normal(np.shape(x)).astype(x.dtype) for x in found.center]
        values = gradient.to_values(*around(gradient, found.center, found.mass, noise))
        draws.append(compared(dict(zip(names, values, strict=True))))
    passes = gradient.n_seen / gradient.n_rows[0]
    return Way("Gaussian approximation", seconds, passes, np.array(draws))


def by_tuner(model: pm.Model, *, seed: int) -> Way:
    """Do all that a self-tuned step does before its first draw."""
    start_point = model.initial_point()
    began = time.process_time()
    gradient = Counted(Potential(model, model.value_vars, initial_point=start_point))
    start = gradient.to_points(*(np.asarray(start_point[v.name]) for v in model.value_vars))
    form = "low_rank" if gradient.manifold.dim > 100 else "dense"
    tuner = SelfTuner(gradient, form=form, reduction="auto", by_entry=form == "low_rank")
    tuner.begin([np.asarray(x) for x in start], np.random.default_rng(seed))
    seconds = time.process_time() - began
    passes = gradient.n_seen / gradient.n_rows[0]
    return Way("all before the first draw", seconds, passes, np.zeros((0, 0)))


def by_advi(model: pm.Model, compared: Compared, *, share: float, seed: int, quick: bool) -> Way:
    """Fit a Gaussian distribution by stochastic gradients of the evidence bound."""
    n, began = QUICK if quick else N_ITERATIONS, time.process_time()
    with model:
        fit = pm.fit(n, method="advi", random_seed=seed, progressbar=False)
    seconds = time.process_time() - began
    trace = fit.sample(N_DRAWS, random_seed=seed, return_inferencedata=False)
    draws = [compared(point) for point in trace.points()]
    return Way(f"ADVI, {n:,} iterations", seconds, n * share, np.array(draws))


def by_map(case: Ordinary, compared: Compared) -> Way:
    """Search the mode on all rows."""
    model, began = case.model(False), time.process_time()
    best, result = pm.find_MAP(
        model=model, progressbar=False, return_raw=True, include_transformed=True
    )
    seconds = time.process_time() - began
    calls = float(result.nfev) if result is not None else np.nan
    return Way("find_MAP", seconds, calls, compared(best)[None])


def ways(case: Ordinary, *, seed: int, quick: bool) -> list[Way]:
    """Describe a posterior in all ways."""
    model = case.model(True)
    [source] = Potential(model, model.value_vars, initial_point=model.initial_point()).sources
    compared, share = Compared(case, model), source.batch_size / source.n_rows
    return [
        by_tuner(model, seed=seed),
        by_approximation(model, compared, seed=seed),
        by_advi(model, compared, share=share, seed=seed, quick=quick),
        by_map(case, compared),
    ]


def line(what: str, seed: int, way: Way, truth: Truth) -> list[Any]:
    """Write a row of the table; a point has no width."""
    cost = [what, way.name, str(seed), f"{way.seconds:.1f}", f"{way.passes:.1f}"]
    if not len(way.draws):
        return [*cost, "", ""]
    bias = np.max(np.abs(way.draws.mean(axis=0) - truth.mean) / truth.sd)
    if len(way.draws) == 1:
        return [*cost, f"{bias:.2f}", ""]
    ratios = way.draws.std(axis=0) / truth.sd
    return [*cost, f"{bias:.2f}", f"{ratios.min():.2f} to {ratios.max():.2f}"]


def main() -> None:
    reader = parser(__doc__.splitlines()[0])
    reader.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(MODELS)}")
    options = reader.parse_args()
    logging.getLogger("pymc").setLevel(logging.ERROR)
    names, known = options.names or NAMES, read(TRUTHS)
    keys = {name: truth_key(name) for name in names}
    truths = {name: restored(Truth, known[key]) for name, key in keys.items() if key in known}
    if missing := set(names) - set(truths):
        reader.error(
            f"expected models whose truth is known; got {', '.join(sorted(missing))}. Run "
            f"`python -m benchmarks.correctness.models {' '.join(sorted(missing))}` first"
        )
    rows = []
    seeds = BENCHMARK.seeds[:1] if options.quick else BENCHMARK.seeds
    for name, seed in product(names, seeds):
        for way in ways(MODELS[name], seed=seed, quick=options.quick):
            rows.append(line(MODELS[name].what, seed, way, truths[name]))
            print(*rows[-1], sep=" | ", flush=True)
    header = ["model", "what", "seed", "CPU s", "passes", "bias", "sd ratios"]
    table("Before the first draw", header, rows)
    report("tuning_cost", [], about=BENCHMARK, quick=options.quick, header=header, rows=rows)


if __name__ == "__main__":
    main()

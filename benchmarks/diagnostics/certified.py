#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Are wrong draws certified, and right ones accused?

Rates of counts in six groups with conjugate priors, whose posterior has independent exact draws:
four chains of 250. Faults are planted in the draws that are returned, or before they are corrected.
Right draws of another posterior, of effects whose products with their scale are known, are far from
normal. Then whole runs, with steps and noise that are wrong.

    python -m benchmarks.diagnostics.certified [--quick]
"""

from __future__ import annotations

import logging
import sys
import warnings

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import arviz as az
import numpy as np
import pymc as pm
import xarray as xr

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.potential import Potential
from pymc_geodesic.runs.at_draws import PointMaps
from pymc_geodesic.runs.certificate import certified
from pymc_geodesic.runs.deterministics import Traced
from pymc_geodesic.runs.gradients_at_draws import GradientsAt
from pymc_geodesic.runs.refined import refined

BENCHMARK = Benchmark(
    question="Are wrong draws certified, and right ones accused?",
    asked=(
        "Of 100 runs with a planted fault at least 95 are not certified, or are corrected to .1 "
        "deviations and 5 per cent; of 100 right runs at most 5 are accused."
    ),
    fixed="2026-11-27",
    seeds=tuple(range(1, 101)),
)

COUNTS = (12, 20, 30, 50, 80, 150)
MEANS = (3.0, 2.0, 4.0, 1.0, 5.0, 2.5)
SHAPE, RATE = 2.0, 0.5
CHAINS, DRAWS = 4, 250
MEAN, SD = 0.1, 0.05
RIGHT = "none", "none, effects and their scale", "self-tuned"
# Of effects and their scale.
BENT, NOISE, EFFECTS = 0.4, 0.2, np.linspace(-2.0, 2.0, 8)
HEADER = ["fault", "where", "certified", "not certified", "do not use", "certified and wrong"]
GROUP = np.repeat(np.arange(len(COUNTS)), COUNTS)
# PyMC takes no minibatch of other integers as observed.
DATA = np.random.default_rng(0).poisson(np.array(MEANS)[GROUP]).astype("int32")


class Posterior(NamedTuple):
    """Shapes and rates of independent gamma distributions, and moments of their logarithms."""

    shape: np.ndarray
    rate: np.ndarray
    mean: np.ndarray
    sd: np.ndarray


def model_of(batch: int | None = None) -> pm.Model:
    """Counts of groups, all of them or in batches."""
    with pm.Model() as model:
        rate = pm.Gamma("rate", SHAPE, RATE, shape=len(COUNTS))
        group, y = pm.Minibatch(GROUP, DATA, batch_size=batch) if batch else (GROUP, DATA)
        pm.Poisson("y", rate[group], observed=y, total_size=len(DATA) if batch else None)
    return model


def posterior_of(kept: Any = slice(None)) -> Posterior:
    """Return the posterior given some of the rows, the likelihood of which is scaled up."""
    factor = len(DATA) / len(DATA[kept])
    total = np.bincount(GROUP[kept], DATA[kept], len(COUNTS)) * factor
    shape = SHAPE + total
    rate = RATE + np.bincount(GROUP[kept], minlength=len(COUNTS)) * factor
    logs = np.log(np.random.default_rng(1).gamma(shape, 1 / rate, (10**6, len(COUNTS))))
    return Posterior(shape, rate, logs.mean(axis=0), logs.std(axis=0))


def drawn(posterior: Posterior, rng: np.random.Generator) -> np.ndarray:
    """Draw logarithms of rates."""
    size = (CHAINS, DRAWS, len(COUNTS))
    return np.log(rng.gamma(posterior.shape, 1 / posterior.rate, size))


def scaled(factors: Any) -> Callable[[np.ndarray, np.ndarray, int], np.ndarray]:
    """Make a fault of deviations: of those of an entry, or of all."""

    def plant(logs: np.ndarray, sd: np.ndarray, number: int) -> np.ndarray:
        factor = np.ones(logs.shape[-1])
        factor[number % len(factor) if np.isscalar(factors) else slice(None)] = factors
        mean = logs.mean(axis=(0, 1))
        return mean + (logs - mean) * factor

    return plant


def moved(logs: np.ndarray, sd: np.ndarray, number: int) -> np.ndarray:
    """Move the mean of an entry."""
    change = np.zeros(logs.shape[-1])
    change[number % len(change)] = MEAN
    return logs + change * sd


def none(logs: np.ndarray, sd: np.ndarray, number: int) -> np.ndarray:
    """Plant nothing."""
    return logs


def tree_of(logs: np.ndarray) -> xr.DataTree:
    """Return draws in the form of a run."""
    data = xr.Dataset({"rate": (["chain", "draw", "rate_dim_0"], np.exp(logs))})
    coords = {"chain": np.arange(CHAINS), "draw": np.arange(DRAWS)}
    return xr.DataTree.from_dict({"posterior": data.assign_coords(coords)})


def bent() -> pm.Model:
    """Effects whose products with a scale are known."""
    with pm.Model() as model:
        u = pm.Normal("u", 0.0, BENT)
        pm.Normal("z", EFFECTS * pm.math.exp(-u), NOISE * pm.math.exp(-u), shape=len(EFFECTS))
    return model


def drawn_where_bent(rng: np.random.Generator) -> xr.DataTree:
    """Draw a scale and effects."""
    u = BENT * rng.normal(size=(CHAINS, DRAWS))
    noise = NOISE * rng.normal(size=(*u.shape, len(EFFECTS)))
    z = np.exp(-u)[..., None] * (EFFECTS + noise)
    return az.from_dict({"posterior": {"u": u, "z": z}})


def logs_of(tree: xr.DataTree) -> np.ndarray:
    """Return logarithms of rates."""
    return np.log(tree["posterior"]["rate"].to_numpy())


def unchanged(tree: xr.DataTree) -> xr.DataTree:
    """Plant nothing."""
    return tree


def is_right(logs: np.ndarray, truth: Posterior) -> bool:
    """Tell whether moments are as close as what must be found."""
    means = np.abs(logs.mean(axis=(0, 1)) - truth.mean) / truth.sd
    sds = np.abs(logs.std(axis=(0, 1)) / truth.sd - 1)
    return bool(means.max() < MEAN and sds.max() < SD)


class Judge:
    """Corrects and certifies draws of a model."""

    def __init__(self, model: pm.Model) -> None:
        start = model.initial_point(random_seed=0)
        potential = Potential(model, model.continuous_value_vars, initial_point=start)
        self._maps = PointMaps(model, potential)
        self._traced = Traced(model, [x.name for x in model.free_RVs])
        self._at = GradientsAt(self._maps, HostGradient(potential), max_draws=400 // CHAINS)

    def __call__(
        self, tree: xr.DataTree, after: Callable[[xr.DataTree], xr.DataTree]
    ) -> tuple[str, xr.DataTree]:
        """Return the verdict on draws, corrected and then changed, and these draws."""
        found = refined(tree, self._at(self._maps.points(tree, max_draws=DRAWS)), self._traced)
        final = after(tree if found is None else found.idata)
        verdict = certified(
            final, self._at, seconds=0.5, is_wrong=found is not None and found.is_unclear
        ).verdict
        return verdict, final


def counted(name: str, where: str, found: Sequence[tuple[str, bool]]) -> list[Any]:
    """Count verdicts; ``found`` has them with whether the draws are right."""
    verdicts = [verdict for verdict, _ in found]
    sure = verdicts.count("certified")
    useless = verdicts.count("do not use")
    wrong = sum(verdict == "certified" and not right for verdict, right in found)
    row = [name, where, sure, len(found) - sure - useless, useless, wrong]
    print(*row, sep=" | ", file=sys.stderr, flush=True)
    return row


def planted(seeds: Sequence[int]) -> list[list[Any]]:
    """Judge draws with faults that are planted after or before their correction."""
    judge, truth, rows = Judge(model_of()), posterior_of(), []
    # Every fifth row, which a batch never holds.
    lost = posterior_of(np.arange(len(DATA)) % 5 != 0)
    every = np.ones(len(COUNTS))
    after = [
        ("none", none),
        ("a deviation 5 per cent off", scaled(1 + SD)),
        ("a mean .1 off", moved),
    ]
    before = [
        ("a deviation 5 per cent off", scaled(1 + SD), truth),
        ("a mean .1 off", moved, truth),
        ("all deviations 30 per cent off", scaled(1.3 * every), truth),
        ("all deviations 30 per cent too small", scaled(0.7 * every), truth),
        ("a fifth of the rows is lost", none, lost),
    ]
    for name, plant in after:
        found = []
        for seed in seeds:

            def change(tree: xr.DataTree, plant: Any = plant, seed: int = seed) -> xr.DataTree:
                return tree_of(plant(logs_of(tree), truth.sd, seed))

            verdict, final = judge(tree_of(drawn(truth, np.random.default_rng(seed))), change)
            found.append((verdict, is_right(logs_of(final), truth) and plant is none))
        rows.append(counted(name, "returned", found))
    for name, plant, posterior in before:
        found = []
        for seed in seeds:
            start = plant(drawn(posterior, np.random.default_rng(seed)), truth.sd, seed)
            verdict, final = judge(tree_of(start), unchanged)
            found.append((verdict, is_right(logs_of(final), truth)))
        rows.append(counted(name, "before correction", found))
    judge = Judge(bent())
    found = [judge(drawn_where_bent(np.random.default_rng(seed)), unchanged)[0] for seed in seeds]
    rows.append(counted(RIGHT[1], "returned", [(verdict, True) for verdict in found]))
    return rows


def whole_runs(seeds: Sequence[int]) -> list[list[Any]]:
    """Judge runs of wrong steps."""
    batch, truth, full, rows = model_of(20), posterior_of(), model_of(), []
    steps: dict[str, Callable[[], Any]] = {
        "self-tuned": lambda: pmg.SGNHT(),
        "a step twice too large": lambda: pmg.SGNHT(step_size=1.0, n_steps=4),
        "Euler at its limit": lambda: pmg.SGHMC(
            step_size=0.03, friction=5.0, n_steps=4, integrator="euler"
        ),
        "noise that is not stated": lambda: pmg.SGGMC(step_size=0.01, friction=1.0, n_steps=10),
    }
    for name, step in steps.items():
        found = []
        for seed in seeds:
            with batch:
                idata = pmg.sample(step=step(), random_seed=seed, progressbar=False, refine=False)
            result = pmg.refine(idata, full)["posterior"]
            right = is_right(np.log(result["rate"].to_numpy()), truth)
            found.append((result.attrs["verdict"], right))
        rows.append(counted(name, "a whole run", found))
    return rows


def main() -> None:
    logging.getLogger("pymc").setLevel(logging.ERROR)
    warnings.simplefilter("ignore", UserWarning)
    quick = arguments(__doc__.splitlines()[0]).quick
    seeds = BENCHMARK.seeds[:10] if quick else BENCHMARK.seeds
    rows = planted(seeds) + whole_runs(seeds[: 1 if quick else 3])
    checks = []
    for name, where, *verdicts, wrong in rows:
        n, useless = sum(verdicts), verdicts[-1]
        found, what = f"{wrong} of {n}", f"{name}, {where}: certified and wrong"
        checks.append(Check(what, found, "at most 5 per cent", 20 * wrong <= n))
        if name in RIGHT:
            text = f"{useless} of {n}"
            what = f"{name}, {where}: accused"
            checks.append(Check(what, text, "at most 5 per cent", 20 * useless <= n))
    table("Verdicts", HEADER, rows)
    report("certified", checks, about=BENCHMARK, quick=quick, header=HEADER, rows=rows)


if __name__ == "__main__":
    main()

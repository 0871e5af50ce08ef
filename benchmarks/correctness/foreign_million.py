#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Published models with a million rows: right, and in how long, beside NUTS of fewer rows?

Twelve of the models of ``foreign_models``, unedited. A run has a process of its own and nothing but
a seed. The truth is that of importance sampling with all rows: PyMC's log density at 2,000 points
of a normal distribution that is a tenth wider than the draws in the coordinates of PyMC, and Pareto
smoothed weights. It is taken where k-hat is below .5 and the weights are worth 400 draws, so that
it does not depend on the draws. Nutpie samples 20,000 rows, with its default adaptation and with
that of low rank, 500 draws after 500 of tuning by each of four chains; a run of ours with as many
rows is compared with the better of the two. Needs Bambi, PyMC-Marketing and nutpie.

    python -m benchmarks.correctness.foreign_million [--quick] [NAME ...]
"""

from __future__ import annotations

import importlib
import json
import sys
import tempfile
import time
import warnings

from functools import partial
from typing import Any

import numpy as np
import pymc as pm
import xarray as xr

import pymc_geodesic as pmg

from benchmarks.correctness.foreign_factors import election_draws
from benchmarks.correctness.foreign_registry import MODELS
from benchmarks.correctness.models import kept
from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.processes import in_a_process
from benchmarks.harness.records import PARTS, Check, report
from benchmarks.harness.statistics import effective_samples
from pymc_geodesic.rows.builders import model_inside

BENCHMARK = Benchmark(
    question="Are published models of a million rows right, unedited, and how long do they take?",
    asked=(
        "Means within .15 sd, sds within 15 per cent of importance sampling with all rows, in "
        "every run; the same beside NUTS of 20,000 rows; the median model at most 30 CPU s."
    ),
    fixed="2026-11-27",
    seeds=(1, 2, 3),
)

# The deviation of a factor of four levels has no variance but for the bound of its prior, and so
# neither have its effects.
WITHOUT_VARIANCE = ("election",)
# Of a model that takes minutes.
FEWER_SEEDS = {"election": (1, 2)}
FILES = {
    "glm": ("robust", "negative_binomial", "censored_regression"),
    "groups": ("radon_varying_intercept",),
    "survival": ("weibull_aft",),
    "posteriordb": ("nes_logit", "election"),
    "posteriordb_2": ("two_normals", "two_normals_apart"),
    "bambi": ("bambi beta_regression", "bambi zero_inflated_regression"),
    "marketing": ("bg_nbd", "gamma_gamma"),
}
NAMES = tuple(name for names in FILES.values() for name in names)
N_MANY, N_FEW, N_QUICK = 1_000_000, 20_000, 5_000
ADAPTATIONS = ("diag", "low_rank")
BIAS, RATIOS, MEDIAN_SECONDS = 0.15, (0.85, 1.15), 30.0
QUANTILES = (1 / 6, 1 / 2, 5 / 6)
N_POINTS, WIDER, LARGEST_K, FEWEST = 2_000, 1.1, 0.5, 400.0
RUNS = PARTS / "foreign_million.json"

Result = dict[str, Any]


def moments(posterior: xr.Dataset, names: list[str]) -> Result:
    """Return means and standard deviations of each variable, and what the draws are worth."""
    draws = {name: posterior[name].to_numpy() for name in names}
    flat = np.concatenate([x.reshape(*x.shape[:2], -1) for x in draws.values()], axis=-1)
    return {
        "mean": flat.mean(axis=(0, 1)).tolist(),
        "sd": flat.std(axis=(0, 1)).tolist(),
        "quantiles": np.quantile(flat, QUANTILES, axis=(0, 1)).tolist(),
        "ess": float(effective_samples(flat)),
    }


def by_quantiles(found: Result) -> Result:
    """Return medians, and half of the width of the middle two thirds, as means and deviations."""
    low, middle, high = np.asarray(found["quantiles"])
    return found | {"mean": middle, "sd": (high - low) / 2}


def ours(given: Any, seed: int) -> tuple[Result, xr.Dataset]:
    """Sample with nothing but a seed."""
    began = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        idata = pmg.sample(model=given, random_seed=seed, progressbar=False)
    seconds = time.process_time() - began
    posterior = idata["posterior"].to_dataset()
    names = [rv.name for rv in model_inside(given).free_RVs]
    found = moments(posterior, names) | {"seconds": seconds}
    found["verdict"] = posterior.attrs.get("verdict", "")
    found["said"] = [str(w.message) for w in caught]
    return found, posterior[names]


def by_weights(model: pm.Model, posterior: xr.Dataset) -> Result:
    """Return the moments of importance sampling around given draws."""
    from arviz_stats.base import array_stats

    values = [model.rvs_to_values[rv] for rv in model.free_RVs]
    transforms = [model.rvs_to_transforms[rv] for rv in model.free_RVs]
    rvs = [rv.type() for rv in model.free_RVs]
    forward = [
        x if t is None else t.forward(x, *rv.owner.inputs)
        for x, t, rv in zip(rvs, transforms, model.free_RVs, strict=True)
    ]
    backward = [
        x if t is None else t.backward(x, *rv.owner.inputs)
        for x, t, rv in zip(values, transforms, model.free_RVs, strict=True)
    ]
    to_values = pm.compile(rvs, forward, on_unused_input="ignore")
    at = pm.compile(values, [model.logp(), *backward], on_unused_input="ignore")
    kept = posterior.stack(sample=("chain", "draw"))
    columns = [kept[rv.name].transpose("sample", ...).to_numpy() for rv in model.free_RVs]
    draws = [
        to_values(*(np.asarray(x[i], rv.type.dtype) for x, rv in zip(columns, rvs, strict=True)))
        for i in range(len(columns[0]))
    ]
    shapes = [np.shape(x) for x in draws[0]]
    flat = np.array([np.concatenate([np.ravel(x) for x in draw]) for draw in draws])
    rng, factor = np.random.default_rng(0), np.linalg.cholesky(np.cov(flat.T, ddof=0))
    noise = rng.standard_normal((N_POINTS, flat.shape[1]))
    points = flat.mean(axis=0) + WIDER * noise @ factor.T
    ends = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)])
    log_weights, entries = np.empty(N_POINTS), []
    for i, point in enumerate(points):
        parts = [point[a:b].reshape(s) for a, b, s in zip(ends[:-1], ends[1:], shapes, strict=True)]
        log_density, *at_point = at(*parts)
        log_weights[i] = log_density + 0.5 * noise[i] @ noise[i]
        entries.append(np.concatenate([np.ravel(x) for x in at_point]))
    smoothed, k_hat = array_stats.psislw(-log_weights)
    weights = np.exp(smoothed - smoothed.max())
    weights /= weights.sum()
    mean = weights @ np.array(entries)
    sd = np.sqrt(weights @ (np.array(entries) - mean) ** 2)
    worth = float(1.0 / np.sum(weights**2))
    return {"mean": mean.tolist(), "sd": sd.tolist(), "k_hat": float(k_hat), "ess": worth}


def of_factors(model: pm.Model) -> Result:
    """Return quantiles of a model of factors, whose effects are integrated out."""
    draws, k_hat = election_draws(model)
    flat = [draws[rv.name].reshape(len(draws[rv.name]), -1) for rv in model.free_RVs]
    found = np.quantile(np.concatenate(flat, axis=1), QUANTILES, axis=0)
    return {"quantiles": found.tolist(), "k_hat": k_hat, "ess": float(len(flat[0]))}


def by_nuts(given: Any, adaptation: str) -> Result:
    """Sample all rows by nutpie."""
    import nutpie

    model = model_inside(given)
    names = [rv.name for rv in model.free_RVs]
    began = time.process_time()
    compiled = nutpie.compile_pymc_model(model, backend="jax", var_names=names)
    options = {"draws": 500, "tune": 500, "chains": 4, "cores": 1, "seed": 1}
    idata = nutpie.sample(compiled, adaptation=adaptation, progress_bar=False, **options)
    seconds = time.process_time() - began
    return moments(idata["posterior"].to_dataset(), names) | {"seconds": seconds}


def task(name: str, sampler: str, n: int, seed: int) -> Result:
    """Do one run, in a process of its own."""
    for file, names in FILES.items():
        if name in names:
            importlib.import_module(f"benchmarks.correctness.foreign_{file}")
    given = MODELS[name].make(n)
    if sampler != "pmg":
        return by_nuts(given, sampler)
    # A Bambi model has two intercepts, of centred columns and of columns as they are.
    found, posterior = ours(model_inside(given), seed)
    if name in WITHOUT_VARIANCE:
        found["truth"] = of_factors(given)
    elif seed == BENCHMARK.seeds[0]:
        found["truth"] = by_weights(model_inside(given), posterior)
    return found


def measured(*arguments: str) -> Result:
    """Return what a process has found."""
    with tempfile.TemporaryDirectory() as cache:
        return in_a_process("--task", *arguments, cache=cache)


def beside(found: Result, truth: Result) -> tuple[float, float, float]:
    """Return the largest error of a mean, and the smallest and largest ratio of deviations."""
    sd = np.asarray(truth["sd"])
    ratios = np.asarray(found["sd"]) / sd
    bias = np.abs(np.subtract(found["mean"], truth["mean"])) / sd
    return float(bias.max()), float(ratios.min()), float(ratios.max())


def is_right(errors: tuple[float, float, float]) -> bool:
    """Whether means and deviations are as near as asked."""
    return errors[0] <= BIAS and errors[1] >= RATIOS[0] and errors[2] <= RATIOS[1]


def line(name: str, run: Any, n_many: int, n_few: int) -> tuple[list[Any], list[bool], bool]:
    """Return a row of the table, what is right of a model, and whether weights give its truth."""
    many = [
        run(name, "pmg", str(n_many), str(seed)) for seed in FEWER_SEEDS.get(name, BENCHMARK.seeds)
    ]
    few = run(name, "pmg", str(n_few), "2")
    of_nuts = [run(name, adaptation, str(n_few), "1") for adaptation in ADAPTATIONS]
    truth, truth_of_few = many[0]["truth"], max(of_nuts, key=lambda one: one["ess"])
    if name in WITHOUT_VARIANCE:
        many, truth = [by_quantiles(one) for one in many], by_quantiles(truth)
        few, truth_of_few = by_quantiles(few), by_quantiles(few["truth"])
    is_sure = truth["k_hat"] < LARGEST_K and truth["ess"] >= FEWEST
    errors = [beside(one, truth) for one in many]
    at_few = beside(few, truth_of_few)
    shown = max(errors), min(e[1] for e in errors), max(e[2] for e in errors)
    seconds = float(np.median([one["seconds"] for one in many]))
    return (
        [
            name,
            seconds,
            f"{truth['k_hat']:.2f}, {truth['ess']:,.0f}",
            f"{shown[0][0]:.3f}, {shown[1]:.3f} to {shown[2]:.3f}",
            f"{at_few[0]:.3f}, {at_few[1]:.3f} to {at_few[2]:.3f}",
            f"{few['ess']:,.0f} in {few['seconds']:.0f}",
            *(f"{one['ess']:,.0f} in {one['seconds']:.0f}" for one in of_nuts),
            many[0]["verdict"],
        ],
        [*(is_right(e) for e in errors if is_sure), is_right(at_few)],
        is_sure,
    )


def main() -> None:
    """Measure what is named, or all, and report."""
    reader = parser(__doc__.splitlines()[0])
    reader.add_argument("--task", nargs=4, help="name, sampler, number of rows, seed")
    reader.add_argument("names", nargs="*", metavar="NAME")
    options = reader.parse_args()
    if options.task:
        name, sampler, n, seed = options.task
        print(json.dumps(task(name, sampler, int(n), int(seed))))
        return
    quick = options.quick
    n_many, n_few = (N_QUICK, N_QUICK) if quick else (N_MANY, N_FEW)

    def run(*arguments: str) -> Result:
        found = kept(RUNS, " ".join(arguments), partial(measured, *arguments), quick=quick)
        print(*arguments, f"{found['seconds']:.1f}", flush=True, file=sys.stderr)
        return found

    found = [
        line(name, run, n_many, n_few) for name in options.names or NAMES[:: 6 if quick else 1]
    ]
    seconds = float(np.median([row[1] for row, _, _ in found]))
    right = [one for _, each, _ in found for one in each]
    n_sure = sum(sure for *_, sure in found)
    checks = [
        Check(
            "models whose truth weights give",
            f"{n_sure} of {len(found)}",
            "all",
            n_sure == len(found),
        ),
        Check("runs that are right", f"{sum(right)} of {len(right)}", "all", all(right)),
        Check(
            f"CPU s, {n_many:,} rows, median model",
            f"{seconds:.1f}",
            f"<= {MEDIAN_SECONDS:g}",
            seconds <= MEDIAN_SECONDS,
        ),
    ]
    header = [
        "model",
        "CPU s",
        "k-hat, worth of weights",
        "bias in sd, sds",
        "beside NUTS, 20,000 rows",
    ]
    header += ["effective in CPU s, 20,000 rows", *(f"nutpie, {x}" for x in ADAPTATIONS), "verdict"]
    rows = [row for row, *_ in found]
    table("Published models with a million rows", header, rows)
    report("foreign_million", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)


if __name__ == "__main__":
    main()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Posteriors on curved ridges, where gradient noise changes from place to place, beside NUTS.

Effects of eight groups are written as multiples of their scale, with 50 rows each and batches of
an eighth of the rows: the model ``not_centered`` of ``calibration_models.py``, with parameters and
data from its prior. Default arguments balance the noise by the halves of each batch; beside them
stands the friction for every entry that they used before, on the same data and with the same seeds.
"""

from __future__ import annotations

import logging
import time
import warnings

from contextlib import nullcontext
from typing import Any
from unittest.mock import patch

import numpy as np
import nutpie

from arviz import rhat

import pymc_geodesic as pmg

from benchmarks.correctness.calibration import from_prior
from benchmarks.correctness.calibration_models import CASES
from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import flat
from benchmarks.harness.statistics import effective_samples

BENCHMARK = Benchmark(
    question="Are group effects that are multiples of their scale as wide as NUTS finds them?",
    asked=(
        "Of ten data sets from the prior, in each of three seeds and with default arguments: every "
        "mean within 0.15 sd of that of NUTS and every sd within 15 per cent, or R-hat above 1.01; "
        "the average sd within 2 per cent."
    ),
    fixed="2026-11-23",
    seeds=(1, 2, 3),
)

MODEL, DATA_SEED, N_DATA = "not_centered", 11, 10
LARGEST_BIAS, LARGEST_CHANGE, LARGEST_AVERAGE = 0.15, 0.15, 0.02
HIGH = 1.01
JUDGED = "pymc_geodesic.sampling.self_tuning.judged"
BALANCED, BY_ENTRY = "halves of batches (default)", "friction for every entry"


def truth(model: Any, names: list[str], *, quick: bool) -> np.ndarray:
    """Draws of NUTS with all rows, ``(chain, draw, parameter)``."""
    compiled = nutpie.compile_pymc_model(pmg.full_data(model))
    found = nutpie.sample(
        compiled,
        draws=200 if quick else 10_000,
        tune=300 if quick else 1_500,
        chains=4,
        target_accept=0.95,
        seed=1,
        progress_bar=False,
    )
    return flat({name: found.posterior[name].values for name in names}, names)


def run(model: Any, names: list[str], exact: np.ndarray, seed: int, *, quick: bool) -> dict:
    """Sample with defaults; return biases, ratios of standard deviations, R-hat and speed."""
    options: dict[str, int] = {"draws": 50, "tune": 100} if quick else {}
    start = time.process_time()
    idata = pmg.sample(model=model, random_seed=seed, progressbar=False, **options)
    seconds = time.process_time() - start
    draws = flat({name: idata.posterior[name].values for name in names}, names)
    sd = exact.std(axis=(0, 1))
    r_hat = max(float(rhat(entry)) for entry in np.moveaxis(draws, -1, 0))
    return {
        "bias": ((draws.mean(axis=(0, 1)) - exact.mean(axis=(0, 1))) / sd).tolist(),
        "ratio": (draws.std(axis=(0, 1)) / sd).tolist(),
        "r_hat": r_hat,
        "effective": effective_samples(draws),
        "seconds": seconds,
    }


def is_right(found: dict) -> bool:
    """Whether means and standard deviations are those of NUTS."""
    return bool(
        np.max(np.abs(found["bias"])) <= LARGEST_BIAS
        and np.max(np.abs(np.array(found["ratio"]) - 1)) <= LARGEST_CHANGE
    )


def line(way: str, found: list[dict]) -> list[Any]:
    """Write the runs of one way as a row of the table."""
    ratios = np.array([one["ratio"] for one in found])
    silent = [one for one in found if not is_right(one) and one["r_hat"] <= HIGH]
    return [
        way,
        len(found),
        sum(map(is_right, found)),
        len(silent),
        f"{np.max([np.abs(one['bias']) for one in found]):.2f}",
        f"{ratios.min():.2f} to {ratios.max():.2f}",
        f"{ratios.mean():.3f}",
        f"{np.median([one['effective'] / one['seconds'] for one in found]):.0f}",
        f"{np.median([one['seconds'] for one in found]):.1f}",
    ]


def main() -> None:
    quick = arguments(__doc__.splitlines()[0]).quick
    logging.disable(logging.ERROR)
    warnings.simplefilter("ignore")
    n_data, seeds = (1, (1,)) if quick else (N_DATA, BENCHMARK.seeds)
    found: dict[str, list[dict]] = {way: [] for way in (BALANCED, BY_ENTRY)}
    for place in from_prior(MODEL, max(n_data, 2), seed=DATA_SEED)[:n_data]:
        model = CASES[MODEL].posterior(place["y"])
        names = [variable.name for variable in model.free_RVs]
        exact = truth(model, names, quick=quick)
        # Without a judgement the friction balances the noise, however uneven it is.
        patches = {BALANCED: nullcontext(), BY_ENTRY: patch(JUDGED, lambda found, *_, **__: found)}
        for way, patched in patches.items():
            with patched:
                found[way] += [run(model, names, exact, seed, quick=quick) for seed in seeds]
            print(line(way, found[way]), flush=True)
    header = ["friction", "runs", "right", "wrong with R-hat up to 1.01", "largest bias (sd)"]
    header += ["sd over that of NUTS", "average", "effective per CPU s", "CPU s"]
    rows = [line(*pair) for pair in found.items()]
    table("Group effects as multiples of their scale", header, rows)
    default = next(iter(found.values()))
    silent = sum(not is_right(one) and one["r_hat"] <= HIGH for one in default)
    average = float(np.mean([one["ratio"] for one in default]))
    checks = [
        Check(
            "runs that are wrong while R-hat is at most 1.01",
            f"{silent} of {len(default)}",
            "0",
            silent == 0,
        ),
        Check(
            "average sd over that of NUTS",
            f"{average:.3f}",
            f"{1 - LARGEST_AVERAGE} to {1 + LARGEST_AVERAGE}",
            abs(average - 1) <= LARGEST_AVERAGE,
        ),
    ]
    report("ridges", checks, about=BENCHMARK, quick=quick, header=header, rows=rows, raw=found)


if __name__ == "__main__":
    main()

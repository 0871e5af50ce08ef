#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Posteriors after the correction by gradients of all rows, against references.

Posteriors of posteriordb (data as in ``posteriordb.py``), by default arguments, and the same draws
made wrong on purpose: means off by .2 deviations along every axis, deviations 10 per cent too
large, in unconstrained coordinates.

    python -m benchmarks.correctness.refined [--quick] [--seeds 1 2 3] [NAME ...]
"""

from __future__ import annotations

import json
import sys
import time

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pymc as pm
import xarray as xr

import pymc_geodesic as pmg

from benchmarks.correctness.posteriordb_models import POSTERIORS
from benchmarks.harness.console import parser, table
from benchmarks.harness.data import data_file
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report

BENCHMARK = Benchmark(
    question="Are corrected draws right to .03 deviations, and do wrong draws come back?",
    asked=(
        "Means within .03 deviations beyond two standard errors of the reference and deviations "
        "within 3 per cent, in 95 per cent of numbers, in every seed; the same for draws that are "
        "made wrong by .2 deviations and 10 per cent. No run with another number is certified."
    ),
    fixed="2026-11-27",
    seeds=(1, 2, 3),
)

# Of 10,000 almost independent reference draws: two standard errors of a mean.
BIAS, REFERENCE, RATIO, SHARE = 0.03, 0.02, 0.03, 0.95
SHIFT, WIDER = 0.2, 1.1
HEADER = ["posterior", "seed", "draws", "worst bias", "ratios of sd", "numbers right", "CPU s"]
HEADER += ["verdict"]


class Truth(NamedTuple):
    """Means and deviations, and names of the variables in their order."""

    names: list[str]
    mean: np.ndarray
    sd: np.ndarray


def posteriordb(name: str) -> tuple[pm.Model, Truth]:
    """Read a posterior and its reference."""
    folder = data_file("posteriordb")
    data = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))["data"]
    found, posterior = np.load(folder / f"{name}.npz"), POSTERIORS[name]
    return posterior.model(data, True), Truth(posterior.parameters, found["_mean"], found["_sd"])


def moments(draws: Mapping[Any, Any], truth: Truth) -> tuple[np.ndarray, np.ndarray]:
    """Return biases in deviations, and ratios of deviations."""
    arrays = [draws[name].to_numpy() for name in truth.names]
    x = np.concatenate([a.reshape(a.shape[0] * a.shape[1], -1) for a in arrays], axis=1)
    return (x.mean(axis=0) - truth.mean) / truth.sd, x.std(axis=0) / truth.sd


def planted(draws: xr.Dataset) -> xr.DataTree:
    """Make draws wrong, by as much along every principal axis."""
    z = {name: np.log(x) if name == "sigma" else x for name, x in draws.data_vars.items()}
    flat = [x.to_numpy().reshape(x.shape[0] * x.shape[1], -1) for x in z.values()]
    joined = np.concatenate(flat, axis=1)
    mean, root = joined.mean(axis=0), np.linalg.cholesky(np.cov(joined, rowvar=False))
    moved = mean + WIDER * (joined - mean) + SHIFT * root.sum(axis=1)
    parts = np.split(moved, np.cumsum([x.shape[1] for x in flat])[:-1], axis=1)
    wrong = {
        name: x.copy(data=(np.exp(part) if name == "sigma" else part).reshape(x.shape))
        for (name, x), part in zip(z.items(), parts, strict=True)
    }
    return xr.DataTree.from_dict({"posterior": draws.assign(wrong)})


def are_right(bias: np.ndarray, ratios: np.ndarray) -> np.ndarray:
    """Return which means and deviations are as asked."""
    return np.concatenate([np.abs(bias) <= BIAS + REFERENCE, np.abs(ratios - 1) <= RATIO])


def row(name: str, seed: int, what: str, draws: xr.Dataset, truth: Truth, s: float) -> list:
    """Write the figures of draws."""
    bias, ratios = moments(draws, truth)
    right = are_right(bias, ratios)
    low_high = f"{ratios.min():.3f} to {ratios.max():.3f}"
    text = f"{right.sum()} of {len(right)}"
    line = [name, seed, what, f"{np.abs(bias).max():.3f}", low_high, text, f"{s:.1f}"]
    line += [draws.attrs.get("verdict", "")]
    print(*line, sep=" | ", file=sys.stderr, flush=True)
    return line


def main() -> None:
    options = parser(__doc__.splitlines()[0])
    options.add_argument("names", nargs="*")
    options.add_argument("--seeds", nargs="*", type=int, default=BENCHMARK.seeds)
    given = options.parse_args()
    seeds = given.seeds[:1] if given.quick else given.seeds
    names = given.names or [*POSTERIORS]
    rows: list[list] = []
    right: dict[str, list[np.ndarray]] = {}
    certified: list[bool] = []
    for seed in seeds:
        for name in names:
            model, truth = posteriordb(name)
            begun = time.process_time()
            idata = pmg.sample(model=model, random_seed=seed, progressbar=False)
            seconds = time.process_time() - begun
            raw = idata["raw_posterior" if "raw_posterior" in idata else "posterior"].to_dataset()
            rows.append(row(name, seed, "as drawn", raw, truth, seconds))
            found = {f"corrected, seed {seed}": idata["posterior"].to_dataset()}
            rows.append(row(name, seed, "corrected", *found.values(), truth, seconds))
            if seed == seeds[0]:
                begun = time.process_time()
                back = pmg.refine(planted(raw), model)["posterior"].to_dataset()
                rows.append(row(name, seed, "made wrong", back, truth, time.process_time() - begun))
                found["made wrong"] = back
            for what, draws in found.items():
                right.setdefault(what, []).append(are_right(*moments(draws, truth)))
                if draws.attrs.get("verdict") == "certified":
                    certified.append(bool(right[what][-1].all()))
    n_wrong, asked = certified.count(False), "certified with a number that is not right"
    text = f"{n_wrong} of {len(certified)} certified runs"
    checks = [Check(asked, text, "0", n_wrong == 0)]
    for what, found in right.items():
        share = float(np.concatenate(found).mean())
        checks.append(Check(f"{what}: right", f"{share:.1%}", f"{SHARE:.0%}", share >= SHARE))
    table("Corrected draws", HEADER, rows)
    is_short = given.quick or bool(given.names)
    report("refined", checks, about=BENCHMARK, quick=is_short, header=HEADER, rows=rows)


if __name__ == "__main__":
    main()

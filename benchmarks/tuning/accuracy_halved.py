#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Is the bias of steps that tune themselves what `accuracy=` promises, by coupled step halving?

Models of ``self_tuned_suite.py``, with the default accuracy. No truth is needed: the bias is that
which coupled chains at half of the step size reveal, of all means and standard deviations, in
posterior standard deviations.
"""

from __future__ import annotations

import logging
import time

import numpy as np

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.tuning.self_tuned_suite import CASES

BENCHMARK = Benchmark(
    question="Is the bias of steps that tune themselves at most what `accuracy=` asks for?",
    asked=(
        "Of every model and seed: no 90 per cent interval of a bias lies beyond 0.05 sd by more "
        "than one half width, and the median bias is below 0.05."
    ),
    fixed="2026-11-22",
    seeds=(1, 2, 3),
)

KEYS = ("mean", "linear", "location_scale", "poisson", "directional")
DRAWS, TUNE, PAIRS, ACCURACY = 500, 600, 2, 0.05


def halved(key: str, seed: int, *, quick: bool) -> dict[str, float]:
    """Biases of all statistics of a model, in posterior standard deviations."""
    case = CASES[key]()
    start = time.process_time()
    result = pmg.step_halving(
        case.model(True),
        lambda: case.step(),
        var_names=case.names,
        draws=100 if quick else DRAWS,
        tune=100 if quick else TUNE,
        chains=PAIRS,
        random_seed=seed,
    )
    found = result.table.reset_index(names=["entry", "statistic"])
    sd = found[found["statistic"] == "sd"].set_index("entry")["extrapolated"]
    scale = found["entry"].map(sd).to_numpy()
    bias = np.abs(found["bias"].to_numpy()) / scale
    half = (found["bias_high"] - found["bias_low"]).to_numpy() / (2 * scale)
    worst = int(np.argmax(bias - half))
    return {
        "median": float(np.median(bias)),
        "bias": float(bias[worst]),
        "half": float(half[worst]),
        "beyond": float(np.max(bias - 2 * half)),
        "gain": float(found["gain"].median()),
        "failed": float(len(result.failed)),
        "seconds": time.process_time() - start,
    }


def main() -> None:
    logging.getLogger("pymc").setLevel(logging.ERROR)
    quick = arguments(__doc__.splitlines()[0]).quick
    seeds, keys = ((1,), KEYS[:1]) if quick else (BENCHMARK.seeds, KEYS)
    rows, checks, raw = [], [], {}
    for key in keys:
        found = [halved(key, seed, quick=quick) for seed in seeds]
        raw[key] = found
        medians = [one["median"] for one in found]
        worst = max(found, key=lambda one: one["beyond"])
        passed = worst["beyond"] <= ACCURACY and max(medians) <= ACCURACY
        text = f"{worst['bias']:.3f} +- {worst['half']:.3f}, median {max(medians):.3f}"
        checks.append(Check(f"{key}: largest bias, sd", text, f"<= {ACCURACY}", passed))
        rows.append([key, max(medians), worst["bias"], worst["half"]])
        rows[-1] += [float(np.median([one[k] for one in found])) for k in ("gain", "seconds")]
        print(rows[-1], flush=True)
    header = ["model", "median bias (sd)", "most significant", "half width", "gain", "CPU s"]
    table("Bias of self-tuned steps by coupled step halving", header, rows)
    report(
        "accuracy_halved", checks, about=BENCHMARK, quick=quick, header=header, rows=rows, raw=raw
    )


if __name__ == "__main__":
    main()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A logistic regression of 100,000 and of a million rows: ours beside eleven others, in one run.

Twenty coefficients. Everything counts from the import of a package to its draws; the making of the
data does not. The effective size is the smallest over means and squares of all coefficients, and
errors are those of the worst coefficient and seed, against Laplace's approximation corrected by
importance weights. Three seeds for ours, one for the others; a run is ended after 120 s of the
processor. Approximations have no effective size.

    python -m benchmarks.peers.peers_regression [--quick] [--only NAME ...] [--resume]
"""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.harness.declared import Benchmark
from benchmarks.peers import runs
from benchmarks.peers.regression_methods import METHODS
from benchmarks.speed.answer import laplace, logistic

BENCHMARK = Benchmark(
    question="A logistic regression of 1e5 and 1e6 rows, by eleven methods of six packages.",
    asked=(
        "Ours in every seed: bias at most .15 sd, sds within 15 per cent. In the median more "
        "effective draws per CPU second than any other whose figures are as right."
    ),
    fixed="2026-11-27",
    seeds=(1, 2, 3),
)

SIZES = (100_000, 1_000_000)
# Numbers that the truth evaluates, rows times draws.
WORK = 400_000_000


def truth_of(n_rows: int) -> dict[str, list[float]]:
    """Return means and deviations: Laplace's, with what importance weights add."""
    x, y = logistic(n_rows)
    mode, _ = laplace(x, y)
    p = 1 / (1 + np.exp(-x @ mode))
    precision = (x * (p * (1 - p))[:, None]).T @ x + np.eye(len(mode))
    frame = np.linalg.inv(np.linalg.cholesky(precision)).T
    noise = np.random.default_rng(0).standard_normal((WORK // n_rows // 2, len(mode)))
    # Antithetic: the mean of the unweighted draws is the mode.
    noise = np.concatenate([noise, -noise])
    log_weight = []
    for z in noise:
        slope = mode + frame @ z
        eta = x @ slope
        log_weight.append(y @ eta - np.logaddexp(0, eta).sum() - slope @ slope / 2 + z @ z / 2)
    weight = np.exp(np.array(log_weight) - np.max(log_weight))
    weight = weight / weight.mean() - 1
    shift = noise @ frame.T
    mean = (weight[:, None] * shift).mean(axis=0)
    square = np.diag(frame @ frame.T) + (weight[:, None] * shift**2).mean(axis=0)
    return {"mean": (mode + mean).tolist(), "sd": np.sqrt(square - mean**2).tolist()}


def main() -> None:
    given = runs.options(__doc__, METHODS)
    if given.measure:
        n_rows, name = int(given.measure[0]), given.measure[1]
        x, y = logistic(n_rows)
        runs.say(runs.answer_to(partial(METHODS[name], x, y)))
        return
    from benchmarks.correctness.models import kept
    from benchmarks.harness.records import TRUTHS, report

    name, cases = "peers_regression", {}
    for n_rows in (2_000,) if given.quick else SIZES:
        job, file = partial(truth_of, n_rows), TRUTHS / f"{name}.json"
        truth = kept(file, f"{n_rows}", job, quick=given.quick)
        cases[f"{n_rows:,} rows"] = (str(n_rows), truth)
    found = runs.compared(name, BENCHMARK, given, methods=list(METHODS), cases=cases)
    report(name, about=BENCHMARK, quick=given.quick, **found)


if __name__ == "__main__":
    main()

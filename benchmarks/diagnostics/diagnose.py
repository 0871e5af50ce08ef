#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How often `diagnose` names the fault of a bad run, and how often it is silent on a good one.

``--only`` runs some of the parts: the runs of `diagnose_settings` ("settings"), those of
`diagnose_wrong_answers` ("one_chain", "wrong"), and positions at temperatures a little above one
("temperatures"), of which the smallest that is found in 19 of 20 runs is reported.
"""

from __future__ import annotations

import contextlib
import io
import logging
import time
import warnings

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pymc as pm

import pymc_geodesic as pmg

from benchmarks.diagnostics.diagnose_settings import CASES, Case
from benchmarks.diagnostics.diagnose_wrong_answers import ONE_CHAIN, TEMPERATURES, WRONG
from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report

BENCHMARK = Benchmark(
    question=(
        "How often does `diagnose` name the fault of a bad run, and how often is it silent on a "
        "good one?"
    ),
    asked="In 19 of 20 runs.",
    fixed="2026-11-21",
    seeds=tuple(range(1, 21)),
    measures=("diagnostics", "algorithms", "tuning"),
)

SEEDS, QUICK_SEEDS = 20, 2
ASKED = 0.95
PARTS = {"one_chain": ONE_CHAIN, "wrong": WRONG, "temperatures": TEMPERATURES, "settings": CASES}
HEADER = ["run", "asked", "times", "of", "also found", "kinetic", "positions", "seconds"]


class Outcome(NamedTuple):
    """What `diagnose` said of the runs of one case.

    ``kinetic`` and ``positions`` are the mean temperatures that the runs recorded, NaN without;
    ``seconds`` is the longest that `diagnose` took.
    """

    name: str
    asked: str
    right: int
    of: int
    others: Mapping[str, int]
    kinetic: float
    positions: float
    seconds: float

    @property
    def passed(self) -> bool:
        return self.right >= ASKED * self.of


def quiet_diagnose(*args, **options) -> pmg.diagnostics.Diagnosis:
    with contextlib.redirect_stdout(io.StringIO()):
        return pmg.diagnose(*args, **options)


def recorded(idata, name: str) -> float:
    """Mean of a statistic over the draws that know it."""
    stats = idata["sample_stats"].data_vars
    values = stats[name].values if name in stats else np.array([])
    values = values[np.isfinite(values)]
    return float(values.mean()) if values.size else np.nan


def run(case: Case, seeds: int) -> Outcome:
    """Compile the step once and run it with each seed."""
    with case.patch():
        return _run(case, seeds)


def _run(case: Case, seeds: int) -> Outcome:
    model = case.model()
    with model:
        step = case.step()
    expected = set(case.expected.split(" or ")) if case.expected else set()
    right, others, example, seconds, means = 0, Counter(), "", [], []
    for seed in range(1, seeds + 1):
        options = {"draws": 500, "tune": 500, "chains": 4} | case.options
        idata = pm.sample(
            model=model,
            step=step,
            random_seed=seed,
            cores=1,
            progressbar=False,
            compute_convergence_checks=False,
            **options,
        )
        begin = time.perf_counter()
        found = quiet_diagnose(idata, model=model if case.with_model else None)
        seconds.append(time.perf_counter() - begin)
        named = [finding for finding in found.findings if finding.name in expected]
        right += bool(named) if expected else found.ok
        others.update(name for name in found.names if case.expected != name)
        means.append(
            [recorded(idata, f"{kind}_temperature") for kind in ("kinetic", "configurational")]
        )
        example = example or str((named or found.findings or [""])[0])
    asked = case.expected or "silent"
    kinetic, positions = np.mean(means, axis=0).tolist()
    others = dict(others)
    outcome = Outcome(case.name, asked, right, seeds, others, kinetic, positions, max(seconds))
    print(f"{outcome}\n  {example}", flush=True)
    return outcome


def checks(part: str, outcomes: list[Outcome]) -> list[Check]:
    """Every run of a part but the temperatures, of which some are too small to be seen."""
    if part == "temperatures":
        seen = [outcome.name for outcome in outcomes if outcome.passed]
        return [Check("smallest found", seen[0] if seen else "none", "one is", bool(seen))]
    return [
        Check(o.name, f"{o.asked}: {o.right} of {o.of}", f">= {ASKED * o.of:.0f}", o.passed)
        for o in outcomes
    ]


def main() -> None:
    logging.getLogger("pymc").setLevel(logging.ERROR)
    warnings.simplefilter("ignore", UserWarning)
    reader = parser(__doc__)
    reader.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    reader.add_argument("--match", default="", help="only runs whose names have this in them")
    reader.add_argument("--seeds", type=int, default=SEEDS)
    options = reader.parse_args()
    seeds = QUICK_SEEDS if options.quick else options.seeds
    for part in options.only:
        cases: list[Case] = [case for case in PARTS[part] if options.match in case.name]
        outcomes = [run(case, seeds) for case in cases]
        rows: list[list[Any]] = [list(outcome) for outcome in outcomes]
        table(f"diagnose: {part}", HEADER, rows)
        name = f"diagnose_{part}"
        quick = options.quick or len(cases) < len(PARTS[part])
        report(name, checks(part, outcomes), about=BENCHMARK, quick=quick, rows=rows)


if __name__ == "__main__":
    main()

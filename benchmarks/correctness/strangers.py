#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What strangers met: is each right with default arguments, or does the run say that it is not?

Every case has a process of its own. A posterior is right if all means and deviations are; the
tolerance is that of the case. A run "says" what it logs as a warning or an error, what it raises,
and what `pmg.diagnose` finds in it. A right run that says something is counted as a false alarm.

    python -m benchmarks.correctness.strangers [--quick] [--seeds 1 2 3] [NAME ...]
"""

from __future__ import annotations

import json
import logging
import re
import sys
import tempfile
import time
import warnings

from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.processes import in_a_process
from benchmarks.harness.records import Check, report

BENCHMARK = Benchmark(
    question="Is what strangers met right with default arguments, or does the run say otherwise?",
    asked=(
        "None quietly wrong in any seed; every input right or refused by its sentence; at most a "
        "tenth of the right runs with an alarm; 30 minutes of the processor for everything."
    ),
    fixed="2026-11-26",
    seeds=(1, 2, 3),
    changed=(
        "2026-11-26: after the first seed had been seen, runs of posteriors with two modes, which "
        "must say so, count as said and no longer as right runs with an alarm."
    ),
)

MOST_MINUTES, MOST_FALSE_ALARMS = 30.0, 0.1
# Of one run: nobody waits longer.
LONGEST = 300
# What a run says that is about its cost and not about its draws.
ABOUT_COST = re.compile(r"NUTS|took .* seconds|Compiling")


class Found(NamedTuple):
    """What a run came to."""

    is_right: bool
    figures: str
    said: list[str]
    seconds: float


def of_posterior(name: str, seed: int) -> Found:
    """Sample a posterior and compare it with its moments."""
    import pymc_geodesic as pmg

    from benchmarks.correctness.strangers_posteriors import POSTERIORS

    case = POSTERIORS[name]()
    begun, said = time.process_time(), listen()
    try:
        idata = case.sample(model=case.model, random_seed=seed)
    except Exception as error:
        said.append(f"{type(error).__name__}: {error}")
        return Found(False, "no draws", said, time.process_time() - begun)
    seconds = time.process_time() - begun
    said += [str(finding) for finding in pmg.diagnose(idata, model=case.model).findings]
    draws = {n: x.values for n, x in idata.posterior.data_vars.items()}
    entries = case.entries(draws).reshape(-1, len(case.moments.mean))
    bias = np.abs((entries.mean(axis=0) - case.moments.mean) / case.moments.sd).max()
    ratios = entries.std(axis=0) / case.moments.sd
    low, high = ratios.min(), ratios.max()
    is_right = bias <= case.bias and case.ratios[0] <= low and high <= case.ratios[1]
    is_right = is_right and not case.must_speak
    return Found(bool(is_right), f"{bias:.2f}; {low:.2f} to {high:.2f}", said, seconds)


def of_input(name: str, seed: int) -> Found:
    """Do what a stranger does, and compare what happens with what should."""
    from benchmarks.correctness.strangers_inputs import INPUTS

    case = INPUTS[name]
    begun, said, is_right, figures = time.process_time(), listen(), False, ""
    try:
        works = case.run()
        is_right, figures = bool(works) and not case.refused, "worked"
        if case.refused and any(re.search(case.refused, line) for line in said):
            is_right, figures = True, "worked, and said so"
    except (ValueError, TypeError, KeyError, UserWarning) as error:
        figures = f"refused: {error}"
        is_right = bool(case.refused) and bool(re.search(case.refused, str(error)))
    except Exception as error:
        figures = f"{type(error).__name__}: {error}"
    return Found(is_right, figures[:200], said, time.process_time() - begun)


def listen() -> list[str]:
    """Collect warnings and errors of the log from now on."""
    said: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.levelno >= logging.WARNING and not ABOUT_COST.match(record.getMessage()):
                said.append(record.getMessage())

    log = logging.getLogger("pymc")
    log.handlers, log.propagate = [Listener()], False
    return said


def one(name: str, seed: int) -> None:
    """Run one case in this process and print what was found."""
    from benchmarks.correctness.strangers_inputs import INPUTS

    warnings.simplefilter("ignore")
    found = (of_input if name in INPUTS else of_posterior)(name, seed)
    print(json.dumps(found))


def verdict(found: Found, *, is_input: bool) -> str:
    """A word for a run."""
    if is_input:
        return "right" if found.is_right else "WRONG"
    if found.is_right:
        return "right, with an alarm" if found.said else "right"
    return "said" if found.said else "QUIETLY WRONG"


def main() -> None:
    options = parser(__doc__.splitlines()[0])
    options.add_argument("names", nargs="*")
    options.add_argument("--seeds", nargs="*", type=int, default=BENCHMARK.seeds)
    options.add_argument("--one", nargs=2)
    given = options.parse_args()
    if given.one:
        return one(given.one[0], int(given.one[1]))
    from benchmarks.correctness.strangers_inputs import INPUTS
    from benchmarks.correctness.strangers_posteriors import POSTERIORS

    seeds = given.seeds[:1] if given.quick else given.seeds
    names = given.names or [*POSTERIORS, *INPUTS]
    rows: list[list[Any]] = []
    with tempfile.TemporaryDirectory() as cache:
        for name in names:
            # What is done with an input does not depend on a seed.
            for seed in seeds[:1] if name in INPUTS else seeds:
                result = in_a_process("--one", name, str(seed), cache=cache, most_seconds=LONGEST)
                stopped = Found(False, "stopped", ["It was stopped."], LONGEST)
                found = stopped if result is None else Found(*result)
                word = verdict(found, is_input=name in INPUTS)
                first = found.said[-1][:160] if found.said else ""
                rows.append([name, seed, word, found.figures, first, round(found.seconds)])
                print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    counts = {word: sum(row[2] == word for row in rows) for word in {row[2] for row in rows}}
    quiet, wrong = counts.get("QUIETLY WRONG", 0), counts.get("WRONG", 0)
    alarms = counts.get("right, with an alarm", 0)
    n_right = alarms + sum(row[2] == "right" and row[0] in POSTERIORS for row in rows)
    minutes = sum(row[-1] for row in rows) / 60
    share = alarms / max(n_right, 1)
    checks = [
        Check("quietly wrong", str(quiet), "0", quiet == 0),
        Check("inputs neither right nor refused", str(wrong), "0", wrong == 0),
        Check(
            "right runs with an alarm",
            f"{alarms} of {n_right}",
            "a tenth",
            share <= MOST_FALSE_ALARMS,
        ),
        Check("minutes of the processor", f"{minutes:.0f}", "30", minutes <= MOST_MINUTES),
    ]
    header = ["case", "seed", "verdict", "bias; ratios of sd, or what happened", "said", "CPU s"]
    table("What strangers met", header, rows)
    is_short = given.quick or bool(given.names)
    report("strangers", checks, about=BENCHMARK, quick=is_short, header=header, rows=rows)


if __name__ == "__main__":
    main()

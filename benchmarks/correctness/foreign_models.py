#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Published models, written for all of their data: do they run on minibatches as they are?

For each, the model of batches is made, which compares the log densities at two points; the average
over all batches of log density and gradient is compared with that of all rows; a step is made for
it; and log density and gradient are compiled as in a run, and compared with NumPy's. Where
variables are integrated out, the averages are those of the model that keeps them. Gaussian
processes of all rows have 1,500. It needs Bambi; models of PyMC-Marketing are left out where it is
not installed.

Results are kept as they come, and all of them are reported each time; delete the file to measure
anew.

    python -m benchmarks.correctness.foreign_models [--quick] [NAME ...]
"""

from __future__ import annotations

import importlib
import logging
import re
import time
import warnings

from functools import partial
from typing import Any, NamedTuple

import pymc_geodesic as pmg

from benchmarks.correctness.foreign_batches import error_of_compiled, largest_error
from benchmarks.correctness.foreign_registry import MODELS, Foreign
from benchmarks.correctness.models import kept, read
from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import PARTS, Check, report
from pymc_geodesic.rows.builders import model_inside, plain
from pymc_geodesic.runs.choose_step import step_for

BENCHMARK = Benchmark(
    question="Do published models run on minibatches of their rows, unedited?",
    asked=(
        "Of at least 100 models with 20,000 rows, at least 85 run and none is wrong without a word "
        "(to 1e-8 of the gradient); the others are refused by a sentence that names the term."
    ),
    fixed="2026-11-26",
    seeds=(1,),
)

FILES = (
    *("glm", "causal", "groups", "survival", "times", "posteriordb", "posteriordb_2"),
    *("bambi", "marketing", "unusual"),
)
N_ROWS, BATCH_SIZE, LARGEST_ERROR = 20_000, 500, 1e-8
ASKED_RUN, ASKED_MODELS = 85, 100
RUNS = PARTS / "foreign_models.json"
# Of a sentence, in the table.
LENGTH = 200


class Found(NamedTuple):
    """What came of a model."""

    verdict: str
    error: float | None
    said: str
    seconds: float


def tried(model: Foreign) -> Found:
    """Convert a model and compare the result with it."""
    given = model.make(N_ROWS)
    begun = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            batches = pmg.minibatch(given, batch_size=BATCH_SIZE)
            seconds = time.process_time() - begun
            step = step_for(None, model=batches)
        except (ValueError, TypeError) as error:
            said = str(error)
            is_named = bool(model.refused) and bool(re.search(model.refused, said))
            word = "refused" if is_named else "REFUSED"
            return Found(word, None, said[:LENGTH], time.process_time() - begun)
        model = plain(model_inside(given))
        if gone := sorted({x.name for x in model.free_RVs} - {x.name for x in batches.free_RVs}):
            batches = pmg.minibatch(given, batch_size=BATCH_SIZE, var_names=gone)
        try:
            compiled = error_of_compiled(step)
        except Exception as error:
            return Found("FAILS", None, str(error)[:LENGTH], time.process_time() - begun)
    error = max(compiled, largest_error(model, batches, batch_size=BATCH_SIZE))
    told = {str(w.message): None for w in caught if "expected fewer entries" in str(w.message)}
    listed = ", ".join(f"`{name}`" for name in gone)
    said = f"{listed} integrated out" if gone else "; ".join(told)
    word = "runs" if error <= LARGEST_ERROR else "WRONG"
    return Found(word, error, said[:LENGTH], seconds)


def line(name: str, found: Found) -> list[Any]:
    """Write a result as a row of the table."""
    error = "" if found.error is None else f"{float(found.error):.1e}"
    source = MODELS[name].source
    return [name, source, found.verdict, error, f"{found.seconds:.1f}", found.said]


def checked(found: dict[str, Found]) -> list[Check]:
    """Compare the results with what is asked of them."""
    words = [each.verdict for each in found.values()]
    n_run, n = words.count("runs"), len(words)
    share = ASKED_RUN / ASKED_MODELS
    enough = n >= ASKED_MODELS
    return [
        Check("models", str(n), f">= {ASKED_MODELS}", enough),
        Check("run unedited", f"{n_run} of {n}", "85 per cent", enough and n_run >= share * n),
        Check("wrong without a word", str(words.count("WRONG")), "0", "WRONG" not in words),
        Check(
            "refused by a sentence that names the term",
            f"{words.count('refused')} of {n - n_run}",
            "all others",
            "REFUSED" not in words,
        ),
    ]


def main() -> None:
    """Try what is named, or all models, and report all that was kept."""
    reader = parser(__doc__.splitlines()[0])
    reader.add_argument("names", nargs="*", metavar="NAME")
    options = reader.parse_args()
    logging.getLogger("pymc").setLevel(logging.ERROR)
    for file in FILES:
        importlib.import_module(f"benchmarks.correctness.foreign_{file}")
    quick, fresh = options.quick, {}
    for name in options.names or list(MODELS)[:: 10 if quick else 1]:
        try:
            result = kept(RUNS, name, partial(tried, MODELS[name]), quick=quick)
        except ModuleNotFoundError as missing:
            print(f"{name} is left out: {missing}")
            continue
        fresh[name] = Found(*result)
        print(*line(name, fresh[name]), sep=" | ", flush=True)
    known = fresh if quick else {name: Found(*values) for name, values in read(RUNS).items()}
    found = {name: known[name] for name in MODELS if name in known}
    header = ["model", "source", "verdict", "error of the gradient", "CPU s", "what was said"]
    lines = [line(name, each) for name, each in found.items()]
    table("Published models", header, lines)
    report(
        "foreign_models", checked(found), about=BENCHMARK, quick=quick, header=header, rows=lines
    )


if __name__ == "__main__":
    main()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What the scripts of this room share: runs in processes of their own, and the lines of a table.

A run is timed from its import to its draws; the making of the data is not counted. It is ended
after MOST_SECONDS of the processor, and what it would have found is not guessed.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness.declared import Benchmark
from benchmarks.harness.processes import in_a_process

__all__ = ["SEED", "Draws", "Run", "answer_to", "compared", "made_before", "options", "say"]

MOST_SECONDS = 120
# Who takes more than this share of them is not tried on the next case, of ten times the rows.
REACH = 1 / 3
# A process learns its seed from its environment, before it reads its command.
SEED = int(os.environ.get("BENCHMARK_SEED", "1"))
BIAS, RATIOS = 0.15, (0.85, 1.15)
HEADER = ["by", "seeds", "CPU s", "wall s", "effective", "per CPU s", "bias (sd)"]
HEADER += ["least sd", "largest sd"]

type Run = dict[str, Any]
type Truth = Mapping[str, Sequence[float]]


class Draws(NamedTuple):
    """Draws of the compared entries, ``(chain, draw, entry)``.

    Those of an approximation are as many as one likes: they have no effective size.
    """

    values: np.ndarray
    approximate: bool = False


def answer_to(
    draw: Callable[[], Draws], score: Callable[[np.ndarray], dict[str, float]] | None = None
) -> Run:
    """Make one run in this process, and score its draws; a package that fails is quoted."""
    cpu, wall = time.process_time(), time.perf_counter()
    try:
        found = draw()
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {str(error).splitlines()[0][:200]}"}
    times = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    from benchmarks.harness.statistics import effective_samples

    values = np.asarray(found.values, dtype=float)
    times |= {} if score is None else score(values)
    return times | {
        "effective": None if found.approximate else effective_samples(values),
        "mean": values.mean((0, 1)).tolist(),
        "sd": values.std((0, 1)).tolist(),
    }


def cold(arguments: Sequence[str], seed: int, truth: Truth) -> Run:
    """Make a run in a new process with empty folders, and compare it with the truth."""
    with tempfile.TemporaryDirectory() as cache:
        found = in_a_process(
            *["--measure", *arguments],
            cache=cache,
            most_seconds=MOST_SECONDS,
            BENCHMARK_SEED=str(seed),
        )
    found = found or {"ended": MOST_SECONDS}
    if "mean" in found:
        found["errors"] = errors(found.pop("mean"), found.pop("sd"), truth)
    print(*arguments, seed, found, flush=True)
    return found


def is_beyond(smaller: Run | None) -> bool:
    """Whether a smaller case took so long that the next one cannot end in time."""
    run = smaller or {"cpu": 0.0}
    return "ended" in run or run.get("cpu", 0.0) > REACH * MOST_SECONDS


def errors(mean: Sequence[float], sd: Sequence[float], truth: Truth) -> tuple[float, float, float]:
    """Return the largest bias in deviations, and the extreme ratios of deviations."""
    bias = np.abs(np.subtract(mean, truth["mean"])) / truth["sd"]
    ratios = np.divide(sd, truth["sd"])
    return float(bias.max()), float(ratios.min()), float(ratios.max())


def is_right(runs: Iterable[Run | None]) -> bool:
    """Whether all runs are there and within the limits."""
    found = [(run or {}).get("errors", (np.inf, 0.0, np.inf)) for run in runs]
    return all(b <= BIAS and RATIOS[0] <= low and high <= RATIOS[1] for b, low, high in found)


def is_complete(found: Mapping[str, Sequence[Run | None]]) -> bool:
    """Whether every method was run: one that was not might win."""
    return not any(None in runs for runs in found.values())


def pace(runs: Sequence[Run]) -> float:
    """Return the median of the effective draws per second; of approximations, none."""
    return float(np.median([(run["effective"] or 0.0) / run["cpu"] for run in runs]))


def line(name: str, runs: Sequence[Run | None]) -> list[str]:
    """Write the row of a method: medians of cost, worst errors."""
    made = [run for run in runs if run]
    if len(made) < len(runs):
        return [name, "not run", *[""] * 7]
    if made[-1].get("beyond"):
        return [name, "not tried", *[""] * 7]
    if "ended" in made[-1]:
        return [name, str(len(runs)), f"> {MOST_SECONDS}", *[""] * 6]
    if why := [run["failed"] for run in made if "failed" in run]:
        return [name, str(len(runs)), f"failed: {why[0]}", *[""] * 6]
    cpu, wall = (float(np.median([run[key] for run in made])) for key in ("cpu", "wall"))
    least = [run["effective"] for run in made]
    worst = np.array([run["errors"] for run in made])
    return [
        name,
        str(len(runs)),
        f"{cpu:.1f}",
        f"{wall:.0f}",
        "" if None in least else f"{min(least):,.0f}",
        "" if None in least else f"{pace(made):,.1f}",
        f"{worst[:, 0].max():.3f}",
        f"{worst[:, 1].min():.3f}",
        f"{worst[:, 2].max():.3f}",
    ]


def checks(
    label: str, found: Mapping[str, Sequence[Run | None]]
) -> list[tuple[str, str, str, bool | None]]:
    """Ask of ours that it is right, and faster than each peer that is right and gives draws."""
    ours, *_ = found
    if None in found[ours]:
        return [(f"{label}: ours", "", "", None)]
    told = line(ours, found[ours])
    right = is_right(found[ours])
    limits = f"<= {BIAS}, {RATIOS[0]} to {RATIOS[1]}"
    asked = [(f"{label}: ours, bias and sds", ", ".join(told[6:]), limits, right)]
    rivals = {
        name: pace(runs)
        for name, runs in found.items()
        if name != ours and is_right(runs) and runs[0]["effective"]
    }
    if rivals and right:
        best = max(rivals, key=rivals.__getitem__)
        asked.append(
            (
                f"{label}: effective draws per CPU s, beside the best peer that is right",
                f"{pace(found[ours]):,.1f}",
                f">= {rivals[best]:,.1f} ({best})",
                pace(found[ours]) >= rivals[best] if is_complete(found) else None,
            )
        )
    return asked


def worst(runs: Sequence[Run | None], scores: Iterable[str]) -> list[float]:
    """Return the largest of each score over the runs; NaN if one was not made."""
    made = [run or {} for run in runs]
    return [max((run.get(score, np.nan) for run in made), default=np.nan) for score in scores]


def of_scores(
    label: str, found: Mapping[str, Sequence[Run | None]], scores: Mapping[str, float]
) -> list[tuple[str, str, str, bool | None]]:
    """Ask that ours is hardly above the best of the others."""
    asked = []
    all_of = {method: worst(runs, scores) for method, runs in found.items()}
    ours, *others = all_of
    for i, (score, margin) in enumerate(scores.items()):
        best = min(others, key=lambda method: np.nan_to_num(all_of[method][i], nan=np.inf))
        mine, least = all_of[ours][i], all_of[best][i]
        does = mine <= least + margin if is_complete(found) else None
        limit = f"<= {least:.4f} ({best}) + {margin}"
        told = "" if np.isnan(mine) else f"{mine:.4f}"
        asked.append((f"{label}: {score}", told, limit, does))
    return asked


def options(doc: str, names: Iterable[str]) -> argparse.Namespace:
    """Read the command: what to run now, or the one run to be made in this process."""
    from benchmarks.harness.console import parser

    reader = parser(doc.split("\n")[0])
    reader.add_argument("--only", nargs="*", choices=list(names), default=list(names))
    reader.add_argument("--resume", action="store_true", help="run only what is not there yet")
    reader.add_argument("--measure", nargs="+", help=argparse.SUPPRESS)
    return reader.parse_args()


def made_before(name: str, *, quick: bool) -> tuple[dict[str, Run], Callable[[Any], None]]:
    """Return the runs that there are, and what keeps them: of a quick run, nothing."""
    from benchmarks.harness import records

    file = records.PARTS / f"{name}.json"
    if quick:
        return {}, lambda made: None
    # A clone has no parts, but the record.
    made = records.earlier(name).get("runs", {})
    made |= json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return made, lambda made: records.keep(file, made)


def compared(
    name: str,
    about: Benchmark,
    given: argparse.Namespace,
    *,
    methods: Sequence[str],
    cases: Mapping[str, tuple[str, Truth]],
    scores: Mapping[str, float] = MappingProxyType({}),
) -> dict[str, Any]:
    """Run all methods on all cases, the first of them with every seed; return what is reported.

    Parameters
    ----------
    name : str
        Of the record.
    about : Benchmark
        What the script declares.
    given : Namespace
        Options of the command.
    methods : sequence of str
        Their names, ours first.
    cases : mapping
        Of the label of each case: the argument of its runs, and its true means and deviations.
    scores : mapping
        Names of what else the runs have found, the lower the better, and how far ours may be above
        the best of the others in the worst seed.
    """
    from benchmarks.harness.console import table
    from benchmarks.harness.records import Check

    made, keep = made_before(name, quick=given.quick)
    rows, asked, smaller = [], [], ""
    for label, (argument, truth) in cases.items():
        found: dict[str, list[Run | None]] = {}
        for method in methods:
            seeds, runs = about.seeds[: None if not found and not given.quick else 1], []
            for seed in seeds:
                key = f"{label}, {method}, {seed}"
                if method in given.only and not (given.resume and key in made):
                    beyond = is_beyond(made.get(f"{smaller}, {method}, {seed}"))
                    tried = {"beyond": True} if beyond else cold([argument, method], seed, truth)
                    made[key] = tried
                    keep(made)
                runs.append(made.get(key))
                if "ended" in (runs[-1] or {}):
                    break
            found[method] = runs
            told = [
                "" if np.isnan(value) else f"{value:.4f}" for value in worst(found[method], scores)
            ]
            rows.append([label, *line(method, found[method]), *told])
        asked += [Check(*check) for check in checks(label, found)]
        asked += [Check(*check) for check in of_scores(label, found, scores)]
        smaller = label
    header = ["case", *HEADER, *scores]
    table(about.question, header, rows)
    return {"checks": asked, "header": header, "rows": rows, "runs": made}


def say(run: Any) -> None:
    """Print what the process of a run has found, as its last line."""
    print("\n" + json.dumps(run))

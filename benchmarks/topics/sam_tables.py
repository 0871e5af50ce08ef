#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Tables and orders of the curves of sam_20news.py, beside those of the authors' program."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness.records import Check

__all__ = [
    "COMPARED",
    "HEADER",
    "LOCAL_STATISTICS",
    "ORDERING_HEADER",
    "PROGRAM",
    "PROGRAM_HEADER",
    "VARIATIONAL",
    "VARIATIONAL_HEADER",
    "Runs",
    "methods_table",
    "orderings",
    "program_table",
    "variational_row",
]

# The authors' program at their settings, one thread: seconds, averaged draws, log perplexity. It
# makes 0.6 to 0.7 outer iterations a second, of ten transitions each.
PROGRAM = {
    "gSGNHT": {
        "seconds": [101, 302, 503, 702, 901, 1101, 1301, 1501, 1701],
        "draws": [32, 117, 177, 247, 345, 478, 615, 737, 856],
        "value": [4556, 4102, 3810, 3625, 3417, 3209, 3040, 2973, 2823],
    },
    "SGGMC": {
        "seconds": [103, 301, 502, 702, 902, 1102, 1300, 1500, 1701],
        "draws": [33, 120, 182, 252, 353, 485, 624, 750, 873],
        "value": [4987, 4739, 4651, 4604, 4514, 4450, 4434, 4384, 4371],
    },
}
# The figure compares all methods after as many averaged draws.
COMPARED = 100

VARIATIONAL = "variational"
# What the paper's figure shows, method by method: the first ends below the second.
ORDERINGS = [
    ("gSGNHT, batches", "SGGMC, batches"),
    ("gSGNHT, batches", "gSGNHT, all"),
    ("SGGMC, batches", "SGGMC, all"),
    ("SGGMC, all", "GMC, approximate test"),
    ("GMC, approximate test", "GMC within Gibbs"),
    ("GMC within Gibbs", VARIATIONAL),
    ("gSGNHT, batches", VARIATIONAL),
    ("gSGNHT, batches", "VI"),
    ("gSGNHT, batches", "StoVI"),
]
LOCAL_STATISTICS = ("local_acceptance", "local_spread", "local_step_size")

Runs = dict[str, list[dict[str, Any]]]


def value_at(run: dict[str, Any], column: int, at: float) -> float:
    """Log perplexity after some draws (column 0) or seconds (1, 2), of one point whatever it is."""
    curve = np.array(run["curve"])
    if "bound" in run:
        return float(curve[-1, 3])
    return float(np.interp(at, curve[:, column], curve[:, 3], right=np.nan))


def figures_of(run: dict[str, Any]) -> list[float]:
    """Figures of a run as the table of methods has them, NaN where there is none."""
    last, statistics = run["curve"][-1], run.get("statistics", {})
    found = [value_at(run, 0, n) for n in (10, COMPARED, 1000)]
    if "bound" in run:
        averaged = run.get("averaged", {})
        found = [averaged.get(n, averaged.get(str(n), np.nan)) for n in (10, COMPARED)] + [np.nan]
    names = ["kinetic_temperature", *LOCAL_STATISTICS[:2]]
    return [
        run.get("single", {"mean": last[4]})["mean"],
        *found,
        *(statistics.get(key, np.nan) for key in names),
        run.get("rate", {"cpu": np.nan})["cpu"],
        last[2],
    ]


HEADER = ["method", "seeds", "one draw", "of one seed", "10", "100", "1,000", "temperature"]
HEADER += ["acceptance", "spread", "draws per CPU s", "CPU s"]
FORMATS = [",.0f", ",.0f", ",.0f", ",.0f", ".3g", ".2f", ".2g", ".3g", ",.0f"]


def written(value: float, form: str) -> str:
    return "" if np.isnan(value) else format(value, form)


def methods_table(runs: Runs) -> list[list[str]]:
    """Medians of the seeds for each method."""
    rows = []
    for name, found in runs.items():
        figures = np.array([figures_of(run) for run in found])
        first, *rest = [
            written(value, form)
            for value, form in zip(np.median(figures, axis=0), FORMATS, strict=True)
        ]
        singles = figures[:, 0]
        ranged = f"{singles.min():,.0f} to {singles.max():,.0f}"
        rows.append([name, str(len(found)), first, ranged, *rest])
    return rows


PROGRAM_HEADER = ["method", "averaged draws", "program", "here", "of one seed", "program: s"]
PROGRAM_HEADER += ["here: CPU s"]


def program_table(runs: Runs) -> list[list[str]]:
    """Medians of the seeds after as many averaged draws as the authors' program."""
    rows = []
    for method, reference in PROGRAM.items():
        found = runs.get(f"{method}, batches", [])
        for seconds, n, value in zip(*reference.values(), strict=True):
            if not found or n > found[0]["curve"][-1][0]:
                continue
            here, cpu = [value_at(run, 0, n) for run in found], []
            for run in found:
                noted, _, times, *_ = np.array(run["curve"]).T
                cpu.append(np.interp(n, noted, times))
            row = [method, str(n), f"{value:,}", f"{np.median(here):,.0f}"]
            row += [f"{min(here):,.0f} to {max(here):,.0f}", f"{seconds:,}"]
            rows.append([*row, f"{np.median(cpu):.1f}"])
    return rows


ORDERING_HEADER = ["below", "", "after", "medians", "in how many seeds"]


def orderings(runs: Runs) -> tuple[list[Check], list[list[str]]]:
    """Whether the orders of the paper's figure hold, in every seed."""
    checks, rows = [], []
    for better, worse in ORDERINGS:
        if better not in runs or worse not in runs:
            continue
        for what, column, at in ((f"{COMPARED} draws", 0, COMPARED), ("10 s", 2, 10.0)):
            values = [[value_at(run, column, at) for run in runs[n]] for n in (better, worse)]
            holds = [bool(a < b) for a, b in zip(*values, strict=True)]
            medians = ", ".join(f"{np.median(found):,.0f}" for found in values)
            seeds = f"{sum(holds)} of {len(holds)}"
            rows.append([better, worse, what, medians, seeds])
            name = f"{better} below {worse}, {what}"
            passed = None if np.isnan(values).any() else all(holds)
            checks.append(Check(name, f"{medians}; {seeds} seeds", "in every seed", passed))
    return checks, rows


VARIATIONAL_HEADER = ["method", "steps", "log perplexity", "of one seed", "CPU s"]


def variational_row(points: list[list[float]]) -> list[str]:
    """Median and range of the seeds after some steps, and the processor's seconds."""
    _, _, cpu, values, _ = np.array(points).T
    ranged = f"{values.min():,.0f} to {values.max():,.0f}"
    return [f"{np.median(values):,.0f}", ranged, f"{np.median(cpu):.0f}"]

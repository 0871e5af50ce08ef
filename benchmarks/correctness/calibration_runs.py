#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The ranks of a calibration: what they say, and how they are kept from one run to the next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from scipy.stats import chisquare

from benchmarks.correctness.models import read
from benchmarks.harness.records import PARTS, RESULTS
from pymc_geodesic.calibration.simulations import N_RANKED

__all__ = ["INTERVALS", "RUNS", "Ranks", "as_kept", "kept", "of_other_code"]

# Ranks are 0 to 99, so that these intervals hold exactly half and nine tenths of them.
INTERVALS = {0.5: (25, 75), 0.9: (5, 95)}
# Of the histogram whose uniformity is tested.
N_BINS = 10
RUNS = PARTS / "calibration.json"


class Ranks(NamedTuple):
    """Ranks ``(simulation, parameter)``, whether each simulation warned, seconds, and the code."""

    names: list[str]
    ranks: list[list[int]]
    warned: list[bool]
    seconds: list[float]
    code: str = ""

    def errors(self) -> np.ndarray:
        """Return the error of each coverage in standard errors: ``(interval, parameter)``."""
        ranks = np.asarray(self.ranks)
        found = []
        for level, (low, high) in INTERVALS.items():
            covered = np.mean((ranks >= low) & (ranks < high), axis=0)
            found.append((covered - level) / np.sqrt(level * (1 - level) / len(ranks)))
        return np.array(found)

    def mean_coverage(self) -> tuple[float, float]:
        """Return the coverage of 90 per cent intervals, averaged over parameters, and its error."""
        low, high = INTERVALS[0.9]
        ranks = np.asarray(self.ranks)
        # Parameters of one simulation depend on each other, simulations do not.
        covered = np.mean((ranks >= low) & (ranks < high), axis=1)
        return float(covered.mean()), float(covered.std(ddof=1) / np.sqrt(len(covered)))

    def uniformity(self) -> float:
        """Return the smallest p value of a parameter's histogram, times their number."""
        bins = np.asarray(self.ranks) * N_BINS // (N_RANKED + 1)
        counts = [np.bincount(column, minlength=N_BINS) for column in bins.T]
        return float(min(1.0, len(counts) * min(chisquare(count).pvalue for count in counts)))

    def first(self, n: int) -> Ranks:
        """Return the first simulations."""
        return Ranks(self.names, *(values[:n] for values in self[1:4]), self.code)

    def followed_by(self, others: Iterable[Ranks]) -> Ranks:
        """Return these simulations and further ones of the same model."""
        lists = zip(*(found[1:4] for found in (self, *others)), strict=True)
        return Ranks(self.names, *(list(chain.from_iterable(values)) for values in lists))


def kept(code: str) -> dict[str, Ranks]:
    """Return what runs of this code have found."""
    return {name: found for source in _sources() for name, found in source if found.code == code}


def of_other_code(code: str) -> dict[str, Ranks]:
    """Return what the record has of other code, which a run may repeat in part."""
    return {name: found for name, found in _sources()[0] if found.code != code}


def _sources() -> list[list[tuple[str, Ranks]]]:
    record = read(RESULTS / "calibration.json")
    return [
        [
            (name, restored(**{"code": record.get("commit", ""), **run}))
            for name, run in runs.items()
        ]
        for runs in (record.get("figures", {}).get("runs", {}), read(RUNS).get("runs", {}))
    ]


def as_kept(runs: Mapping[str, Ranks]) -> dict[str, Any]:
    """Write runs with their code, on which it depends whether another run may go on with them.

    A simulation is one line of the record.
    """
    every = {
        name: {
            "code": found.code,
            "names": found.names,
            "simulations": [
                " ".join(map(str, [*ranks, int(warned), f"{seconds:.2f}"]))
                for ranks, warned, seconds in zip(*found[1:4], strict=True)
            ],
        }
        for name, found in runs.items()
    }
    return {"runs": every}


def restored(names: list[str], simulations: list[str], code: str) -> Ranks:
    """Read what :func:`as_kept` has written of a model."""
    rows = [simulation.split() for simulation in simulations]
    ranks = [[int(rank) for rank in row[:-2]] for row in rows]
    warned, seconds = [row[-2] == "1" for row in rows], [float(row[-1]) for row in rows]
    return Ranks(names, ranks, warned, seconds, code)

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Simulation-based calibration (Talts and others 2018, arXiv 1804.06788) of default arguments.

Parameters are drawn from the prior and data from the model; minibatches of these data are sampled
with nothing but defaults, 100 draws of each of 4 chains after 300. The rank of each true parameter
among 99 draws is then uniform on 0 to 99 if sampling is right, and central intervals cover as often
as they say. The package simuk does the same, but changes the data of one model, which steps of
minibatches refuse: here every model is written again, and a process reuses what it has compiled.

Ranks are kept in the results after each simulation, and a run of the same code goes on where the
last one stopped, or where the record ends.

    python -m benchmarks.correctness.calibration [--quick] [--simulations 300] [NAME ...]
"""

from __future__ import annotations

import logging
import time
import warnings

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pymc as pm

from scipy.stats import chisquare

import pymc_geodesic as pmg

from benchmarks.correctness.calibration_models import CASES
from benchmarks.correctness.models import Said, read
from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark, fingerprint
from benchmarks.harness.records import PARTS, RESULTS, Check, keep, report
from benchmarks.harness.sampling import flat

SIMULATIONS = 300
BENCHMARK = Benchmark(
    question="Are posteriors of small models calibrated with default arguments and minibatches?",
    asked=(
        "Coverage of central intervals of 50 and 90 per cent within 3 standard errors for every "
        "parameter of 14 of 15 models, 300 simulations each."
    ),
    fixed="2026-11-22",
    seeds=(1,),
    measures=("tuning", "algorithms", "potential", "sampling", "mass"),
)

ASKED_CALIBRATED, ASKED_ERRORS = 14, 3.0
# Ranks are 0 to 99, so that these intervals hold exactly half and nine tenths of them.
N_RANKED = 99
INTERVALS = {0.5: (25, 75), 0.9: (5, 95)}
# Of the histogram whose uniformity is tested.
N_BINS = 10
# Ranks need no more than a few hundred draws, and a tuning phase shorter than the default of 1,000
# draws is the harder test.
SHORT = {"draws": 100, "tune": 300}
# The defaults of `pmg.sample`.
DEFAULT: dict[str, int] = {}
# Simulations of a model that is not calibrated in which `diagnose` must find something.
N_NAMED = 20
RUNS = PARTS / "calibration.json"


class Ranks(NamedTuple):
    """Ranks ``(simulation, parameter)``, whether each simulation warned, and seconds."""

    names: list[str]
    ranks: list[list[int]]
    warned: list[bool]
    seconds: list[float]

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


def from_prior(name: str, n: int, *, seed: int = 1) -> list[dict[str, np.ndarray]]:
    """Draw parameters and outcomes."""
    model = CASES[name].prior()
    names = [rv.name for rv in model.basic_RVs]
    draws = pm.draw([model[name] for name in names], draws=n, random_seed=seed)
    return [dict(zip(names, values, strict=True)) for values in zip(*draws, strict=True)]


def ranks_of(draws: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Rank true values among draws ``(chain, draw, entry)`` that are as far apart as possible."""
    pooled = draws.reshape(-1, draws.shape[-1])
    chosen = np.linspace(0, len(pooled) - 1, N_RANKED).round().astype(int)
    return np.sum(pooled[chosen] < truth, axis=0)


def posterior_of(
    name: str, drawn: dict[str, np.ndarray], seed: int, lengths: Mapping[str, int]
) -> tuple[pm.Model, Any]:
    """Sample the posterior of one simulation."""
    model = CASES[name].posterior(drawn["y"])
    return model, pmg.sample(model=model, random_seed=seed, progressbar=False, **lengths)


def simulate(
    name: str, drawn: dict[str, np.ndarray], seed: int, lengths: Mapping[str, int]
) -> tuple:
    """Sample the posterior of one simulation: names of entries, ranks, if it warned, seconds."""
    start, said = time.process_time(), Said()
    log = logging.getLogger("pymc")
    log.addHandler(said)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            model, idata = posterior_of(name, drawn, seed, lengths)
        finally:
            log.removeHandler(said)
    warned = bool(said.lines) or any(issubclass(w.category, UserWarning) for w in caught)
    free = [rv.name for rv in model.free_RVs]
    draws = flat({name: idata.posterior[name].values for name in free}, free)
    truth = np.concatenate([np.ravel(drawn[name]) for name in free])
    names = [
        f"{name}{list(at) if at else ''}" for name in free for at in np.ndindex(drawn[name].shape)
    ]
    seconds = time.process_time() - start
    return names, ranks_of(draws, truth).tolist(), warned, seconds


def kept() -> dict[str, Ranks]:
    """Return what runs of the same code have found."""
    found: dict[str, Ranks] = {}
    code = fingerprint(BENCHMARK.measures)
    record = read(RESULTS / "calibration.json")
    for source in (record | record.get("figures", {}), read(RUNS)):
        if source.get("code") == code:
            found |= {name: restored(**values) for name, values in source["runs"].items()}
    return found


def key_of(name: str, seed: int, lengths: Mapping[str, int]) -> str:
    """Name the simulations of a model, of which short runs of the first seed are judged."""
    of_seed = "" if seed == 1 else f", seed {seed}"
    return name + of_seed + ("" if lengths is SHORT else ", 1,000 draws")


def run(name: str, n: int, *, seed: int, lengths: Mapping[str, int], quick: bool) -> Ranks:
    """Simulate as often as is asked for, and go on where an earlier run stopped."""
    key = key_of(name, seed, lengths)
    found = Ranks([], [], [], []) if quick else kept().get(key, Ranks([], [], [], []))
    for i, drawn in enumerate(from_prior(name, SIMULATIONS, seed=seed)[:n]):
        if i < len(found.ranks):
            continue
        names, *rest = simulate(name, drawn, (seed - 1) * SIMULATIONS + i, lengths)
        lists = (found.ranks, found.warned, found.seconds)
        found = Ranks(names, *([*old, new] for old, new in zip(lists, rest, strict=True)))
        if not quick:
            keep(RUNS, as_kept(kept() | {key: found}))
    return found


def as_kept(runs: dict[str, Ranks]) -> dict[str, Any]:
    """Write runs with their code, on which it depends whether another run may go on with them.

    A simulation is one line of the record.
    """
    every = {
        name: {
            "names": found.names,
            "simulations": [
                " ".join(map(str, [*ranks, int(warned), f"{seconds:.2f}"]))
                for ranks, warned, seconds in zip(*found[1:], strict=True)
            ],
        }
        for name, found in runs.items()
    }
    return {"code": fingerprint(BENCHMARK.measures), "runs": every}


def restored(names: list[str], simulations: list[str]) -> Ranks:
    """Read what :func:`as_kept` has written of a model."""
    rows = [simulation.split() for simulation in simulations]
    ranks = [[int(rank) for rank in row[:-2]] for row in rows]
    return Ranks(names, ranks, [row[-2] == "1" for row in rows], [float(row[-1]) for row in rows])


def line(name: str, found: Ranks) -> list[Any]:
    """Write a model as a row of the table."""
    errors = np.abs(found.errors())
    most = np.unravel_index(errors.argmax(), errors.shape)
    return [
        name,
        len(found.ranks),
        len(found.names),
        *(f"{row.max():.1f}" for row in errors),
        f"{found.names[most[1]]}, {list(INTERVALS)[most[0]]:.0%}",
        "{:.3f} +- {:.3f}".format(*found.mean_coverage()),
        f"{found.uniformity():.3f}",
        sum(found.warned),
        f"{np.median(found.seconds):.1f}",
        verdict(found),
    ]


def is_calibrated(found: Ranks) -> bool:
    """Whether all coverages are within the asked number of standard errors."""
    return bool(np.all(np.abs(found.errors()) <= ASKED_ERRORS))


def verdict(found: Ranks) -> str:
    """Judge a model in a word, if there are enough simulations."""
    if len(found.ranks) < SIMULATIONS:
        return "too few to judge"
    return "calibrated" if is_calibrated(found) else "**not calibrated**"


def checked(runs: dict[str, Ranks]) -> list[Check]:
    """Compare what was found with what is asked of all models together."""
    complete = {name: found for name, found in runs.items() if len(found.ranks) >= SIMULATIONS}
    n_right = sum(map(is_calibrated, complete.values()))
    n_short, n_left = len(runs) - len(complete), len(CASES) - len(runs)
    done = f"{n_right} of {len(complete)} run {SIMULATIONS} times"
    short = f", {n_short} run less often" if n_short else ""
    left = f", {n_left} of {len(CASES)} not run" if n_left else ""
    return [
        Check(
            "models whose intervals of 50 and 90 per cent cover within 3 standard errors",
            done + short + left,
            f">= {ASKED_CALIBRATED} of {len(CASES)}, {SIMULATIONS} times each",
            n_right >= ASKED_CALIBRATED if complete else None,
        )
    ]


def named(name: str, found: Ranks) -> Check:
    """Count the simulations of a model in which ``diagnose`` finds something."""
    n_named = 0
    for i, drawn in enumerate(from_prior(name, SIMULATIONS)[:N_NAMED]):
        model, idata = posterior_of(name, drawn, i, SHORT)
        n_named += bool(pmg.diagnose(idata, model=model).findings)
    return Check(
        f"{name}, which is not calibrated: runs in which `diagnose` finds something",
        f"{n_named} of {N_NAMED}; {sum(found.warned)} of {len(found.warned)} runs warn",
        "all",
        n_named == N_NAMED,
    )


def again(name: str, further: Ranks) -> Check:
    """Judge further simulations of a model that is not calibrated."""
    most = np.abs(further.errors()).max()
    return Check(
        f"{name}, {len(further.ranks)} simulations: largest error in standard errors",
        f"{most:.1f}",
        f"<= {ASKED_ERRORS}",
        bool(most <= ASKED_ERRORS),
    )


def main() -> None:
    """Simulate what is named, or all models, and report all that was kept."""
    reader = parser(__doc__.splitlines()[0])
    reader.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(CASES)}")
    reader.add_argument("--simulations", type=int, default=SIMULATIONS)
    reader.add_argument("--seed", type=int, default=1, help="of the prior; 1 is judged")
    reader.add_argument("--default-lengths", action="store_true", help="1,000 draws after 1,000")
    options = reader.parse_args()
    n, quick, seed = (3 if options.quick else options.simulations), options.quick, options.seed
    lengths = DEFAULT if options.default_lengths else SHORT
    fresh = {
        key_of(name, seed, lengths): run(name, n, seed=seed, lengths=lengths, quick=quick)
        for name in options.names or CASES
    }
    found = fresh if quick else kept()
    runs = {name: found[name] for name in CASES if name in found}
    further = {key: ranks for key, ranks in found.items() if key not in CASES}
    header = ["model", "simulations", "parameters", "50 per cent, largest error in standard errors"]
    header += ["90 per cent", "where", "mean coverage, 90 per cent", "p value of uniform ranks"]
    header += ["runs that warned", "CPU s, median", "verdict"]
    lines = [line(*pair) for pair in (runs | further).items()]
    table("Calibration", header, lines)
    wrong = {
        name: ranks
        for name, ranks in runs.items()
        if len(ranks.ranks) >= SIMULATIONS and not is_calibrated(ranks)
    }
    checks = checked(runs) + [named(*pair) for pair in wrong.items() if not quick]
    checks += [again(*pair) for pair in further.items()]
    report(
        "calibration",
        checks,
        about=BENCHMARK,
        quick=quick,
        header=header,
        rows=lines,
        runs=as_kept(runs | further)["runs"],
    )


if __name__ == "__main__":
    main()

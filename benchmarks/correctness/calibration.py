#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Simulation-based calibration (Talts and others 2018, arXiv 1804.06788) of default arguments.

Parameters are drawn from the prior and data from the model; minibatches of these data are sampled
with nothing but defaults, 100 draws of each of 4 chains after 300. The rank of each true parameter
among 99 draws is then uniform on 0 to 99 if sampling is right, and central intervals cover as often
as they say. The package simuk does the same, but changes the data of one model, which steps of
minibatches refuse: here every model is written again, and a process reuses what it has compiled.

Ranks are kept in the results after each simulation, and a run of the same code goes on where the
last one stopped, or where the record ends. The record keeps models that were run by other code, and
names the code of each. After a change that concerns few models, `--repeat 20`
makes the first 20 simulations of every other model again, and keeps those of all models whose ranks
are the same.

    python -m benchmarks.correctness.calibration [--quick] [--simulations 300] [NAME ...]
"""

from __future__ import annotations

import logging
import time
import warnings

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pymc as pm

import pymc_geodesic as pmg

from benchmarks.correctness.calibration_models import CASES
from benchmarks.correctness.calibration_runs import (
    INTERVALS,
    RUNS,
    Ranks,
    as_kept,
    kept,
    of_other_code,
)
from benchmarks.correctness.models import Said
from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, keep, of_package, report
from benchmarks.harness.sampling import flat
from pymc_geodesic.calibration.simulations import ranks_among

SIMULATIONS = 300
BENCHMARK = Benchmark(
    question="Are posteriors of small models calibrated with default arguments and minibatches?",
    asked=(
        "Coverage of central intervals of 50 and 90 per cent within 3 standard errors for every "
        "parameter of 14 of 15 models, 300 simulations each."
    ),
    fixed="2026-11-22",
    seeds=(1,),
)

CODE = of_package()
ASKED_CALIBRATED, ASKED_ERRORS = 14, 3.0
# Ranks need no more than a few hundred draws, and a tuning phase shorter than the default of 1,000
# draws is the harder test.
SHORT = {"draws": 100, "tune": 300}
# The defaults of `pmg.sample`.
DEFAULT: dict[str, int] = {}
# Simulations of a model that is not calibrated in which `diagnose` must find something.
N_NAMED = 20


def from_prior(name: str, n: int, *, seed: int = 1) -> list[dict[str, np.ndarray]]:
    """Draw parameters and outcomes."""
    model = CASES[name].prior()
    names = [rv.name for rv in model.basic_RVs]
    draws = pm.draw([model[name] for name in names], draws=n, random_seed=seed)
    return [dict(zip(names, values, strict=True)) for values in zip(*draws, strict=True)]


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
    return names, ranks_among(draws, truth).tolist(), warned, seconds


def key_of(name: str, seed: int, lengths: Mapping[str, int]) -> str:
    """Name the simulations of a model, of which short runs of the first seed are judged."""
    of_seed = "" if seed == 1 else f", seed {seed}"
    return name + of_seed + ("" if lengths is SHORT else ", 1,000 draws")


def run(name: str, n: int, *, seed: int, lengths: Mapping[str, int], quick: bool) -> Ranks:
    """Simulate as often as is asked for, and go on where an earlier run stopped."""
    key = key_of(name, seed, lengths)
    none = Ranks([], [], [], [], CODE)
    found = none if quick else kept(CODE).get(key, none)
    for i, drawn in enumerate(from_prior(name, SIMULATIONS, seed=seed)[:n]):
        if i < len(found.ranks):
            continue
        names, *rest = simulate(name, drawn, (seed - 1) * SIMULATIONS + i, lengths)
        lists = (found.ranks, found.warned, found.seconds)
        found = Ranks(names, *([*old, new] for old, new in zip(lists, rest, strict=True)), CODE)
        if not quick:
            keep(RUNS, as_kept(kept(CODE) | {key: found}))
    return found


def repeat(n: int, *, but: Sequence[str]) -> dict[str, int]:
    """Repeat first simulations of other code; keep the rest of those that are the same.

    A chain in which one rounding differs has other draws after some hundred transitions. Equal
    ranks therefore say that what was changed does not concern the model.

    Parameters
    ----------
    n : int
        Simulations of each model.
    but : sequence of str
        Names of models to leave out.

    Returns
    -------
    dict
        How many simulations of each model were repeated.
    """
    repeated = {}
    for key, old in of_other_code(CODE).items():
        name, _, rest = key.partition(", ")
        if name in but or key in kept(CODE) or "draws" in rest:
            continue
        seed = int(rest.removeprefix("seed ") or 1)
        fresh = run(name, n, seed=seed, lengths=SHORT, quick=True)
        same = fresh.ranks == old.first(n).ranks
        print(f"{key}: {n} simulations again, the ranks are {'the same' if same else 'others'}")
        if same:
            keep(RUNS, as_kept(kept(CODE) | {key: old._replace(code=CODE)}))
            repeated[key] = n
    return repeated


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
        found.code,
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
    reader.add_argument("--repeat", type=int, default=0, help="simulations of the record's models")
    options = reader.parse_args()
    n, quick, seed = (3 if options.quick else options.simulations), options.quick, options.seed
    lengths = DEFAULT if options.default_lengths else SHORT
    fresh = {
        key_of(name, seed, lengths): run(name, n, seed=seed, lengths=lengths, quick=quick)
        for name in options.names or CASES
    }
    repeated = repeat(options.repeat, but=options.names) if options.repeat else {}
    found = fresh if quick else of_other_code(CODE) | kept(CODE)
    runs = {name: found[name] for name in CASES if name in found}
    further = {key: ranks for key, ranks in found.items() if key not in CASES}
    header = ["model", "simulations", "parameters", "50 per cent, largest error in standard errors"]
    header += ["90 per cent", "where", "mean coverage, 90 per cent", "p value of uniform ranks"]
    header += ["runs that warned", "CPU s, median", "verdict", "code"]
    lines = [line(*pair) for pair in (runs | further).items()]
    table("Calibration", header, lines)
    wrong = {
        name: ranks
        for name, ranks in runs.items()
        if len(ranks.ranks) >= SIMULATIONS and not is_calibrated(ranks)
    }
    checks = checked(runs) + [named(*pair) for pair in wrong.items() if not quick]
    checks += [again(*pair) for pair in further.items()]
    for name, ranks in wrong.items():
        others = [found for key, found in further.items() if key.startswith(f"{name}, seed")]
        if others:
            checks.append(again(f"{name}, all seeds", ranks.followed_by(others)))
    report(
        "calibration",
        checks,
        about=BENCHMARK,
        quick=quick,
        header=header,
        rows=lines,
        runs=as_kept(runs | further)["runs"],
        repeated=repeated,
    )


if __name__ == "__main__":
    main()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""From how many draws on do the checks see a temperature that is a little too high?

Two faults: noise that is too large, which heats velocities and positions, and a force divided by T,
which heats positions alone. One long run per seed; the checks see its first draws. The kinetic
temperature is asked about the noise; the checks of positions, which cost a gradient per draw, about
the force.
"""

from __future__ import annotations

import contextlib
import io
import logging
import math
import warnings

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import pymc as pm

import pymc_geodesic as pmg

from benchmarks.diagnostics.broken_samplers import gsgnht, noise_scaled, sggmc, target
from benchmarks.diagnostics.diagnose_wrong_answers import force_divided_by
from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report

BENCHMARK = Benchmark(
    question="From how many draws on do the checks see a temperature that is a little too high?",
    asked=(
        "A check sees T = 1.05 in every seed at the default length, four chains of 1,000 draws; "
        "at most one alarm in 20 where nothing is wrong, at all lengths together."
    ),
    fixed="2026-11-22",
    seeds=(1, 2, 3),
    measures=("diagnostics", "algorithms"),
)

# The longest runs: smaller faults need more draws.
LONGEST = {1.05: 4000, 1.1: 2000, 1.3: 1000}
LONGEST_GOOD, SHORTEST = 2000, 250
DEFAULT_LENGTH = 1000
# As in broken_samplers: standard errors of a temperature, and the level of the Stein check.
SIGNIFICANT = 4.0
KINETIC = ("kinetic temperature", "`diagnose`")
POSITIONS = ("configurational temperature", "Stein check", "`diagnose`")


class Case(NamedTuple):
    """A temperature, what is broken, the step that it breaks, and the checks that are asked."""

    name: str
    temperature: float
    broken: Callable[[], Any]
    step: Callable[[], Any]
    checks: tuple[str, ...]

    def lengths(self, *, quick: bool) -> list[int]:
        """Draws of each chain, up to the longest run, doubled again and again."""
        longest = LONGEST.get(self.temperature, LONGEST_GOOD)
        doublings = 2 if quick else int(math.log2(longest // SHORTEST)) + 1
        return [SHORTEST * 2**i for i in range(doublings)]


def cases() -> list[Case]:
    """List the good runs, and two faults at each temperature."""
    found = [
        Case("SGGMC as it is", 1.0, nullcontext, sggmc, KINETIC),
        Case("gSGNHT as it is", 1.0, nullcontext, gsgnht, POSITIONS),
    ]
    for t in LONGEST:
        # The factor multiplies the noise, whose square is a temperature.
        noisy = lambda t=t: noise_scaled(math.sqrt(t))  # noqa: E731
        found.append(Case("noise", t, noisy, sggmc, KINETIC))
        found.append(Case("force divided by T", t, force_divided_by(t), gsgnht, POSITIONS))
    return found


def alarm(check: str, idata, model: pm.Model) -> bool:
    """Tell whether a check gives an alarm for a run."""
    n = idata.posterior.sizes["draw"]
    if check == "kinetic temperature":
        return bool(pmg.kinetic_temperature(idata)["z"].abs().max() > SIGNIFICANT)
    if check == "configurational temperature":
        found = pmg.configurational_temperature(idata, model=model, max_draws=n)
        return bool(found["z"].abs().max() > SIGNIFICANT)
    if check == "Stein check":
        return not pmg.stein_check(idata, model=model, max_draws=n).passed
    with contextlib.redirect_stdout(io.StringIO()):
        return not pmg.diagnose(idata, model=model).ok


def run(case: Case, seeds: tuple[int, ...], lengths: list[int]) -> dict[str, dict[int, list[bool]]]:
    """Alarms by check, length and seed; `diagnose` sees the default length and the longest."""
    model = target()
    with model, case.broken():
        step = case.step()
    found: dict[str, dict[int, list[bool]]] = {check: {} for check in case.checks}
    for seed in seeds:
        idata = pm.sample(
            lengths[-1],
            tune=200,
            chains=4,
            cores=1,
            model=model,
            step=step,
            random_seed=seed,
            progressbar=False,
            compute_convergence_checks=False,
        )
        for check in case.checks:
            of_diagnose = {DEFAULT_LENGTH, lengths[-1]}
            for length in lengths:
                if check != "`diagnose`" or length in of_diagnose:
                    first = idata.isel(draw=slice(0, length))
                    found[check].setdefault(length, []).append(alarm(check, first, model))
    return found


def needed(by_length: dict[int, list[bool]]) -> str:
    """Return the length from which on every seed gives an alarm."""
    lengths = list(by_length)
    silent = [i for i, length in enumerate(lengths) if not all(by_length[length])]
    if silent and silent[-1] == len(lengths) - 1:
        return f"more than {lengths[-1]}"
    return str(lengths[silent[-1] + 1 if silent else 0])


def main() -> None:
    logging.getLogger("pymc").setLevel(logging.ERROR)
    warnings.simplefilter("ignore", UserWarning)
    quick = arguments(__doc__.splitlines()[0]).quick
    seeds = BENCHMARK.seeds[:1] if quick else BENCHMARK.seeds
    rows, checks, raw, alarms = [], [], {}, []
    for case in cases():
        found = run(case, seeds, case.lengths(quick=quick))
        raw[f"{case.name}, {case.temperature}"] = found
        if case.temperature == 1:
            alarms += [one for by in found.values() for runs in by.values() for one in runs]
            continue
        columns = dict.fromkeys([*KINETIC[:1], *POSITIONS], "") | {
            check: needed(by_length) for check, by_length in found.items()
        }
        rows.append([case.name, case.temperature, *columns.values()])
        print(rows[-1], flush=True)
        if case.temperature == min(LONGEST):
            caught = max(sum(by.get(DEFAULT_LENGTH, [])) for by in found.values())
            what = f"{case.name}, T = {case.temperature}: best check, 4 x {DEFAULT_LENGTH} draws"
            n = len(seeds)
            checks.append(Check(what, f"{caught} of {n}", f"{n} of {n}", caught == n))
    text, false = f"{sum(alarms)} of {len(alarms)}", sum(alarms)
    checks.append(Check("false alarms", text, "at most 1 in 20", 20 * false <= len(alarms)))
    header = ["fault", "T", *KINETIC[:1], *POSITIONS]
    table("Draws of each of four chains from which on every seed gives an alarm", header, rows)
    report("small_faults", checks, about=BENCHMARK, quick=quick, header=header, rows=rows, raw=raw)


if __name__ == "__main__":
    main()

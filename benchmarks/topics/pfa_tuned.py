#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Poisson factor analysis with equal tuning: is a learned mass better when nothing else differs?

The data, the model and the scores of ``pfa``. SGHMC and SGNHT, with EM for the mass and without,
are tuned alike: the same three step sizes for 12 s each with one seed, by the perplexity of 600
training documents that are left out. The best one then runs with three seeds, which determine the
start too, on all training documents, beside collapsed Gibbs. The friction of SGHMC and the
diffusion of SGNHT are the same share of a step at all step sizes, with EM and without. Seconds are
those of the processor, without compiling and scoring. SGNPHMC cannot sample this model: its steps
need energies, and only the gradient can be estimated.

    python -m benchmarks.topics.pfa_tuned [--quick] [--resume]

The counts are read from ``20news/20news.npz`` in the folder that the environment variable
PYMC_GEODESIC_DATA names.
"""

from __future__ import annotations

import warnings

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pymc as pm

import pymc_geodesic as pmg

from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.parts import part_of
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import set_step_size
from benchmarks.topics.pfa import (
    BATCH_SIZE,
    FIVE,
    N_TOPICS,
    WarmUp,
    by_gibbs,
    by_step,
    corpus,
    em,
    scored,
    starting_point,
)
from benchmarks.topics.poisson_factors import Completion, factor_model

BENCHMARK = Benchmark(
    question="Poisson factor analysis, every method tuned alike: what does a learned mass gain?",
    asked="In every seed, after 20 s: SGHMC and SGNHT with EM below themselves without.",
    fixed="2026-11-23",
    seeds=(1, 2, 3),
    measures=("algorithms", "tuning/mass_adaptation", "tuning/monte_carlo_em"),
)

STEP_SIZES = (0.001, 0.003, 0.009)
TUNED_FOR, SECONDS = 12.0, 20.0
# When averages are shown too: draws are scored at multiples of a fifteenth of the time.
EARLIER = (12.0, 16.0)
# The friction of one and the diffusion of the other, times the step size.
SHARES = {"SGHMC": ("friction", 0.03), "SGNHT": ("diffusion", 0.02)}
STEPS = {
    "SGHMC": partial(pmg.SGHMC, **FIVE),
    "SGHMC, EM": partial(pmg.SGHMC, mass=em(update_every=10), **FIVE),
    "SGNHT": partial(pmg.SGNHT, **FIVE),
    "SGNHT, EM": partial(pmg.SGNHT, mass=em(update_every=10), **FIVE),
}
GIBBS = "Gibbs, all documents"
HEADER = ["method", "step size", "transitions", "one draw", "averaged", "of one seed"]
HEADER += ["12 s", "16 s", "topics in use", "temperature", "diverging draws"]
Path = list[dict[str, Any]]


def chain(
    get: Callable[[str], Any],
    name: str,
    start: dict,
    documents: Completion,
    step_size: float,
    limit: float,
    *,
    seed: int,
) -> Path:
    """Run a method at a step size, and score it now and then."""
    step = get(name)
    setting, share = SHARES[type(step).__name__]
    set_step_size(step, WarmUp(step_size), **{setting: share / step_size})
    return scored(by_step(step, start, limit, seed=seed), documents, limit, early=False)


def last(path: Path) -> float:
    """Return the averaged perplexity at the end; infinity for a chain that was lost."""
    value = path[-1].get("averaged", np.nan) if path else np.nan
    return float("inf") if value is None or np.isnan(value) else float(value)


def compiled(model: pm.Model) -> Callable[[str], Any]:
    """Compile a step when it is first asked for; its settings are changed afterwards."""
    steps: dict[str, Any] = {}

    def get(name: str) -> Any:
        if name not in steps:
            with model:
                step = steps[name] = STEPS[name](step_size=WarmUp(STEP_SIZES[0]))
            # What is compiled by the first draw is not counted.
            step.setup_chain(np.random.default_rng(1), tune=1, draws=1)
            step.step(model.initial_point())
        return steps[name]

    return get


def at(path: Path, seconds: float) -> float:
    """Return the last averaged perplexity up to a time; NaN if nothing was averaged by then."""
    found = [r["averaged"] for r in path if "averaged" in r and r["seconds"] <= seconds + 1]
    return found[-1] if found else np.nan


def row(name: str, step_size: float | None, paths: list[Path]) -> list[str]:
    """Medians of the seeds, and the range of the averages."""
    ends, averages = [path[-1] for path in paths], [last(path) for path in paths]

    def median(key: str, form: str) -> str:
        found = [end[key] for end in ends if end.get(key) is not None]
        return format(np.median(found), form) if found else ""

    return [
        name,
        "" if step_size is None else f"{step_size:g}",
        median("iterations", ",.0f"),
        median("single", ",.0f"),
        f"{np.median(averages):,.0f}",
        f"{min(averages):,.0f} to {max(averages):,.0f}",
        *(f"{np.median([at(path, t) for path in paths]):,.0f}" for t in EARLIER),
        median("topics", ".0f"),
        median("kinetic_temperature", ".2f"),
        median("diverging", ".0f"),
    ]


def tuned(part: Callable, limit: float) -> tuple[dict[str, float], list[list[str]]]:
    """Choose the step size of each method on training documents that are left out."""
    counts, documents = corpus(validate=True)
    get = compiled(factor_model(counts, N_TOPICS, BATCH_SIZE))
    start = starting_point(counts, seed=1)
    chosen, rows = {}, []
    for name in STEPS:
        found = []
        for size in STEP_SIZES:
            run = partial(chain, get, name, start, documents, size, limit, seed=1)
            found.append(last(part(f"choice {name} {size}", run)))
        chosen[name] = STEP_SIZES[int(np.argmin(found))]
        rows.append([name, *(f"{value:,.0f}" for value in found)])
        print(*rows[-1], flush=True)
    return chosen, rows


def checks_of(paths: dict[str, list[Path]]) -> list[Check]:
    """With EM below without, in every seed."""
    checks = []
    for name in SHARES:
        pairs = [(last(a), last(b)) for a, b in zip(paths[f"{name}, EM"], paths[name], strict=True)]
        found, asked = (", ".join(f"{pair[i]:,.0f}" for pair in pairs) for i in (0, 1))
        below = all(a < b for a, b in pairs)
        checks.append(Check(f"{name} with EM, each seed", found, f"below {asked}", below))
    return checks


def main() -> None:
    warnings.simplefilter("ignore", UserWarning)
    options = parser(__doc__.splitlines()[0])
    options.add_argument("--resume", action="store_true", help="run only what is not there yet")
    given = options.parse_args()
    scale = 0.1 if given.quick else 1.0

    def part(name: str, run: Callable[[], Path]) -> Path:
        options = {"about": BENCHMARK, "quick": given.quick}
        return part_of("pfa_tuned", name, run, now=True, resume=given.resume, **options)

    chosen, validation = tuned(part, TUNED_FOR * scale)
    counts, documents = corpus(validate=False)
    get, limit = compiled(factor_model(counts, N_TOPICS, BATCH_SIZE)), SECONDS * scale
    paths: dict[str, list[Path]] = {name: [] for name in (*STEPS, GIBBS)}
    for seed in BENCHMARK.seeds[:1] if given.quick else BENCHMARK.seeds:
        start = starting_point(counts, seed=seed)
        for name, found in paths.items():
            if name == GIBBS:
                draws = by_gibbs(counts, limit, seed=seed)
                run = partial(scored, draws, documents, limit, early=False)
            else:
                size = chosen[name]
                run = partial(chain, get, name, start, documents, size, limit, seed=seed)
            found.append(part(f"{name} {seed}", run))
            print(name, seed, found[-1][-1], flush=True)
    rows = [row(name, chosen.get(name), found) for name, found in paths.items()]
    table("Validation", ["method", *map(str, STEP_SIZES)], validation)
    table("Perplexity, medians of the seeds", HEADER, rows)
    kept = {"about": BENCHMARK, "quick": given.quick, "header": HEADER, "rows": rows}
    report("pfa_tuned", checks_of(paths), **kept, validation=validation, paths=paths)


if __name__ == "__main__":
    main()

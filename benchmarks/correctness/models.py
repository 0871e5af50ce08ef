#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Ordinary models by default arguments: are they right, or does the run say that they are not?

Four chains of ``pmg.sample`` against exact moments or a long run of NUTS (nutpie) on all rows, both
on JAX. Effective samples are the smallest over means and squares of all that is compared. Seconds
are the processor's, all threads together, for everything from the model to the draws; seeds after
the first find its kernel compiled, and are not compared with NUTS. A run "says" what it logs as a
warning, PyMC's own checks included. Moments are not judged where NUTS itself has not converged. A
run that has not ended after 300 s of the processor is stopped. Numbers are means and deviations;
two standard errors of the reference are added to what they may be off.

Runs are kept in the results as they end, and all of them are reported each time; delete the file to
measure anew. What is known of a model is kept until the file that defines it changes.

    python -m benchmarks.correctness.models [--quick] [--seeds 1 2 3] [--without-nuts] [NAME ...]
"""

from __future__ import annotations

import json
import logging
import signal
import sys
import time
import warnings

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pymc as pm

from arviz import rhat

import pymc_geodesic as pmg

from benchmarks.correctness.ordinary_models import MODELS, Ordinary
from benchmarks.harness import records
from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark, source_hash
from benchmarks.harness.records import PARTS, Check, keep, report
from benchmarks.harness.sampling import flat
from benchmarks.harness.statistics import effective_samples

BENCHMARK = Benchmark(
    question=(
        "Are posteriors of ordinary models right with default arguments, or else does the run warn?"
    ),
    asked=(
        "Bias at most 0.15 sd, sd ratios in 0.85 to 1.15 and R-hat at most 1.01 in 85 per cent of "
        "the models; none wrong without a warning; twice nutpie's effective samples per second in "
        "the median."
    ),
    fixed="2026-11-22",
    seeds=(1, 2, 3),
)

LARGEST_BIAS, RATIOS, LARGEST_RHAT = 0.15, (0.85, 1.15), 1.01
# The same of each number after correction, fixed on 2026-11-27: beyond so many standard errors of
# the reference, and the share of numbers.
BIAS, RATIO, REFERENCE_ERRORS, SHARE_OF_NUMBERS = 0.03, 0.03, 2.0, 0.95
# Of all models: 17 of 20.
SHARE_RIGHT = 0.85
# In the median model.
ASKED_OVER_NUTS = 2.0
NUTS_DRAWS, NUTS_TUNE = 2_000, 1_000
# Of the processor, for a run with everything: nobody waits longer for 30,000 rows.
LONGEST = 300
# With fewer its own errors would be a third of the bias that is looked for.
FEWEST_OF_NUTS = 400
NOT_JUDGED, STOPPED = "no truth", "stopped"
HEADER = ["model", "N", "seed", "bias", "sd ratios", "R-hat", "effective in CPU s", "nutpie"]
HEADER += ["over nutpie", "advises NUTS", "step", "warns", "verdict"]
HEADER += ["numbers right", "certificate"]
TRUTHS, RUNS = records.TRUTHS / "models.json", PARTS / "models_runs.json"


class Truth(NamedTuple):
    """Moments of every entry compared, whether they are exact, and what a run of NUTS came to.

    What NUTS came to is not a number where exact moments were all that was wanted.
    """

    mean: list[float]
    sd: list[float]
    is_exact: bool
    rhat: float
    ess: float
    seconds: float

    @property
    def is_of_nuts(self) -> bool:
        """Whether NUTS has converged."""
        return self.rhat <= LARGEST_RHAT and self.ess >= FEWEST_OF_NUTS

    @property
    def is_known(self) -> bool:
        """Whether the moments are exact, or NUTS has converged."""
        return self.is_exact or self.is_of_nuts

    def with_exact(self, moments: tuple[np.ndarray, np.ndarray]) -> Truth:
        """Return the same run of NUTS with exact moments."""
        mean, sd = moments
        return self._replace(mean=mean.tolist(), sd=sd.tolist(), is_exact=True)


# Of a model that has no exact moments and that NUTS has not sampled.
UNKNOWN = Truth([], [], False, np.inf, 0.0, np.nan)


class Found(NamedTuple):
    """Moments of every entry compared, what a run came to, and what it said.

    Moments are empty where the run ended with an error.
    """

    mean: list[float]
    sd: list[float]
    rhat: float
    ess: float
    seconds: float
    step_size: float
    said: list[str]
    advises_nuts: bool
    news: str
    certificate: str = ""

    @property
    def warned(self) -> bool:
        """Whether it warned, or ended with an error, before it was stopped."""
        return any(not line.startswith(STOPPED) for line in self.said)

    def bias(self, truth: Truth) -> float:
        """Return the largest error of a mean, in true deviations."""
        if not self.mean:
            return np.inf
        if not truth.mean:
            return np.nan
        return float(np.max(np.abs(np.subtract(self.mean, truth.mean)) / truth.sd))

    def ratios(self, truth: Truth) -> tuple[float, float]:
        """Return the smallest and largest ratio of a deviation to the true one."""
        if not self.sd:
            return 0.0, np.inf
        if not truth.sd:
            return np.nan, np.nan
        ratios = np.divide(self.sd, truth.sd)
        return float(ratios.min()), float(ratios.max())

    def is_right(self, truth: Truth) -> bool:
        """Whether means, widths and chains are within what was asked."""
        low, high = self.ratios(truth)
        is_wide = low >= RATIOS[0] and high <= RATIOS[1]
        return self.bias(truth) <= LARGEST_BIAS and is_wide and self.rhat <= LARGEST_RHAT

    def right_numbers(self, truth: Truth) -> np.ndarray:
        """Return which means and deviations are as asked of corrected draws; none if unknown."""
        if not (self.mean and truth.mean and truth.is_known):
            return np.zeros(0, bool)
        error = 0.0 if truth.is_exact else REFERENCE_ERRORS / np.sqrt(truth.ess)
        biases = np.abs(np.subtract(self.mean, truth.mean)) / truth.sd
        changes = np.abs(np.divide(self.sd, truth.sd) - 1)
        # A deviation has the error of a mean over the root of two.
        return np.concatenate([biases <= BIAS + error, changes <= RATIO + error / np.sqrt(2)])


class Said(logging.Handler):
    """What is logged as a warning, what tuning found, and whether NUTS on all rows is advised."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: list[str] = []
        self.advises_nuts, self.news = False, ""

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line."""
        text = record.getMessage()
        self.advises_nuts |= "NUTS on all rows is probably faster" in text
        if "tuned itself" in text:
            self.news = text
        if record.levelno >= logging.WARNING:
            self.lines.append(text)


class TooLong(Exception):
    """A run that was stopped."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Stop what takes longer, in seconds of the processor, by an exception."""

    def stop(*_: Any) -> None:
        raise TooLong(f"{STOPPED} after {seconds:.0f} s of the processor")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def read(path: Path) -> dict[str, Any]:
    """Read what was measured before, by name."""
    return json.loads(path.read_text()) if path.exists() else {}


def truth_key(name: str) -> str:
    """Name what is known of a model, as it is written now."""
    model = MODELS[name].model
    written = sys.modules[getattr(model, "func", model).__module__].__file__
    return f"{name} {source_hash(Path(written))}"


def restored(kind: Callable[..., Any], values: Sequence[Any]) -> Any:
    """Return what was kept as a file, which has neither infinity nor NaN."""

    def number(value: Any) -> Any:
        if isinstance(value, list):
            return [number(one) for one in value]
        return {None: np.nan, "inf": np.inf}.get(value, value)

    return kind(*map(number, values))


def kept(path: Path, key: str, measure: Callable[[], Any], *, quick: bool) -> Any:
    """Return what was measured before, or measure and keep it."""
    if quick:
        return measure()
    found = read(path)
    if key not in found:
        value = measure()
        # Another process may have written meanwhile.
        found = read(path)
        found[key] = value
        keep(path, found)
    return found[key]


def largest_rhat(draws: np.ndarray) -> float:
    """R-hat of the worst entry of ``(chain, draw, entry)``."""
    return float(np.max([rhat(draws[..., i]) for i in range(draws.shape[-1])]))


def truth_of(case: Ordinary, *, without_nuts: bool, quick: bool) -> Truth:
    """Sample all rows by NUTS, and take the moments that are known without it."""
    if case.moments is None:
        return by_nuts(case, quick=quick)
    of_nuts = UNKNOWN if without_nuts else by_nuts(case, quick=quick)
    return of_nuts.with_exact(case.moments())


def by_nuts(
    case: Ordinary, *, quick: bool, draws: int = NUTS_DRAWS, tune: int = NUTS_TUNE
) -> Truth:
    """Sample all rows by NUTS."""
    import nutpie

    model = case.model(False)
    start = time.process_time()
    compiled = nutpie.compile_pymc_model(model, backend="jax")
    posterior = nutpie.sample(
        compiled,
        draws=100 if quick else draws,
        tune=100 if quick else tune,
        chains=4,
        cores=2,
        seed=1,
        progress_bar=False,
    ).posterior
    seconds = time.process_time() - start
    kept = flat({name: posterior[name].values for name in case.compared}, case.compared)
    moments = kept.mean(axis=(0, 1)).tolist(), kept.std(axis=(0, 1)).tolist()
    return Truth(*moments, False, largest_rhat(kept), effective_samples(kept), seconds)


def by_default(case: Ordinary, seed: int, *, quick: bool) -> Found:
    """Sample minibatches with nothing but defaults."""
    model, said = case.model(True), Said()
    log = logging.getLogger("pymc")
    log.addHandler(said)
    options = {"draws": 100, "tune": 100} if quick else {}
    start = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            with limited(LONGEST):
                idata = pmg.sample(
                    model=model,
                    chains=4,
                    random_seed=seed,
                    progressbar=False,
                    **options,
                )
        except (pm.exceptions.SamplingError, ValueError, TooLong) as error:
            seconds, said.lines = time.process_time() - start, [*said.lines, str(error)]
            return Found(
                [], [], np.inf, 0.0, seconds, np.nan, said.lines, said.advises_nuts, said.news
            )
        finally:
            log.removeHandler(said)
    seconds = time.process_time() - start
    said.lines += [str(w.message) for w in caught if issubclass(w.category, UserWarning)]
    draws = flat({name: idata.posterior[name].values for name in case.compared}, case.compared)
    return Found(
        draws.mean(axis=(0, 1)).tolist(),
        draws.std(axis=(0, 1)).tolist(),
        largest_rhat(draws),
        effective_samples(draws),
        seconds,
        float(np.median(idata.sample_stats["step_size"])),
        said.lines,
        said.advises_nuts,
        said.news,
        idata.posterior.attrs.get("verdict", "none"),
    )


def verdict(found: Found, truth: Truth) -> str:
    """Judge a run in a word."""
    if not found.mean:
        return "no answer, warned" if found.warned else "no answer"
    if found.rhat <= LARGEST_RHAT:
        if not truth.is_known:
            return NOT_JUDGED
        if found.is_right(truth):
            return "right"
    return "says that it is not" if found.warned else "SILENTLY WRONG"


def line(case: Ordinary, seed: int, found: Found, truth: Truth) -> list[Any]:
    """Write a run as a row of the table."""
    low, high = found.ratios(truth)
    is_compared = bool(found.mean and truth.mean)
    right = found.right_numbers(truth)
    return [
        case.what,
        f"{case.n_rows:,}",
        str(seed),
        f"{found.bias(truth):.3f}" if is_compared else "",
        f"{low:.3f} to {high:.3f}" if is_compared else "",
        f"{found.rhat:.3f}" if found.mean else "",
        f"{found.ess:,.0f} in {found.seconds:.0f}" if found.mean else "",
        "" if np.isnan(truth.seconds) else f"{truth.ess:,.0f} in {truth.seconds:.0f}",
        over_nuts(found, truth) if seed == BENCHMARK.seeds[0] else np.nan,
        "yes" if found.advises_nuts else "no",
        found.step_size,
        "yes" if found.warned else "no",
        verdict(found, truth),
        f"{right.sum()} of {len(right)}" if right.size else "",
        found.certificate,
    ]


def over_nuts(found: Found, truth: Truth) -> float:
    """Return effective samples a second over those of NUTS; not a number unless it converged."""
    is_compared = found.mean and truth.is_of_nuts
    return found.ess / found.seconds / (truth.ess / truth.seconds) if is_compared else np.nan


def checked(runs: dict[str, tuple[Found, Truth]]) -> list[Check]:
    """Compare what was found with what is asked of all models together, in each seed."""
    checks = [right(seed, of_seed(runs, seed)) for seed in seeds_of(runs)]
    n_silent = [verdict(*pair) for pair in runs.values()].count("SILENTLY WRONG")
    # The kernel of the first seed serves the others, which would compare unlike things.
    first = [pair for key, pair in runs.items() if int(key.split()[1]) == BENCHMARK.seeds[0]]
    ratios = [ratio for pair in first if np.isfinite(ratio := over_nuts(*pair))]
    ratio = float(np.median(ratios)) if ratios else 0.0
    for seed in seeds_of(runs):
        numbers = [pair[0].right_numbers(pair[1]) for pair in pairs_of_seed(runs, seed)]
        share = float(np.concatenate(numbers).mean())
        what = f"numbers right, seed {seed}"
        asked = f">= {SHARE_OF_NUMBERS:.0%}"
        checks.append(Check(what, f"{share:.1%}", asked, share >= SHARE_OF_NUMBERS))
    certified = [pair for pair in runs.values() if pair[0].certificate == "certified"]
    n_others = sum(not found.right_numbers(truth).all() for found, truth in certified)
    text = f"{n_others} of {len(certified)} certified runs"
    return [
        *checks,
        Check("certified with a number that is not right", text, "0", n_others == 0),
        Check("silently wrong", f"{n_silent} of {len(runs)} runs", "0", n_silent == 0),
        Check(
            "over NUTS, median of the first seed",
            f"{ratio:.2f}",
            f">= {ASKED_OVER_NUTS}",
            ratio >= ASKED_OVER_NUTS,
        ),
    ]


def seeds_of(runs: dict[str, tuple[Found, Truth]]) -> list[int]:
    """Return the seeds of all runs."""
    return sorted({int(key.split()[1]) for key in runs})


def of_seed(runs: dict[str, tuple[Found, Truth]], seed: int) -> list[str]:
    """Judge the runs of a seed."""
    return [verdict(*pair) for pair in pairs_of_seed(runs, seed)]


def pairs_of_seed(runs: dict[str, tuple[Found, Truth]], seed: int) -> list[tuple[Found, Truth]]:
    """Return the runs of a seed."""
    return [pair for key, pair in runs.items() if int(key.split()[1]) == seed]


def right(seed: int, verdicts: list[str]) -> Check:
    """Compare the number of models that are right with what is asked."""
    n_right, n_judged = verdicts.count("right"), len(verdicts) - verdicts.count(NOT_JUDGED)
    text = f"{n_right} of {n_judged} judged; {len(verdicts)} runs of {len(MODELS)} models"
    is_enough = n_right >= SHARE_RIGHT * len(verdicts)
    return Check(f"right, seed {seed}", text, f">= {SHARE_RIGHT:.0%}", is_enough)


def all_kept() -> dict[str, tuple[Found, Truth]]:
    """Read all runs and what they are compared with."""
    truths = {key: restored(Truth, values) for key, values in read(TRUTHS).items()}
    runs = {key: restored(Found, values) for key, values in read(RUNS).items()}
    names = {key: truth_key(key.split()[0]) for key in runs}
    return {key: (found, truths.get(names[key], UNKNOWN)) for key, found in runs.items()}


def main() -> None:
    reader = parser(__doc__.splitlines()[0])
    reader.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(MODELS)}")
    reader.add_argument("--seeds", type=int, nargs="+", default=BENCHMARK.seeds)
    reader.add_argument("--without-nuts", action="store_true", help="only known moments")
    options = reader.parse_args()
    if unknown := set(options.names) - set(MODELS):
        reader.error(f"expected names of {', '.join(MODELS)}; got {', '.join(sorted(unknown))}")
    quick, known = options.quick, {} if options.quick else read(TRUTHS)
    runs = {}
    for name, seed in product(options.names or MODELS, options.seeds):
        case, key = MODELS[name], f"{name} {seed}"
        found_now = partial(by_default, case, seed, quick=quick)
        found = restored(Found, kept(RUNS, key, found_now, quick=quick))
        truth = UNKNOWN
        if truth_key(name) in known or case.moments is not None or not options.without_nuts:
            truth_now = partial(truth_of, case, without_nuts=options.without_nuts, quick=quick)
            truth = restored(Truth, kept(TRUTHS, truth_key(name), truth_now, quick=quick))
        runs[key] = found, truth
        print(*line(case, seed, found, truth), found.news, *found.said, sep=" | ", flush=True)
    if not quick:
        runs = all_kept()
    # In the order of the list, whatever was run first.
    names = list(MODELS)
    order = sorted(runs, key=lambda key: (names.index(key.split()[0]), key))
    cases = {key: (MODELS[name], int(seed)) for key in order for name, seed in [key.split()]}
    rows = [line(*cases[key], *runs[key]) for key in order]
    table("Ordinary models by defaults", HEADER, rows)
    figures = {key: found._asdict() for key, (found, _) in runs.items()}
    report(
        "models",
        checked(runs),
        about=BENCHMARK,
        quick=quick,
        header=HEADER,
        rows=rows,
        runs=figures,
    )


if __name__ == "__main__":
    main()

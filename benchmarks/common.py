#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What the benchmark scripts share: runs, distances, tables and files of results."""

from __future__ import annotations

import argparse
import json
import logging
import sys
import time
import warnings

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pymc as pm

# Targets that are examples too are written there, once.
sys.path.append(str(Path(__file__).parents[1] / "examples"))

from arviz import ess
from gradient_noise import add_gradient_noise, gradient_noise_rows
from two_directions import angle

import pymc_geodesic as pmg

__all__ = [
    "Check",
    "Run",
    "SamplingClock",
    "add_gradient_noise",
    "angle",
    "arguments",
    "effective_samples",
    "flat",
    "gradient_noise_rows",
    "histogram",
    "long_run_variance",
    "mcse",
    "parser",
    "report",
    "rows",
    "sample",
    "set_step_size",
    "table",
    "total_variation",
]

RESULTS = Path(__file__).parent / "results"


class Run(NamedTuple):
    """Draws and statistics of one run as arrays ``(chain, draw, ...)``, and its wall time."""

    draws: dict[str, np.ndarray]
    stats: dict[str, np.ndarray]
    seconds: float


class Check(NamedTuple):
    """One figure that was asked for: what was found and whether it does."""

    what: str
    found: str
    asked: str
    passed: bool


class SamplingClock:
    """A ``callback`` of ``pm.sample`` that times the draws that are kept.

    For chains of one process. What comes before the last draw of the tuning phase is left out:
    compilation, the search of a center, tuning.

    Attributes
    ----------
    seconds : float
        Seconds of the processor, all threads together, for the kept draws of all chains: what else
        runs on the machine does not count.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._last = time.process_time()

    def __call__(self, trace: Any, draw: Any) -> None:
        """Note the time of a draw."""
        now = time.process_time()
        if not draw.tuning:
            self.seconds += now - self._last
        self._last = now


def parser(description: str) -> argparse.ArgumentParser:
    """Make a reader of the command line that all scripts have, for those that take more."""
    found = argparse.ArgumentParser(description=description)
    found.add_argument("--quick", action="store_true", help="few draws, to see that it runs")
    return found


def arguments(description: str) -> argparse.Namespace:
    """Parse the command line of a script."""
    return parser(description).parse_args()


def sample(model: pm.Model, step: Callable[[], Any], **options: Any) -> Run:
    """Run ``pm.sample`` quietly and in this process; ``step`` builds the step method."""
    logging.getLogger("pymc").setLevel(logging.ERROR)
    start = time.perf_counter()
    with model, warnings.catch_warnings():
        # Few chains, and chains that are wrong on purpose: PyMC warns of both.
        warnings.simplefilter("ignore", UserWarning)
        idata = pm.sample(
            step=step(), cores=1, progressbar=False, compute_convergence_checks=False, **options
        )
    seconds = time.perf_counter() - start
    groups = [
        {name: np.asarray(values) for name, values in idata[group].data_vars.items()}
        for group in ("posterior", "sample_stats")
    ]
    return Run(*groups, seconds)


def rows(minibatch: bool, *arrays: np.ndarray, batch_size: int = 100) -> tuple[list, dict]:
    """Data as a model takes them, and the keywords of the observed variable."""
    if not minibatch:
        return list(arrays), {}
    batch = pm.Minibatch(*arrays, batch_size=batch_size)
    batch = batch if isinstance(batch, list | tuple) else [batch]
    return list(batch), {"total_size": len(arrays[0])}


def flat(draws: Mapping[str, np.ndarray], names: Sequence[str]) -> np.ndarray:
    """Entries of some variables side by side: ``(chain, draw, entry)``."""
    arrays = [np.asarray(draws[name]) for name in names]
    return np.concatenate([a.reshape(*a.shape[:2], -1) for a in arrays], axis=-1)


def histogram(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Share of the values in each bin."""
    return np.histogram(values, bins=edges)[0] / values.size


def total_variation(p: np.ndarray, q: np.ndarray) -> float:
    """Half the summed difference of two vectors of probabilities."""
    return 0.5 * float(np.abs(p - q).sum())


def long_run_variance(values: np.ndarray, *, batches: int) -> float:
    """Variance of a single value times its autocorrelation time in draws, by batch means.

    ``values`` is ``(chain, draw)``; each chain is cut into ``batches``. ArviZ cuts the sum of
    autocorrelations off where they turn negative, which overestimates it for lightly damped chains.
    """
    length = values.shape[1] // batches
    means = values[:, : batches * length].reshape(-1, length).mean(axis=1)
    return float(length * means.var(ddof=1))


def effective_samples(draws: np.ndarray) -> float:
    """Effective samples of the entry of ``(chain, draw, entry)`` that has the fewest.

    Both for its mean and for its squared distance from it: lightly damped chains oscillate, which
    makes their means better than independent draws would, and their widths worse.
    """
    centered = draws - draws.mean(axis=(0, 1))
    sizes = [(ess(entry), ess(entry**2)) for entry in np.moveaxis(centered, -1, 0)]
    return float(np.min(sizes))


def mcse(values: np.ndarray) -> float:
    """Monte Carlo standard error of the mean of ``(chain, draw)``."""
    return float(np.sqrt(long_run_variance(values, batches=25) / values.size))


def table(title: str, header: list[str], rows: list[list[Any]]) -> None:
    """Print a table in Markdown."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(len(row[i]) for row in [header, *cells]) for i in range(len(header))]
    print(f"\n{title}\n")
    for row in [header, ["-" * width for width in widths], *cells]:
        print("| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |")


def report(name: str, checks: list[Check], *, quick: bool, **figures: Any) -> None:
    """Print which checks passed and write them, with further figures, to ``results/NAME.json``.

    Quick runs print only: their figures are not meant to be kept.
    """
    rows = [[c.what, c.found, c.asked, "pass" if c.passed else "MISS"] for c in checks]
    table(f"{name}: asked for", ["what", "found", "asked", ""], rows)
    if quick:
        return
    RESULTS.mkdir(exist_ok=True)
    figures["checks"] = [check._asdict() for check in checks]
    text = json.dumps(_plain(figures), indent=1, allow_nan=False)
    (RESULTS / f"{name}.json").write_text(text + "\n")


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.4g}"
    return str(value)


def _plain(value: Any) -> Any:
    """Only what JSON knows; it has no infinity and no NaN."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None if np.isnan(value) else str(value)
    return value


def set_step_size(step: Any, step_size: float | Any, **parameters: float) -> None:
    """Have the chains of a step begin with another step size or schedule, and other parameters."""
    schedule = step_size if callable(step_size) else pmg.ConstantSchedule(step_size)
    settings = step.sampler.settings
    step.sampler.settings = replace(
        settings, schedule=schedule, parameters={**settings.parameters, **parameters}
    )

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What a step says while it works: lines of its work, and columns of PyMC's progress bar."""

from __future__ import annotations

import logging
import math
import sys

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rich.progress import TextColumn
from rich.table import Column

from pymc_geodesic.stages import log

__all__ = [
    "Shown",
    "Update",
    "log_above_the_progress_bar",
    "mean_text",
    "progress_columns",
    "progress_updates",
]


type Update = Callable[[Mapping[str, Any]], dict[str, Any]]


"""Turns the statistics of a draw into what the columns show."""


# Number of draws, of all chains, over which a shown mean is taken; its largest standard error.
AVERAGED, LARGEST_ERROR = 500, 0.2


class Shown(NamedTuple):
    """A statistic to show: its column's header, its key in the bar and its format.

    Keys of steps that can be combined in a compound must differ. An ``averaged`` statistic is
    shown as a mean over the last draws, and as a question mark while its error is too large.
    """

    statistic: str
    header: str
    key: str
    format: str = ""
    averaged: bool = False


def progress_columns(
    shown: Sequence[Shown], n_chains: int
) -> tuple[list[TextColumn], dict[str, list]]:
    """Return the columns, divergences first, and the initial value of each chain."""
    columns = [_column("Divergences", "{task.fields[divergences]}")]
    columns += [_column(s.header, f"{{task.fields[{s.key}]:{s.format}}}") for s in shown]
    keys = ["divergences", *(s.key for s in shown)]
    return columns, {key: [0] * n_chains for key in keys}


def _column(header: str, text: str) -> TextColumn:
    return TextColumn(text, table_column=Column(header, ratio=1))


def progress_updates(shown: Sequence[Shown]) -> tuple[Update]:
    """Return the function that turns a draw's statistics into the values of the columns."""
    divergences = 0
    recent: dict[str, deque[float]] = {s.key: deque(maxlen=AVERAGED) for s in shown if s.averaged}

    def update(stats: Mapping[str, Any]) -> dict[str, Any]:
        nonlocal divergences
        divergences += stats["diverging"]
        values = {s.key: stats.get(s.statistic, np.nan) for s in shown}
        for key, window in recent.items():
            values[key] = _averaged(window, values[key])
        return {"divergences": divergences, "failing": divergences > 0, **values}

    return (update,)


def _averaged(window: deque, value: float) -> str:
    """Add the value to a window and return its mean, with the error of independent values."""
    if math.isfinite(value):
        window.append(value)
    return mean_text(window)


def mean_text(values: Collection[float] | np.ndarray) -> str:
    """Write the mean of finite values, or a question mark while its error is too large."""
    numbers = np.fromiter(values, float, len(values))
    if len(numbers) < 2:
        return "?"
    with np.errstate(over="ignore", invalid="ignore"):
        mean, error = np.mean(numbers), np.std(numbers) / math.sqrt(len(numbers))
    return f"{mean:.2f}" if error < LARGEST_ERROR else "?"


class _PresentStderr:
    """The stream that is the standard error at the time of writing.

    While a progress bar is shown, it is a stream of rich, which writes above the bar.
    """

    def write(self, text: str) -> int:
        return sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()


def log_above_the_progress_bar() -> None:
    """Keep PyMC's progress bar from overwriting lines of PyMC's logger.

    The logger's handler writes directly to the terminal, into the bar. If the standard error is not
    a terminal, nothing is overwritten and nothing changes.
    """
    terminal = sys.__stderr__
    if terminal is None or not terminal.isatty():
        return
    for handler in log.handlers:
        if isinstance(handler, logging.StreamHandler) and handler.stream is terminal:
            handler.setStream(_PresentStderr())

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What is said while a step works: columns of PyMC's progress bar, and one line of a run."""

from __future__ import annotations

import logging
import math
import sys
import time

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np

from pymc.progress_bar.rich_progress import default_progress_theme
from rich.console import Console
from rich.progress import BarColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Column
from rich.text import Text

from pymc_geodesic.sampling.run import Arrays
from pymc_geodesic.stages import log, shown_by

__all__ = [
    "Progress",
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


TEMPERATURE = "configurational_temperature"


class Progress:
    """A line with draws, transitions per second, temperature, divergences if any, and the time.

    In place of the phase it names the stage before, between and after draws that takes time.
    Without divergences it fits into 80 columns, in which the time would be cut otherwise.

    Parameters
    ----------
    n_draws : int
        Draws of a chain, including the tuning phase.
    visible : bool
        Whether to show it.
    """

    def __init__(self, n_draws: int, *, visible: bool) -> None:
        console = Console(theme=default_progress_theme, stderr=True)
        if visible and console.is_jupyter and find_spec("ipywidgets") is None:
            # Rich would warn of it at every refresh.
            log.info("No progress bar is shown: in Jupyter it needs the package ipywidgets")
            visible = False
        self._progress = Bar(
            TextColumn("{task.description}"),
            BarColumn(bar_width=10),
            TextColumn("{task.completed}/{task.total} draws{task.fields[status]}"),
            _Time(compact=True, elapsed_when_finished=True),
            console=console,
            disable=not visible,
        )
        self._phase, self._status = "Compiling", ""
        self._task = self._progress.add_task(self._phase, total=n_draws, status="")
        self._context = ExitStack()
        self._n_transitions, self._n_divergences = 0, 0
        self._seconds, self._skipped = 0.0, 0
        self._lines: dict[int, TaskID] = {}
        self._diverged: dict[int, int] = {}
        self._last: float | None = None
        self._temperatures: list[np.ndarray] = []

    def __enter__(self) -> Self:
        log_above_the_progress_bar()
        self._context.enter_context(shown_by(self._show))
        self._progress.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is not None and not self._progress.tasks[0].completed:
            self.hide()
        self._progress.__exit__(kind, error, traceback)
        self._context.close()

    def hide(self) -> None:
        """Take the line away, because another is shown in its place."""
        self._progress.live.transient = True
        self._progress.stop()

    def skip(self, n_draws: int) -> None:
        """Count draws of an earlier process."""
        self._skipped = n_draws
        self._progress.update(self._task, advance=n_draws)

    def watch(self, chains: range, n_draws: int, statistics: Arrays) -> None:
        """Count draws of some chains that a worker has made, on separate lines."""
        diverged = statistics["diverging"].sum(axis=1)
        for chain, n_divergences in zip(chains, diverged, strict=True):
            if chain not in self._lines:
                total = self._progress.tasks[0].total
                self._lines[chain] = self._progress.add_task(
                    f"  chain {chain}", total=total, status="", completed=self._skipped
                )
                self._diverged[chain] = 0
            self._diverged[chain] += int(n_divergences)
            status = f", {self._diverged[chain]} divergences"
            self._progress.update(self._lines[chain], advance=n_draws, status=status)

    def update(self, statistics: Arrays, n_draws: int, *, phase: str, thin: int) -> None:
        """Count draws of all chains, and show their statistics."""
        now = time.perf_counter()
        if self._last is not None:
            # The first segment is left out, because it compiles kernels.
            self._seconds += now - self._last
            self._n_transitions += thin * int(statistics.get("n_steps", np.ones(1)).sum())
        self._last = now
        self._n_divergences += int(statistics["diverging"].sum())
        status = []
        if self._seconds:
            status.append(f"{_short(self._n_transitions / self._seconds)} transitions/s")
        if TEMPERATURE in statistics:
            status.append(f"temperature {self._temperature(statistics[TEMPERATURE])}")
        if self._n_divergences:
            status.append(f"{self._n_divergences} divergences")
        self._phase, self._status = phase, "".join(f", {part}" for part in status)
        self._progress.update(self._task, description=phase, advance=n_draws, status=self._status)

    def end(self) -> None:
        """Show that no further draws follow."""
        for task in self._progress.tasks:
            self._progress.update(task.id, total=task.completed)

    def _show(self, stage: str) -> None:
        """Name a stage in place of the phase, until it ends."""
        status = "" if stage else self._status
        self._progress.update(self._task, description=stage or self._phase, status=status)

    def _temperature(self, values: np.ndarray) -> str:
        self._temperatures = [*self._temperatures[-RECENT:], values]
        recent = np.concatenate([x.ravel() for x in self._temperatures])
        return mean_text(recent[np.isfinite(recent)])


class _Time(TimeRemainingColumn):
    """The time that is left; before the first draw, which nothing tells, that so far."""

    def render(self, task: Task) -> Text:
        if task.completed:
            return super().render(task)
        minutes, seconds = divmod(int(task.elapsed or 0), 60)
        return Text(f"{minutes:02d}:{seconds:02d}", style="progress.elapsed")


RECENT = 10
"""Segments over which a temperature is averaged."""


def _short(rate: float) -> str:
    return f"{rate:.0f}" if rate < 10_000 else f"{rate / 1000:.0f}k"

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Lines that are logged while PyMC shows its progress bar."""

from __future__ import annotations

import io
import logging
import re
import sys

import pymc as pm
import pytest

from rich.console import Console
from rich.progress import Progress

import pymc_geodesic as pmg

from pymc_geodesic.kernel.jax.kernel_function import KernelFunction
from pymc_geodesic.stages import log
from pymc_geodesic.step_methods.progress import log_above_the_progress_bar


class Terminal(io.StringIO):
    def isatty(self):
        return True


def in_terminal(monkeypatch) -> logging.StreamHandler:
    """Give PyMC's logger what it has in a terminal: a handler that writes there itself.

    No fixture: pytest replaces the standard error again between its set-up and the test.
    """
    terminal = Terminal()
    monkeypatch.setattr(sys, "__stderr__", terminal)
    monkeypatch.setattr(sys, "stderr", terminal)
    handler = logging.StreamHandler()
    monkeypatch.setattr(log, "handlers", [handler])
    monkeypatch.setattr(log, "level", logging.INFO)
    log.manager._clear_cache()
    return handler


def visible_lines(written: str) -> list[str]:
    """Read what a terminal shows that knows the few codes of a progress bar."""
    lines, row = [""], 0
    for code, text in re.findall(r"(\x1b\[[0-9;?]*[A-Za-z]|\r|\n)|([^\x1b\r\n]+)", written):
        if code == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif code.endswith("A"):
            row = max(0, row - int(code[2:-1] or 1))
        elif code == "\x1b[2K":
            lines[row] = ""
        elif text:
            lines[row] += text
    return lines


@pytest.mark.parametrize("above", [True, False])
def test_lines_stay_visible_above_the_bar(monkeypatch, above):
    """Without the call the bar overwrites the line: this is what the call is for."""
    in_terminal(monkeypatch)
    if above:
        log_above_the_progress_bar()
    console = Console(file=sys.stderr, force_terminal=True, width=60)
    with Progress(console=console, auto_refresh=False) as progress:
        task = progress.add_task("Sampling", total=3)
        progress.add_task("Sampling", total=3)
        for _ in range(3):
            log.info("tuned itself")
            progress.update(task, advance=1, refresh=True)
    shown = visible_lines(sys.__stderr__.getvalue())
    assert sum("tuned itself" in line for line in shown) == (3 if above else 0)
    assert sum("Sampling" in line for line in shown) == 2 or not above


def test_without_a_bar_lines_go_where_they_went(monkeypatch):
    in_terminal(monkeypatch)
    log_above_the_progress_bar()
    log.info("tuned itself")
    assert sys.__stderr__.getvalue() == "tuned itself\n"


def test_streams_that_are_no_terminal_are_left_alone(monkeypatch):
    handler = in_terminal(monkeypatch)
    monkeypatch.setattr(Terminal, "isatty", lambda self: False)
    stream = handler.stream
    log_above_the_progress_bar()
    assert handler.stream is stream


@pytest.mark.parametrize(("method", "given"), [(pmg.SGNHT, {"diffusion": 1.0}), (pmg.GMC, {})])
def test_compiling_is_said_before_it_begins(method, given, caplog, monkeypatch):
    said, create = [], KernelFunction.__init__

    def compiled(self, *arguments, **options):
        said.append("Compiling" in caplog.text)
        create(self, *arguments, **options)

    monkeypatch.setattr(KernelFunction, "__init__", compiled)
    with caplog.at_level(logging.INFO, logger="pymc"), pm.Model():
        pm.Normal("x")
        method(step_size=0.1, **given)
    assert said
    assert all(said)

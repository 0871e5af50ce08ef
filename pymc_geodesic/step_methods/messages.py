#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Lines that describe what a step is doing, and stay visible above PyMC's progress bar."""

from __future__ import annotations

import logging
import sys

from pymc_geodesic.sampling.log import log

__all__ = ["log_above_the_progress_bar"]


class _PresentStderr:
    """The stream that is the standard error when something is written.

    While a progress bar is shown that is a stream of rich's, which writes above the bar.
    """

    def write(self, text: str) -> int:
        return sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()


def log_above_the_progress_bar() -> None:
    """Keep PyMC's progress bar from overwriting lines of PyMC's logger.

    The logger's handler writes to the terminal itself, into the bar. Where the standard error is no
    terminal nothing is overwritten, and everything stays as it is.
    """
    terminal = sys.__stderr__
    if terminal is None or not terminal.isatty():
        return
    for handler in log.handlers:
        if isinstance(handler, logging.StreamHandler) and handler.stream is terminal:
            handler.setStream(_PresentStderr())

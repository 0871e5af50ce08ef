#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Lines that describe the work of a step and stay visible above PyMC's progress bar."""

from __future__ import annotations

import logging
import sys

from pymc_geodesic.sampling.log import log

__all__ = ["log_above_the_progress_bar"]


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

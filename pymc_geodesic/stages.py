#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What a run is doing, told to whoever shows it, and the logger of all messages."""

from __future__ import annotations

import logging

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["log", "shown_by", "stage"]

# Who shows the stage, and the stages that others interrupt.
_SHOW: ContextVar[Callable[[str], None] | None] = ContextVar("show", default=None)
_NOW: ContextVar[str] = ContextVar("now", default="")


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Show what is done inside of the context, and afterwards again what was shown before.

    Functions that take seconds have it as a decorator. Without anyone who shows it, it does
    nothing.

    Parameters
    ----------
    name : str
        For the progress bar: a participle and an object.
    """
    if (show := _SHOW.get()) is None:
        yield
        return
    before = _NOW.get()
    token = _NOW.set(name)
    show(name)
    try:
        yield
    finally:
        _NOW.reset(token)
        show(before)


@contextmanager
def shown_by(show: Callable[[str], None]) -> Iterator[None]:
    """Tell a function the stages that begin in the context; an empty name is the end of all."""
    shown, now = _SHOW.set(show), _NOW.set("")
    try:
        yield
    finally:
        _SHOW.reset(shown)
        _NOW.reset(now)


# PyMC's own logger, so that silencing PyMC silences these lines too.
log = logging.getLogger("pymc")

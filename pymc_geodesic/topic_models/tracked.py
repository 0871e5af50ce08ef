#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A progress bar for what takes long after sampling."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.util import find_spec

from rich.console import Console
from rich.progress import track

__all__ = ["tracked"]


def tracked[T](items: Iterable[T], what: str, *, visible: bool) -> Iterator[T]:
    """Go through items, and show how far; only in a terminal or a notebook that can show it.

    Parameters
    ----------
    items : iterable
        What to go through.
    what : str
        A few words for the bar.
    visible : bool
        Whether to show it.
    """
    console = Console(stderr=True)
    can_show = console.is_terminal or (console.is_jupyter and find_spec("ipywidgets") is not None)
    yield from track(
        items, what, console=console, transient=True, disable=not visible or not can_show
    )

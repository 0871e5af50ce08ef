#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What the step methods show in PyMC's progress bar."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rich.progress import TextColumn
from rich.table import Column

__all__ = ["Shown", "progress_columns", "progress_updates"]


class Shown(NamedTuple):
    """A statistic to show: its column's header, its key in the bar and its format.

    Keys of steps that may stand side by side in a compound must differ.
    """

    statistic: str
    header: str
    key: str
    format: str


def progress_columns(
    shown: Sequence[Shown], n_chains: int
) -> tuple[list[TextColumn], dict[str, list]]:
    """Make the columns, divergences first, and the value with which each chain starts."""
    columns = [_column("Divergences", "{task.fields[divergences]}")]
    columns += [_column(s.header, f"{{task.fields[{s.key}]:{s.format}}}") for s in shown]
    keys = ["divergences", *(s.key for s in shown)]
    return columns, {key: [0] * n_chains for key in keys}


def _column(header: str, text: str) -> TextColumn:
    return TextColumn(text, table_column=Column(header, ratio=1))


def progress_updates(
    shown: Sequence[Shown],
) -> tuple[Callable[[Mapping[str, Any]], dict[str, Any]]]:
    """Make the function that turns a draw's statistics into what the columns show."""
    divergences = 0

    def update(stats: Mapping[str, Any]) -> dict[str, Any]:
        nonlocal divergences
        divergences += stats["diverging"]
        values = {s.key: stats.get(s.statistic, np.nan) for s in shown}
        return {"divergences": divergences, "failing": divergences > 0, **values}

    return (update,)

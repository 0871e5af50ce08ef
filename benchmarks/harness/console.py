#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The command line of the scripts, and the tables that they print."""

from __future__ import annotations

import argparse
import math

from typing import Any

__all__ = ["arguments", "cell", "parser", "table"]


def parser(description: str) -> argparse.ArgumentParser:
    """Make a reader of the command line that all scripts have, for those that take more."""
    found = argparse.ArgumentParser(description=description)
    found.add_argument("--quick", action="store_true", help="few draws, to see that it runs")
    return found


def arguments(description: str) -> argparse.Namespace:
    """Parse the command line of a script."""
    return parser(description).parse_args()


def table(title: str, header: list[str], rows: list[list[Any]]) -> None:
    """Print a table in Markdown."""
    cells = [[cell(value) for value in row] for row in rows]
    widths = [max(len(row[i]) for row in [header, *cells]) for i in range(len(header))]
    print(f"\n{title}\n")
    for row in [header, ["-" * width for width in widths], *cells]:
        print("| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |")


def cell(value: Any) -> str:
    """Return the text of a value in a table."""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.4g}"
    return str(value)

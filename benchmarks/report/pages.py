#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Marks in Markdown pages, and what is filled in between them.

``<!--fig KEY-->2.28<!--/fig-->`` is a figure of a record, see :mod:`benchmarks.report.lookup`. Each
of these stands on a line of its own, and so does its end, such as ``<!--/table-->``:
``<!--table NAME-->`` or, for the third of several tables, ``<!--table NAME 3-->``;
``<!--about NAME-->``, what was asked, when and how; ``<!--summary ROOM-->``, the claims of a room;
``<!--totals-->``, how many there are; ``<!--measured-->``, the dates of what a page quotes.
"""

from __future__ import annotations

import re

from pathlib import Path
from typing import Any

from benchmarks.harness.console import cell
from benchmarks.harness.declared import ROOT
from benchmarks.report import summary
from benchmarks.report.lookup import figure, like
from benchmarks.report.store import ROOMS

__all__ = ["filled", "pages", "quoted", "unfinished"]

FIGURE = re.compile(r"<!--fig (.+?)-->(.*?)<!--/fig-->", re.DOTALL)
TABLE = re.compile(r"<!--table (\w+)")
BLOCK = re.compile(r"<!--(table|about|summary|totals|measured)( .+?)?-->\n.*?<!--/\1-->", re.DOTALL)


def pages() -> list[Path]:
    """Return the pages that quote figures."""
    rooms = [page for room in ROOMS for page in sorted((ROOT / "benchmarks" / room).glob("*.md"))]
    others = [ROOT / "README.md", ROOT / "benchmarks" / "README.md", ROOT / "paper" / "paper.md"]
    docs = sorted((ROOT / "docs").glob("*.md"))
    return [page for page in [*others, *rooms, *docs] if page.exists()]


def filled(text: str, records: dict[str, dict[str, Any]]) -> str:
    """Fill in everything that is marked on a page."""
    names = sorted({*quoted(text), *TABLE.findall(text)})
    text = FIGURE.sub(
        lambda m: f"<!--fig {m[1]}-->{like(figure(records, m[1]), m[2])}<!--/fig-->", text
    )

    def block(found: re.Match[str]) -> str:
        kind, argument = found[1], (found[2] or "").strip()
        body = {
            "table": lambda: _table(records, argument),
            "about": lambda: summary.about(records[argument]),
            "summary": lambda: summary.of_room(records, argument),
            "totals": lambda: summary.totals(records),
            "measured": lambda: _measured(records, names),
        }[kind]()
        return f"<!--{kind}{found[2] or ''}-->\n{body}\n<!--/{kind}-->"

    return BLOCK.sub(block, text)


def quoted(text: str) -> list[str]:
    """Return the names of the records that a page quotes."""
    return sorted({found[1].partition("::")[0] for found in FIGURE.finditer(text)})


def unfinished(text: str) -> list[str]:
    """Return marks without an end, or ends without a beginning."""
    rest = FIGURE.sub("", BLOCK.sub("", text))
    return re.findall(r"<!--/?(?:fig|table|about|summary|totals|measured)[^>]*-->", rest)


def _table(records: dict[str, dict[str, Any]], argument: str) -> str:
    """Write a table of a record in Markdown."""
    name, _, number = argument.partition(" ")
    tables = records[name]["tables"]
    if len(tables) < int(number or 1):
        raise KeyError(f"`table {argument}`: {name}.json has {len(tables)}. Change the page.")
    found = tables[int(number or 1) - 1]
    header, *rows = [[_text(value) for value in row] for row in (found["header"], *found["rows"])]
    lines = [header, ["---"] * len(header), *rows]
    # A blank line on both sides: otherwise the marks would belong to the table.
    return "\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _text(value: Any) -> str:
    return "" if value is None else cell(value).replace("|", "\\|")


def _measured(records: dict[str, dict[str, Any]], names: list[str]) -> str:
    """Say when the figures of a page were measured."""
    dates = sorted(records[name]["date"] for name in names)
    days = f"on {dates[0]}" if dates[0] == dates[-1] else f"from {dates[0]} to {dates[-1]}"
    return f"The figures on this page were measured {days}."

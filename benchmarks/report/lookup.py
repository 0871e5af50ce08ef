#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Where a quoted figure stands in a record, and how it is written in a text."""

from __future__ import annotations

import re

from decimal import Decimal
from typing import Any

__all__ = ["figure", "like"]

NUMBER = re.compile(r"[-+−]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[-+]?\d+)?")


def figure(records: dict[str, dict[str, Any]], key: str) -> str:
    """Return the text of a figure in the records.

    Parameters
    ----------
    records : dict
        All records, by name.
    key : str
        ``record::row::column``, for a cell of its tables. The row is known by its first cells,
        joined by `` & ``, the column by its header. ``record::claim`` is the figure of a claim.
        ``[i]`` at the end takes the i-th number of a cell, and ``*100`` scales it.

    Raises
    ------
    KeyError
        If there is no such record, row or column, or more than one.
    """
    path, index, factor = _parts(key)
    name, *rest = path.split("::")
    if name not in records:
        raise KeyError(f"`{key}` expected a record, got {name!r}. Run the script that makes it.")
    record = records[name]
    if len(rest) == 1:
        cells = [c["figure"] for c in record["claims"] if c["claim"] == rest[0]]
    else:
        tables = record["tables"]
        cells = [cell for table in tables for cell in _cells(table, *rest)]
    if len(cells) != 1:
        raise KeyError(f"`{key}` expected one figure in {name}.json, got {len(cells)}.")
    text = str(cells[0])
    if index is None and factor == 1:
        return text
    numbers = NUMBER.findall(text)
    return format(Decimal(_plain(numbers[index or 0])) * factor, "f")


def _parts(key: str) -> tuple[str, int | None, Decimal]:
    found = re.fullmatch(r"(.*?)(?:\[(\d+)\])?(?:\*([\d.e-]+))?", key)
    return found[1], None if found[2] is None else int(found[2]), Decimal(found[3] or 1)


def _cells(table: dict[str, Any], row: str, column: str) -> list[Any]:
    """Return the cells of a table whose row begins with some cells, in a column."""
    if column not in table["header"]:
        return []
    place = table["header"].index(column)
    first = row.split(" & ")
    rows = [r for r in table["rows"] if [str(cell) for cell in r[: len(first)]] == first]
    return [r[place] for r in rows]


def like(value: str, text: str) -> str:
    """Write a figure as the present text writes it: as many decimals, the same marks.

    Text that is not a number is replaced by the figure as it stands in the record.
    """
    numbers = NUMBER.findall(value)
    if not NUMBER.fullmatch(text) or not NUMBER.fullmatch(value.strip()):
        return value if not numbers or NUMBER.fullmatch(text) is None else like(numbers[0], text)
    number = Decimal(_plain(value))
    sign = "−" if "−" in text else "-"
    body, _, exponent = text.partition("e")
    decimals = len(body.partition(".")[2])
    if exponent:
        return f"{number:.{decimals}e}".replace("e+0", "e").replace("e-0", "e-")
    found = f"{abs(number):,.{decimals}f}"
    if "," not in text and len(_plain(body).lstrip("-").partition(".")[0]) > 3:
        found = found.replace(",", "")
    if body.lstrip("-+−").startswith("."):
        found = found.removeprefix("0")
    return sign + found if number < 0 else "+" * text.startswith("+") + found


def _plain(text: str) -> str:
    return text.replace(",", "").replace("−", "-")

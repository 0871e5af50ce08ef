#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The lines of the one page, and what the pages of the rooms say of each record."""

from __future__ import annotations

from collections import Counter
from typing import Any

from benchmarks.report.store import when

__all__ = ["about", "of_room", "totals"]

HEADER = ["claim", "found", "asked", ""]
FEWEST_SEEDS = 3
WORDS = {"pass": "pass", "miss": "**miss**", "withdrawn": "withdrawn", "not run": "not run", "": ""}


def of_room(records: dict[str, dict[str, Any]], room: str) -> str:
    """Write the claims of a room, one table for each record."""
    parts = []
    for record in records.values():
        if room_of(record) != room:
            continue
        lines = [HEADER, ["---"] * len(HEADER)]
        lines += [
            [claim["claim"], claim["figure"], claim["asked"], WORDS[claim["verdict"]]]
            for claim in record["claims"]
        ]
        table = "\n".join("| " + " | ".join(_escaped(line)) + " |" for line in lines)
        parts.append(f"*{record['question']}* `{record['command']}`, {when(record)}\n\n{table}\n")
    return "\n" + "\n".join(parts)


def room_of(record: dict[str, Any]) -> str:
    """Return the room of a record, whose script may lie elsewhere."""
    return record.get("room") or record["script"].split("/")[1]


def totals(records: dict[str, dict[str, Any]]) -> str:
    """Count the verdicts, and the records by how they were measured."""
    count = Counter(claim["verdict"] for record in records.values() for claim in record["claims"])
    asked = sum(count.values()) - count[""]
    repeated = sum(len(record["seeds"]) >= FEWEST_SEEDS for record in records.values())
    return (
        f"{asked} figures were asked for: {count['pass']} pass, {count['miss']} miss, "
        f"{count['withdrawn']} are withdrawn and {count['not run']} have not been run. "
        f"{count['']} more are reported without a threshold. Of {len(records)} records {repeated} "
        "have three seeds or more."
    )


def about(record: dict[str, Any]) -> str:
    """Say what was asked, and how it was measured."""
    parts = [f"*{record['question']}*"]
    if record["asked"]:
        parts.append(f"Asked, fixed on {record['fixed']}: {record['asked']}")
    if record["changed"]:
        parts.append(f"Changed after a run, which counts as a miss: {record['changed']}")
    seeds = record["seeds"]
    parts.append(f"Seeds: {', '.join(map(str, seeds)) if len(seeds) < 7 else len(seeds)}.")
    parts.append(f"Measured: {when(record)}.")
    if record["date"]:
        load = f", load {record['load']}" if record["load"] not in ("", None) else ""
        parts.append(f"{record['cores']} cores{load}.")
    return "\n" + " ".join(parts) + f"\n`{record['command']}`\n"


def _escaped(line: list[str]) -> list[str]:
    return [text.replace("|", "\\|") for text in line]

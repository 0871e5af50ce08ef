#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Records of results, and whether the code that they measured is still the same."""

from __future__ import annotations

import ast
import json

from pathlib import Path
from typing import Any

from benchmarks.harness.declared import ROOT, Benchmark, fingerprint

__all__ = ["ROOMS", "current", "declared", "read", "scripts", "when"]

ROOMS = ("correctness", "speed", "scale", "tuning", "papers", "topics", "diagnostics")
LATER = "before later changes"


def read(folder: Path = ROOT / "benchmarks" / "results") -> dict[str, dict[str, Any]]:
    """Read all records, by name."""
    files = sorted(folder.glob("*.json"))
    return {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in files}


def current(record: dict[str, Any]) -> bool:
    """Whether the code that a record depends on has not changed since, nor moved elsewhere."""
    try:
        now = fingerprint(record["measures"], leaves_out=record.get("leaves_out", ()))
    except ValueError:
        return False
    return bool(record["code"]) and record["code"] == now


def when(record: dict[str, Any]) -> str:
    """Say when a record was measured, at which commit, and whether that is outdated."""
    if not record["date"]:
        return "not run"
    parts = [
        record["date"],
        f"commit {record['commit']}" if record["commit"] else "commit not noted",
    ]
    return ", ".join(parts if current(record) else [*parts, LATER])


def scripts() -> dict[str, Path]:
    """Return the scripts that declare a measurement, by name."""
    files = [file for room in ROOMS for file in (ROOT / "benchmarks" / room).glob("*.py")]
    return {f.stem: f for f in sorted(files) if "BENCHMARK = Benchmark(" in f.read_text("utf-8")}


def declared(file: Path) -> Benchmark:
    """Read what a script declares, without running it."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "BENCHMARK":
            call = node.value
            return Benchmark(**{given.arg: _value(given.value) for given in call.keywords})
    raise ValueError(f"{file} expected `BENCHMARK = Benchmark(...)` at its top.")


def _value(node: ast.expr) -> Any:
    """Read a literal, or ``tuple(range(...))``."""
    if isinstance(node, ast.Call):
        return tuple(range(*(ast.literal_eval(given) for given in node.args[0].args)))
    return ast.literal_eval(node)

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Records of results, and the scripts that make them."""

from __future__ import annotations

import ast
import json

from pathlib import Path
from typing import Any

from benchmarks.harness.declared import ROOT, Benchmark

__all__ = ["ROOMS", "declared", "read", "scripts", "when"]

ROOMS = ("correctness", "speed", "scale", "tuning", "papers", "topics", "diagnostics", "peers")


def read(folder: Path = ROOT / "benchmarks" / "results") -> dict[str, dict[str, Any]]:
    """Read all records, by name."""
    files = sorted(folder.glob("*.json"))
    return {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in files}


def when(record: dict[str, Any]) -> str:
    """Say when a record was measured, and at which commit."""
    if not record["date"]:
        return "not run"
    commit = f"commit {record['commit']}" if record["commit"] else "commit not noted"
    return f"{record['date']}, {commit}"


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

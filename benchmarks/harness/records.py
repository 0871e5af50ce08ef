#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Files of results: what was found, where, with what, and how to find it again."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys

from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness.console import table
from benchmarks.harness.declared import ROOT, Benchmark

__all__ = ["PARTS", "RESULTS", "TRUTHS", "Check", "earlier", "keep", "of_package", "report"]

RESULTS = ROOT / "benchmarks" / "results"
# What a long script has found so far, which counts for the code that found it.
PARTS = RESULTS / "parts"
# Moments that other programs have found and that are expensive to find: they are committed, since
# they do not depend on this package.
TRUTHS = RESULTS / "truths"
PACKAGES = ("pymc", "pytensor", "numpy", "numba", "jax", "arviz", "scipy")
PACKAGES += ("blackjax", "mici", "nutpie", "numpyro", "scikit-learn", "tomotopy", "distributed")
PACKAGES += ("gensim", "laplace-torch", "posteriors", "pymc-extras", "torch")


class Check(NamedTuple):
    """One figure that was asked for: what was found and whether it does; None if it was not run.

    A withdrawn one is shown, but says nothing: what it compares with does not hold.
    """

    what: str
    found: str
    asked: str
    passed: bool | None
    withdrawn: bool = False

    @property
    def verdict(self) -> str:
        """A word for it."""
        if self.withdrawn:
            return "withdrawn"
        return {True: "pass", False: "miss", None: "not run"}[self.passed]


def report(
    name: str, checks: Sequence[Check], *, about: Benchmark, quick: bool, **figures: Any
) -> None:
    """Print which checks passed and write a record, ``results/NAME.json``.

    Quick runs print only: their figures are not meant to be kept. ``header`` and ``rows`` make a
    table that pages can show and quote; ``tables`` are more of them, as title, header and rows.

    Parameters
    ----------
    name : str
        Of the record; that of the script, for scripts with one record.
    checks : sequence of Check
        What was asked for.
    about : Benchmark
        What the script declares.
    quick : bool
        Whether it is a short run.
    **figures
        Everything else that was found.
    """
    lines = [[c.what, c.found, c.asked, c.verdict.replace("miss", "MISS")] for c in checks]
    table(f"{name}: asked for", ["what", "found", "asked", ""], lines)
    if quick:
        return
    tables = [] if "header" not in figures else [("", figures.pop("header"), figures.pop("rows"))]
    tables += figures.pop("tables", [])
    record = {
        "name": name,
        **asdict(about),
        **surroundings(),
        "claims": [claim(check) for check in checks],
        "tables": [dict(zip(("title", "header", "rows"), each, strict=True)) for each in tables],
        "figures": figures,
    }
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(plain(record), indent=1, allow_nan=False, ensure_ascii=False)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def surroundings() -> dict[str, Any]:
    """Describe the run: its command, the commit, the machine and the packages."""
    spec = sys.modules["__main__"].__spec__
    module = spec.name if spec else "benchmarks"
    return {
        "script": module.replace(".", "/") + ".py",
        "command": " ".join(["python -m", module, *sys.argv[1:]]),
        "date": date.today().isoformat(),
        "commit": commit(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "seconds": round(sum(os.times()[:4])),
        "machine": f"{platform.system()} {platform.machine()}",
        "versions": {"python": platform.python_version(), **installed()},
    }


def commit() -> str:
    """Return the present commit, with a plus if files differ from it; empty without git."""
    # Records and pictures are what runs write, not what they run.
    return _state("HEAD", ".", ":!benchmarks/results", ":!docs/_static")


def of_package() -> str:
    """Return git's name of the package's code, with a plus if files differ from it."""
    return _state("HEAD:pymc_geodesic", "pymc_geodesic")


def _state(name: str, *paths: str) -> str:
    commands = ["rev-parse", "--short=10", name], ["status", "--porcelain", "-uno", "--", *paths]
    try:
        found, changed = (
            subprocess.run(["git", *given], cwd=ROOT, capture_output=True, text=True, check=True)
            for given in commands
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return found.stdout.strip() + "+" * bool(changed.stdout.strip())


def installed() -> dict[str, str]:
    """Return the versions of the packages that are there."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def claim(check: Check) -> dict[str, str]:
    """Turn a check into a line of the summary."""
    return {
        "claim": check.what,
        "figure": check.found,
        "asked": check.asked,
        "verdict": check.verdict,
    }


def earlier(name: str) -> dict[str, Any]:
    """Return the figures of a record that an earlier run of the script has written, if any."""
    file = RESULTS / f"{name}.json"
    record = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return record.get("figures", {})


def keep(path: Path, found: Any) -> None:
    """Write what a script has found so far."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(plain(found)) + "\n", encoding="utf-8")


def plain(value: Any) -> Any:
    """Only what JSON knows; it has no infinity and no NaN."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None if np.isnan(value) else str(value)
    return value

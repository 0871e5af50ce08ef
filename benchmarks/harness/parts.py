#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Long measurements in parts, each run by itself: what has been found is not lost."""

from __future__ import annotations

import json
import re

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.harness.records import PARTS, keep, of_package

__all__ = ["part_of"]


def part_of(
    script: str,
    part: str,
    run: Callable[[], Any],
    *,
    now: bool,
    quick: bool,
    resume: bool = False,
) -> Any | None:
    """Return what a part has found: now, or in an earlier run of the same package.

    Parameters
    ----------
    script, part : str
        Names of the script and of the part.
    run : callable
        Runs the part and returns what JSON can hold.
    now : bool
        Whether to run the part; otherwise None stands for one that has not been run.
    quick : bool
        Whether it is a short run, which neither keeps nor reads anything.
    resume : bool
        Whether what an earlier run of the same code has found serves in place of running it now.
    """
    if quick:
        return run() if now else None
    code = of_package()
    path = PARTS / "_".join([script, *re.findall(r"\w+", part)])
    path = path.with_suffix(".json")
    if now and not (resume and _is_of(path, code)):
        keep(path, {"code": code, "found": run()})
    return _read(path)["found"] if _is_of(path, code) else None


def _is_of(path: Path, code: str) -> bool:
    return path.exists() and _read(path)["code"] == code


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))

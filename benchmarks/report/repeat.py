#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Run scripts again, and say which of their claims have changed.

python -m benchmarks.report.repeat [NAME ...]

Each record, or all that the README and the documentation quote, is made anew by its own command,
which writes over it. A claim that was met and is now missed ends the command with an error.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys

from typing import Any

from benchmarks.harness.declared import ROOT
from benchmarks.report import pages, store

__all__ = ["changed"]


def changed(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Say which claims of a record have another verdict, or are new or gone."""
    old, new = (
        {claim["claim"]: (claim["verdict"], claim["figure"]) for claim in record["claims"]}
        for record in (before, after)
    )
    none = ("", "nothing")
    pairs = {name: (old.get(name, none), new.get(name, none)) for name in [*old, *new]}
    return [
        f"{before['name']}: {name}: {was[0] or 'told'}, {was[1]}; now {now[0] or 'told'}, {now[1]}"
        for name, (was, now) in pairs.items()
        if was[0] != now[0] or (was == none) != (now == none)
    ]


def of_users() -> list[str]:
    """Return the records that pages outside of the benchmarks quote."""
    outside = [page for page in pages.pages() if ROOT / "benchmarks" not in page.parents]
    texts = [page.read_text(encoding="utf-8") for page in outside]
    return sorted({name for text in texts for name in pages.quoted(text)})


def main() -> None:
    """Run what is named, and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="a record")
    before = store.read()
    found = []
    for name in parser.parse_args().names or of_users():
        command = [sys.executable, *shlex.split(before[name]["command"])[1:]]
        subprocess.run(command, cwd=ROOT, check=True)
        found += changed(before[name], store.read()[name])
    print("\n".join(found) or "All claims are as they were.")
    if any("; now miss" in line for line in found):
        sys.exit(1)


if __name__ == "__main__":
    main()

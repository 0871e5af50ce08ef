#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Write the pages anew from the records, bit for bit, or say what is not as it should be.

python -m benchmarks.report             fill in the pages
python -m benchmarks.report --check     only say which pages would change
python -m benchmarks.report --release   say which quoted figures are older than the code
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.harness.declared import ROOT
from benchmarks.report import pages, store

# Pages that show all records, whatever their age.
OF_RECORDS = "benchmarks/"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--release", action="store_true", help="look for outdated figures")
    given = parser.parse_args()
    records = store.read()
    faults = []
    for page in pages.pages():
        name, text = page.relative_to(ROOT).as_posix(), page.read_text(encoding="utf-8")
        if given.release and name.startswith(OF_RECORDS):
            continue
        if given.release:
            old = [n for n in pages.quoted(text) if not store.current(records[n])]
            faults += [
                f"{name} quotes {n}, measured before later changes. Run it again." for n in old
            ]
            continue
        new = pages.filled(text, records)
        if new == text:
            continue
        if given.check:
            faults.append(f"{name} is not what the records say. Run `make bench-report`.")
        else:
            page.write_text(new, encoding="utf-8")
            print(f"{name} is written anew.")
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()

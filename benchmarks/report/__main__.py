#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Write the pages anew from the records, bit for bit, or say what is not as it should be.

python -m benchmarks.report             fill in the pages
python -m benchmarks.report --check     only say which pages would change
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.harness.declared import ROOT
from benchmarks.report import pages, store


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    given = parser.parse_args()
    records = store.read()
    faults = []
    for page in pages.pages():
        name, text = page.relative_to(ROOT).as_posix(), page.read_text(encoding="utf-8")
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

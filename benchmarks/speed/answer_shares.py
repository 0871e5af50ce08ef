#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Where the seconds of `answer` go: how much of each figure is work of other packages.

A timer reads the stack every five milliseconds of the processor, and gives the time since it read
last to what the stack says is being done. A target is out of reach of this package where others
alone take longer, for importing, rewriting, compiling and checking.

    python -m benchmarks.speed.answer_shares [--quick] [--only NAME ...]
"""

from __future__ import annotations

import compileall
import json
import signal
import sys
import tempfile
import time

from collections import defaultdict
from importlib.util import find_spec
from types import FrameType
from typing import Any

from benchmarks.harness.declared import Benchmark
from benchmarks.harness.processes import in_a_process
from benchmarks.speed.answer import ASKED, MEASUREMENTS, MOST_SECONDS, TOLD

BENCHMARK = Benchmark(
    question="How much of the seconds to an answer do other packages take?",
    asked="",
    fixed="2026-11-25",
    seeds=(1,),
)

INTERVAL = 0.005
IMPORTS, COMPILE, WRITE = "imports", "compilers", "graphs"
HOST, TRANSITIONS, CHECKS, REST = "gradients", "transitions", "checks", "rest"
SHARES = {
    IMPORTS: "loading modules, those of all packages",
    COMPILE: "XLA compiles",
    WRITE: "PyTensor rewrites graphs, JAX traces them",
    HOST: "gradients while tuning",
    TRANSITIONS: "calls of the kernel",
    CHECKS: "PyMC's and ArviZ's checks of convergence and summaries",
    REST: "the rest of this package and of PyMC",
}
# Parts of paths, or names of functions, by which the stack tells what is being done; the first
# that is found counts.
SIGNS = (
    (IMPORTS, ("importlib._bootstrap",)),
    (COMPILE, ("/jax/_src/compiler.py",)),
    (HOST, ("Evaluated.__call__",)),
    (WRITE, ("/pytensor/graph/", "/pytensor/compile/", "/pytensor/link/", "/jax/_src/pjit.py")),
    (WRITE, ("/jax/_src/interpreters/", "/jax/_src/export/", "/pytensor/gradient.py")),
    (CHECKS, ("/pymc/stats/", "/arviz_stats/")),
    (TRANSITIONS, ("CompiledMap.__call__",)),
)
# What a process spends on what other packages do, however little it asks of them.
OTHERS = IMPORTS, COMPILE, WRITE, CHECKS
# What measurements do before their clocks start: the regression makes its data, the others load
# modules.
BEFORE = {"sam": IMPORTS}
NAMES = ("regression", "readme", "demo", "hierarchical", "centered", "scalars", "sam")


class Shares:
    """Seconds of the processor of each kind of work, by reading the stack at intervals."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._last = time.process_time()
        self.seconds[IMPORTS] = self._last
        signal.signal(signal.SIGPROF, self._read)
        signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)

    def stop(self) -> dict[str, float]:
        """End reading; return what was found."""
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        self.seconds[REST] += time.process_time() - self._last
        return dict(self.seconds)

    def _read(self, number: int, frame: FrameType | None) -> None:
        # A long call of compiled code is interrupted when it ends: all of its time is its own.
        now = time.process_time()
        self.seconds[_kind(frame)] += now - self._last
        self._last = now


def _kind(frame: FrameType | None) -> str:
    stack = set()
    while frame is not None:
        stack |= {frame.f_code.co_filename, frame.f_code.co_qualname}
        frame = frame.f_back
    for kind, signs in SIGNS:
        if any(sign in place for sign in signs for place in stack):
            return kind
    return REST


def measured(name: str, quick: bool) -> dict[str, Any]:
    """Read shares of one measurement in this process."""
    reader = Shares()
    cpu = MEASUREMENTS[name](quick)["cpu"]
    shares = reader.stop()
    shares[BEFORE.get(name, REST)] -= sum(shares.values()) - cpu
    return {"shares": shares, "cpu": cpu}


def row(name: str, start: str, found: dict[str, Any] | None) -> list[Any]:
    """Write one line of the table."""
    if found is None:
        return [TOLD[name], start, ASKED[name][start], f"> {MOST_SECONDS}", *[""] * len(SHARES), ""]
    shares = found["shares"]
    of_others = sum(shares.get(kind, 0.0) for kind in OTHERS)
    each = [f"{shares.get(kind, 0.0):.1f}" for kind in SHARES]
    total = sum(shares.values())
    return [TOLD[name], start, ASKED[name][start], f"{total:.1f}", *each, f"{of_others:.1f}"]


def main() -> None:
    """Measure what is named, from empty folders and, where it is asked for, once more."""
    from benchmarks.harness.console import parser, table
    from benchmarks.harness.records import report

    reader = parser(__doc__)
    reader.add_argument("--measure", choices=NAMES, help="one, in this process")
    reader.add_argument("--only", nargs="*", default=list(NAMES))
    given = reader.parse_args()
    compileall.compile_dir(find_spec("pymc_geodesic").submodule_search_locations[0], quiet=1)
    rows = []
    for name in given.only:
        with tempfile.TemporaryDirectory() as cache:
            for start in ASKED[name]:
                arguments = ["--measure", name, *["--quick"] * given.quick]
                found = in_a_process(*arguments, cache=cache, most_seconds=MOST_SECONDS)
                rows.append(row(name, start, found))
                print(rows[-1], flush=True)
    header = ["what", "start", "asked", "CPU s", *SHARES, "of others"]
    table("Shares", header, rows)
    report(
        "answer_shares",
        [],
        about=BENCHMARK,
        quick=given.quick,
        header=header,
        rows=rows,
        kinds=SHARES,
    )


if __name__ == "__main__":
    if "--measure" in sys.argv:
        import logging

        chosen = sys.argv[sys.argv.index("--measure") + 1]
        logging.getLogger("pymc").setLevel(logging.ERROR)
        print(json.dumps(measured(chosen, "--quick" in sys.argv)))
    else:
        main()

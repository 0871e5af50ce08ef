#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Workers of `pm.sample` in every order of calls: forked, by a server of forks, and spawned.

A process makes draws by `pm.sample` in one process, by `pmg.sample`, asks `pmg.diagnose`, and then
makes the draws of the first call again in two workers, once by each way to start them. A round is
good if all draws are the same. A process that has not ended after five minutes counts as hung.

    python -m benchmarks.scale.forked_jax [--quick]
"""

from __future__ import annotations

import subprocess
import sys

from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.harness.console import arguments
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report

BENCHMARK = Benchmark(
    question="Do the workers of `pm.sample` draw whatever their parent has computed with JAX?",
    asked="The same draws in 20 of 20 rounds, of fork, forkserver and spawn each.",
    fixed="2026-11-26",
    seeds=(1,),
)

SECONDS = 300.0
METHODS = ("fork", "forkserver", "spawn")
SCRIPT = """
import logging, sys, warnings
import numpy as np, pymc as pm, pymc_geodesic as pmg

logging.getLogger("pymc").setLevel(logging.ERROR)
warnings.simplefilter("ignore")

def drawn(model, **options):
    with model:
        idata = pm.sample(
            step=pmg.SGNHT(), draws=20, tune=20, chains=2, random_seed=1, progressbar=False,
            compute_convergence_checks=False, **options,
        )
    return idata.posterior["slope"].values

def main():
    rng = np.random.default_rng(1)
    with pm.Model() as model:
        slope = pm.Normal("slope", shape=20)
        x, y = pm.Minibatch(rng.normal(size=(5_000, 20)), rng.normal(size=5_000), batch_size=100)
        pm.Normal("y", x @ slope, 1.0, observed=y, total_size=5_000)
    for method in sys.argv[1].split(","):
        drawn(model, cores=2, mp_ctx=method)
    expected = drawn(model, cores=1)
    idata = pmg.sample(50, tune=50, model=model, random_seed=1, progressbar=False)
    pmg.diagnose(idata, model=model)
    for method in sys.argv[1].split(","):
        good = np.array_equal(drawn(model, cores=2, mp_ctx=method), expected)
        print(method, "good" if good else "differs")

if __name__ == "__main__":
    main()
"""


def good_methods(script: Path) -> set[str]:
    """Return the ways to start workers that gave the same draws in a new process."""
    command = [sys.executable, str(script), ",".join(METHODS)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired as hung:
        return {line.split()[0] for line in (hung.stdout or b"").decode().splitlines()}
    lines = [line.split() for line in done.stdout.splitlines()]
    return {words[0] for words in lines if words[1:] == ["good"]}


def main() -> None:
    given = arguments(__doc__)
    n = 2 if given.quick else 20
    with TemporaryDirectory() as folder:
        script = Path(folder, "rounds.py")
        script.write_text(SCRIPT)
        rounds = [good_methods(script) for _ in range(n)]
    counts = {method: sum(method in found for found in rounds) for method in METHODS}
    checks = [Check(name, f"{k} of {n}", f"{n}", k == n) for name, k in counts.items()]
    report("forked_jax", checks, about=BENCHMARK, quick=given.quick)


if __name__ == "__main__":
    main()

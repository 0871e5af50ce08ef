#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How long a user waits: from a new process to an answer, import, compilation and tuning included.

Each figure comes from a process of its own. "Cold" starts from empty folders for what PyTensor,
and JAX keep, "warm" from what the cold process has left there. Wall time depends on what else
the machine does, processor time of all threads hardly, so both are reported; what is asked for is
asked of processor time. Effective sizes are the smallest over means and squares of all entries.
Each is made with every seed and reported by its median; one that takes more than MOST_SECONDS of
the processor is ended, and not made again. Byte code of the package is there, as pip leaves it.
What ``--only`` leaves out is what the run before found.

    python -m benchmarks.speed.answer [--quick] [--only NAME ...]
"""

from __future__ import annotations

import compileall
import json
import os
import resource
import statistics
import sys
import tempfile
import time

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from benchmarks.harness.declared import Benchmark
from benchmarks.harness.processes import in_a_process

BENCHMARK = Benchmark(
    question="How many seconds of the processor from a new process to an answer?",
    asked=(
        "See ASKED: the regression 9 s cold and 6 s warm, the README's example 8 s and 5 s, the "
        "demo 20 s."
    ),
    fixed="2026-11-22",
    seeds=(1, 2, 3),
)

STARTED = time.perf_counter()

# What is asked, in seconds of the processor but for the memory, in megabytes.
ASKED = {
    "regression": {"cold": 9.0, "warm": 6.0},
    "readme": {"cold": 8.0, "warm": 5.0},
    "demo": {"cold": 20.0},
    "hierarchical": {"cold": 20.0},
    # Added on 2026-11-23, after a run in which the one above had missed.
    "centered": {"cold": 20.0},
    "scalars": {"cold": 10.0},
    "second": {"cold": 1.0},
    "import": {"cold": 0.3},
    "sam": {"cold": 6.0},
    "memory": {"cold": 1_000.0},
    "topics": {"cold": 2_000.0},
}
TOLD = {
    "regression": "logistic regression, N = 1e6, d = 20, `pmg.sample()`",
    "readme": "example of von Mises-Fisher directions, to its summary",
    "demo": "`make demo`, without its picture",
    "hierarchical": "hierarchical regression, 2,000 groups, N = 1e6, not centred",
    "centered": "the same, centred, as the documentation advises for groups of many rows",
    "scalars": "100 scalar variables, to the first draw",
    "second": "second model with other data of the same form, to the first draw",
    "import": "import, beyond that of PyMC",
    "sam": "spherical admixture model, to the first draw",
    "memory": "458 MB of float32 data, peak memory beyond the import's",
    "topics": "means of 200 topics of 50,000 words kept, 20 draws, peak memory",
}
MOST_SECONDS = 180
# A process learns its seed from its environment, before it reads its command.
SEED = int(os.environ.get("BENCHMARK_SEED", "1"))


def seconds() -> dict[str, float]:
    """Time since the process began."""
    return {"cpu": time.process_time(), "wall": time.perf_counter() - STARTED}


def logistic(n_rows: int, n_columns: int = 20, seed: int = 0):
    import numpy as np

    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n_rows, n_columns))
    slope = 0.3 * rng.standard_normal(n_columns)
    y = (rng.random(n_rows) < 1 / (1 + np.exp(-x @ slope))).astype("int32")
    return x, y


def logistic_model(x, y, batch_size: int = 300):
    import pymc as pm

    with pm.Model() as model:
        xb, yb = pm.Minibatch(x, y, batch_size=batch_size)
        slope = pm.Normal("slope", 0.0, 1.0, shape=x.shape[1])
        pm.Bernoulli("y", logit_p=xb @ slope, observed=yb, total_size=len(x))
    return model


def laplace(x, y):
    """Mean and standard deviation of the posterior by Newton's method: exact for so many rows."""
    import numpy as np

    slope = np.zeros(x.shape[1])
    for _ in range(8):
        p = 1 / (1 + np.exp(-x @ slope))
        hessian = (x * (p * (1 - p))[:, None]).T @ x + np.eye(len(slope))
        slope -= np.linalg.solve(hessian, x.T @ (p - y) + slope)
    return slope, np.sqrt(np.diag(np.linalg.inv(hessian)))


def regression(quick: bool) -> dict[str, float]:
    """A million rows with the defaults of `pmg.sample`, and the error of what it answers."""
    x, y = logistic(10_000 if quick else 1_000_000)
    begun = time.process_time(), time.perf_counter()
    import pymc_geodesic as pmg

    idata = pmg.sample(model=logistic_model(x, y), random_seed=SEED, progressbar=False)
    # The data are there before the clock starts; the import of PyMC counts.
    found = {
        "cpu": time.process_time() - begun[0],
        "wall": time.perf_counter() - begun[1],
    }
    from benchmarks.harness.statistics import effective_samples

    draws = idata.posterior["slope"].values
    mean, deviation = laplace(x, y)
    found["effective"] = effective_samples(draws)
    found["bias"] = float(abs((draws.mean((0, 1)) - mean) / deviation).max())
    ratios = draws.std((0, 1)) / deviation
    return found | {"least sd": float(ratios.min()), "largest sd": float(ratios.max())}


def readme(quick: bool) -> dict[str, float]:
    """The first example, to its summary."""
    import numpy as np
    import pymc as pm

    import pymc_geodesic as pmg

    from pymc_geodesic.datasets import load_comets

    data = load_comets()
    data = data[data[:, 2] > np.cos(np.deg2rad(40))]
    with pm.Model():
        x = pm.Minibatch(data, batch_size=100)
        mu = pmg.VonMisesFisher("mu", mu=[0, 0, 1], kappa=1.0)
        kappa = pm.HalfNormal("kappa", 50.0)
        pmg.VonMisesFisher("x", mu=mu, kappa=kappa, observed=x, total_size=len(data))
        idata = pmg.sample(random_seed=SEED, progressbar=False)
    pmg.summary(idata)
    return seconds()


def demo(quick: bool) -> dict[str, float]:
    """The mixture of `make demo`, without its picture."""
    import comets

    comets.run(quick=quick)
    return seconds()


def hierarchical(*, centered: bool) -> Callable[[bool], dict[str, float]]:
    """Make a measurement of 2,000 groups and a million rows."""

    def measure(quick: bool) -> dict[str, float]:
        import numpy as np
        import pymc as pm

        import pymc_geodesic as pmg

        n_rows, n_groups = (20_000, 50) if quick else (1_000_000, 2_000)
        rng = np.random.default_rng(0)
        group = rng.integers(0, n_groups, n_rows)
        y = rng.normal(rng.normal(1.0, 0.5, n_groups)[group], 1.0)
        with pm.Model():
            gb, yb = pm.Minibatch(group, y, batch_size=1_000)
            mean, log_spread = pm.Normal("mean", 0.0, 5.0), pm.Normal("log_spread", 0.0, 1.0)
            spread = pm.math.exp(log_spread)
            if centered:
                location = pm.Normal("location", mean, spread, shape=n_groups)[gb]
            else:
                location = mean + spread * pm.Normal("offset", 0.0, 1.0, shape=n_groups)[gb]
            pm.Normal("y", location, 1.0, observed=yb, total_size=n_rows)
            idata = pmg.sample(random_seed=SEED, progressbar=False)
        found = seconds()
        from benchmarks.harness.statistics import effective_samples

        scalars = np.stack([idata.posterior[name] for name in ("mean", "log_spread")], axis=-1)
        return found | {"effective": effective_samples(scalars)}

    return measure


def scalars(quick: bool) -> dict[str, float]:
    """A regression on 100 scalar variables, to the first draw."""
    import numpy as np
    import pymc as pm

    import pymc_geodesic as pmg

    n = 10 if quick else 100
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(5_000, n)), rng.normal(size=5_000)
    with pm.Model():
        xb, yb = pm.Minibatch(x, y, batch_size=100)
        slopes = [pm.Normal(f"slope_{i}") for i in range(n)]
        location = sum(slope * xb[:, i] for i, slope in enumerate(slopes))
        pm.Normal("y", location, 1.0, observed=yb, total_size=len(y))
        pmg.sample(**FIRST)
    return seconds()


FIRST: dict[str, Any] = {
    "draws": 1,
    "tune": 1,
    "progressbar": False,
    "compute_convergence_checks": False,
}


def second(quick: bool) -> dict[str, float]:
    """Another data set of the same form in the same process, to the first draw."""
    import pymc_geodesic as pmg

    pmg.sample(model=logistic_model(*logistic(10_000)), **FIRST)
    x, y = logistic(10_000, seed=1)
    cpu, wall = time.process_time(), time.perf_counter()
    pmg.sample(model=logistic_model(x, y), **FIRST)
    return {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}


def imported(quick: bool) -> dict[str, float]:
    """What importing the package adds to importing PyMC."""
    import pymc  # noqa: F401

    cpu, wall = time.process_time(), time.perf_counter()
    import pymc_geodesic  # noqa: F401

    return {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}


def sam(quick: bool) -> dict[str, float]:
    """Measure the spherical admixture model from its step to its first draw."""
    from benchmarks.topics.sam_compile import first_draw

    found = first_draw(SEED)
    return {name: found[name] for name in ("cpu", "wall")}


def memory(quick: bool) -> dict[str, float]:
    """Peak of memory beyond that of the imports, for 458 MB of data."""
    import numpy as np
    import pymc as pm

    # The compiler takes 140 MB, whatever the data.
    import pytensor.link.jax.dispatch

    import pymc_geodesic as pmg

    pmg.SGNHT, pmg.sample, pytensor.link.jax.dispatch  # noqa: B018
    before = _peak()
    n_rows = 50_000 if quick else 1_145_000
    rng = np.random.default_rng(0)
    data = np.empty((n_rows, 100), "float32")
    for rows in np.array_split(data, 100):
        rng.standard_normal(out=rows, dtype="float32")
    with pm.Model():
        batch = pm.Minibatch(data, batch_size=100)
        mean = pm.Normal("mean", shape=100)
        pm.Normal("x", mean, 1.0, observed=batch, total_size=n_rows)
        pmg.sample(**FIRST)
    return seconds() | {"MB": _peak() - before}


def topics(quick: bool) -> dict[str, float]:
    """Peak of memory, all in all, of draws of 200 topics of 50,000 words of which means are kept.

    A few draws for the thousand that are asked for: nothing is kept of one when the next is made.
    """
    import pymc as pm

    from scipy import sparse

    import pymc_geodesic as pmg

    n_topics, n_words, n_documents = (5, 500, 50) if quick else (200, 50_000, 2_000)
    counts = sparse.random(n_documents, n_words, density=100 / n_words, rng=0, format="csr")
    corpus = pmg.BagOfWords(counts.ceil().astype("int64"))
    with pm.Model():
        batch = pm.Minibatch(corpus, batch_size=50)
        words = pmg.SymmetricDirichlet("topics", 0.1, shape=(n_topics, n_words))
        pmg.LatentDirichletAllocation("w", words, alpha=0.1, observed=batch, total_size=n_documents)
        step = pmg.SGRLD(step_size=1e-4)
        pmg.sample(
            20,
            tune=0,
            chains=1,
            step=step,
            keep={"topics": "mean"},
            random_seed=SEED,
            progressbar=False,
            compute_convergence_checks=False,
        )
    return seconds() | {"MB": _peak()}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


MEASUREMENTS: dict[str, Callable[[bool], dict[str, float]]] = {
    "regression": regression,
    "readme": readme,
    "demo": demo,
    "hierarchical": hierarchical(centered=False),
    "centered": hierarchical(centered=True),
    "scalars": scalars,
    "second": second,
    "import": imported,
    "sam": sam,
    "memory": memory,
    "topics": topics,
}
IN_MEGABYTES = {"memory", "topics"}
# A library of single precision is what the data of this are.
FLAGS = {"memory": ",floatX=float32"}


def measured(name: str, cache: str, *, seed: int, quick: bool) -> dict[str, float] | None:
    """Make one measurement in a process of its own; None if it was cut off."""
    return in_a_process(
        *["--measure", name, *["--quick"] * quick],
        cache=cache,
        most_seconds=MOST_SECONDS,
        flags=FLAGS.get(name, ""),
        BENCHMARK_SEED=str(seed),
    )


def cold_and_warm(name: str, *, quick: bool) -> dict[str, list[dict[str, float] | None]]:
    """Make the measurements of a name, from empty folders for each seed and, if asked, again."""
    starts = list(ASKED[name])
    found: dict[str, list[dict[str, float] | None]] = {start: [] for start in starts}
    for seed in BENCHMARK.seeds[:1] if quick else BENCHMARK.seeds:
        with tempfile.TemporaryDirectory() as cache:
            for start in starts:
                found[start].append(measured(name, cache, seed=seed, quick=quick))
        if None in [runs[-1] for runs in found.values()]:
            break
    return found


def line(name: str, start: str, found: list[dict[str, float] | None]) -> list[str]:
    """Write one row of the table."""
    asked = ASKED[name][start]
    unit = "MB" if name in IN_MEGABYTES else "CPU s"
    made = [x for x in found if x is not None]
    if len(made) < len(found):
        return [
            TOLD[name],
            start,
            f"not finished in {MOST_SECONDS} CPU s",
            "",
            f"{asked:g} {unit}",
            "",
        ]
    values = [x["MB" if name in IN_MEGABYTES else "cpu"] for x in made]
    names = [name for name in made[0] if name not in ("cpu", "wall", "MB")]
    told = [f"{x} {min(v):.3g} to {max(v):.3g}" for x in names for v in [[m[x] for m in made]]]
    if len(values) > 1:
        told.append(f"of {len(values)}: {min(values):.4g} to {max(values):.4g}")
    wall = statistics.median(x["wall"] for x in made)
    figure = f"{statistics.median(values):,.{0 if unit == 'MB' else 2}f}"
    return [
        TOLD[name],
        start,
        f"{figure} {unit}",
        f"{wall:.3g}",
        f"{asked:g} {unit}",
        ", ".join(told),
    ]


def written(name: str, start: str, found: list[dict[str, float] | None]) -> tuple[list[str], Any]:
    """Write the row of a measurement, and what was asked of it; an empty one was not made."""
    from benchmarks.harness.records import Check

    asked, key = ASKED[name][start], "MB" if name in IN_MEGABYTES else "cpu"
    row = line(name, start, found) if found else [TOLD[name], start, "", "", "", "not run"]
    values = [x[key] for x in found if x is not None]
    complete = bool(found) and len(values) == len(found)
    does = complete and statistics.median(values) <= asked if found else None
    unit = "MB" if key == "MB" else "CPU s"
    return row, Check(f"{TOLD[name]}, {start}", row[2], f"<= {asked:g} {unit}", does)


def main() -> None:
    from benchmarks.harness.console import parser, table
    from benchmarks.harness.records import PARTS, keep, report

    reader = parser(__doc__)
    reader.add_argument("--measure", choices=MEASUREMENTS, help="one, in this process")
    reader.add_argument("--only", nargs="*", default=list(MEASUREMENTS))
    given = reader.parse_args()
    # Without it each process would translate the package anew where Python may not write.
    compileall.compile_dir(find_spec("pymc_geodesic").submodule_search_locations[0], quiet=1)
    part, found = PARTS / "answer.json", {}
    if part.exists() and not given.quick:
        found = json.loads(part.read_text(encoding="utf-8"))
    for name in given.only:
        for start, made in cold_and_warm(name, quick=given.quick).items():
            found[f"{name}, {start}"] = made
            print(line(name, start, made), f"load {os.getloadavg()[0]:.1f}", flush=True)
        if not given.quick:
            keep(part, found)
    keys = [(name, start) for name in ASKED for start in ASKED[name]]
    pairs = [written(*key, found.get(", ".join(key), [])) for key in keys]
    header, rows = ["what", "start", "found", "wall s", "asked", "besides"], [x for x, _ in pairs]
    table("Answers", header, rows)
    report(
        "answer",
        [check for _, check in pairs],
        about=BENCHMARK,
        quick=given.quick,
        header=header,
        rows=rows,
        measurements=found,
    )


if __name__ == "__main__":
    if "--measure" in sys.argv:
        # Nothing that a measurement counts may be loaded before it.
        chosen = MEASUREMENTS[sys.argv[sys.argv.index("--measure") + 1]]
        import logging

        logging.getLogger("pymc").setLevel(logging.ERROR)
        print(json.dumps(chosen("--quick" in sys.argv)))
    else:
        main()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Cost of a transition of SGRLD on 50 x 10,000 probabilities, against the gradient alone.

Two models: topics of a mixture of 50 unigrams with batches of 100 documents of 10,000 words and
more, and a conjugate one whose gradient is next to nothing, which shows what the step itself costs.
The gradient alone is evaluated by a scan in the same compiled form, at a point that depends on the
last gradient, so that nothing can be taken out of the loop: from probabilities, as the step does,
and from given log probabilities. The ratio is to the cheaper of the two. Figures are medians of
repetitions with seeds of their own.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.statistics import median_and_range
from pymc_geodesic.kernel.jax.function import JAXFunction
from pymc_geodesic.kernel.streams import draw_noise

BENCHMARK = Benchmark(
    question="What does a transition of SGRLD cost, compared with its gradient alone?",
    asked="At most 1.5 times the gradient.",
    fixed="2026-11-21",
    seeds=(1, 2, 3),
)

K, V, N_ROWS, N_STEPS = 50, 10_000, 1000, 10
BATCH_SIZES = (100, 200, 400)


def mixture(batch_size: int) -> pm.Model:
    """Write the mixture with fixed weights of the topics."""
    counts = np.random.default_rng(1).poisson(0.01, size=(N_ROWS, V)).astype("int32")

    def logp(value, topics):
        # PyMC gives parameters of one law for all rows an axis for the rows.
        topics = topics[0] if topics.ndim == 3 else topics
        return pt.logsumexp(pt.dot(value.astype(topics.dtype), pt.log(topics).T), axis=-1)

    with pm.Model() as model:
        topics = pm.Dirichlet("topics", np.full((K, V), 0.1))
        batch = pm.Minibatch(counts, batch_size=batch_size)
        pm.CustomDist(
            "x", topics, logp=logp, signature="(k,v)->(v)", observed=batch, total_size=N_ROWS
        )
    return model


def conjugate() -> pm.Model:
    """Write one row of counts for each topic."""
    counts = np.random.default_rng(1).poisson(1.0, size=(K, V))
    with pm.Model() as model:
        topics = pm.Dirichlet("topics", np.full((K, V), 0.1))
        pm.Multinomial("x", counts.sum(axis=1), topics, observed=counts)
    return model


def step_call(step: pmg.SGRLD):
    """Return a function that makes N_STEPS transitions, noise and conversions included."""
    point = step.model.initial_point()
    return lambda: step.step(point)


def gradient_call(step: pmg.SGRLD, *, of_logs: bool):
    """Return a function that evaluates N_STEPS gradients and nothing else."""
    potential = step.sampler.problem.potential
    [x0] = potential.positions
    rows = [
        pytensor.tensor.tensor("rows", dtype="int64", shape=(N_STEPS, *index.type.shape))
        for index in potential.indices
    ]
    counter = pytensor.tensor.tensor("counter", dtype="int64", shape=(N_STEPS,))

    def body(_, *arguments):
        *indices, x = arguments
        log_pi = x if of_logs else pt.log(x)
        [gradient] = potential.gradient((log_pi,), indices, width=pt.constant(0.0))
        return [x0 + 1e-30 * gradient]

    [x] = pytensor.scan(
        body,
        sequences=[counter, *rows],
        outputs_info=[x0],
        non_sequences=[],
        return_list=True,
        return_updates=False,
    )
    function = JAXFunction([counter, *rows, x0], [x[-1]])
    start = np.full((K, V), -np.log(V) if of_logs else 1 / V)

    def call():
        drawn = step.chain.batches.draw(step.rng, N_STEPS)
        return np.asarray(function(np.arange(N_STEPS), *drawn, start)[0])

    return call


def interleaved(calls: dict, repetitions: int) -> dict[str, float]:
    """Median seconds of each call; the calls take turns, for the machine's speed drifts."""
    seconds = {name: [] for name in calls}
    for call in calls.values():
        call()
    for _ in range(repetitions):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
    return {name: float(np.median(times)) for name, times in seconds.items()}


def costs(model: pm.Model, *, repetitions: int) -> list[dict[str, float]]:
    """Return the milliseconds of a transition, of its parts, and their ratio, for each seed."""
    options = {"dynamics": "euler", "variance_reduction": None, "n_steps": N_STEPS}
    step = pmg.SGRLD(model=model, step_size=1e-4, **options)
    step.setup_chain(np.random.default_rng(1), 0, 1)
    calls = {
        "step": step_call(step),
        "gradient": gradient_call(step, of_logs=False),
        "of logs": gradient_call(step, of_logs=True),
        "normals": lambda: draw_noise(step.rng, N_STEPS, [(K, V)], "float64"),
    }
    found = []
    for seed in BENCHMARK.seeds:
        step.setup_chain(np.random.default_rng(seed), 0, 1)
        seconds = interleaved(calls, repetitions)
        millis = {key: 1e3 * value / N_STEPS for key, value in seconds.items()}
        ratio = millis["step"] / min(millis["gradient"], millis["of logs"])
        found.append(millis | {"ratio": ratio})
    return found


def main() -> None:
    warnings.simplefilter("ignore", UserWarning)
    quick = arguments(__doc__.splitlines()[0]).quick
    rows, checks = [], []
    models = {f"mixture, batches of {size}": mixture(size) for size in BATCH_SIZES}
    for name, model in (models | {"conjugate": conjugate()}).items():
        found = costs(model, repetitions=3 if quick else 7)
        *millis, ratio = ([run[key] for run in found] for key in found[0])
        text = median_and_range(ratio)
        rows.append([name, *(float(np.median(part)) for part in millis), text])
        print(*rows[-1], flush=True)
        if name != "conjugate":
            what = f"transition / gradient, {name}"
            checks.append(Check(what, text, "<= 1.5", bool(np.median(ratio) <= 1.5)))
    header = ["model", "transition (ms)", "gradient (ms)", "gradient of logs (ms)"]
    header += ["normals (ms)", "ratio"]
    table(f"{K} x {V} probabilities", header, rows)
    report("simplex_cost", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)


if __name__ == "__main__":
    main()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What an accelerator gives: many chains, many rows, networks, hierarchies.

Each case is a process of its own, which tells the seconds of its parts. Effective sizes are the
smallest over all entries of all variables, by ArviZ's bulk effective size over all chains. On a
processor the cases run at a small size, to see that they work: their seconds are no figures.

A machine that is lent for minutes has no repository: ``--read`` makes the record of what a run
there has printed.

    python -m benchmarks.speed.gpu [--quick] [--only NAME ...] [--read LOG --device NAME]
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import time

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

STARTED = time.perf_counter()

# ruff: noqa: E402
import numpy as np

from benchmarks.harness.console import parser
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report

BENCHMARK = Benchmark(
    question="What does an accelerator gain?",
    asked=(
        "4,096 chains x 1,000 transitions of a logistic regression, 1e6 rows: .5 s. 1e8 rows, new "
        "process with the data there, to 10,000 effective draws: 15 s. A network 784-100-10, "
        "batches of 500: 100 us a transition. A hierarchical logistic regression of 1e5 rows, 8 to "
        "15,000 groups: 1 s after compiling to 4,000 effective draws of each parameter."
    ),
    fixed="2026-11-27",
    changed=(
        "Rows of single precision, in which the thresholds were found, were added with the figures."
    ),
    seeds=(1,),
)
GROUPS = (8, 48, 900, 15_000)
# Seconds after which a case is ended.
MOST_SECONDS = {
    "many": 100,
    "many_single": 100,
    "network": 60,
    "network_single": 60,
    **dict.fromkeys([f"hierarchy_{k}" for k in GROUPS], 120),
    "numpyro": 100,
    "rows": 150,
}


def logistic_rows(n: int, d: int, *, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Simulate rows in single precision, block by block."""
    from concurrent.futures import ThreadPoolExecutor

    import pytensor

    x, y = np.empty((n, d), "float32"), np.empty(n, pytensor.config.floatX)
    slopes = np.random.default_rng(seed).normal(0, 0.5, d).astype("float32")

    def fill(start: int) -> None:
        part = slice(start, start + BLOCK)
        rng = np.random.default_rng([seed, start])
        rng.standard_normal(dtype="float32", out=x[part])
        y[part] = rng.random(len(y[part]), dtype="float32") < 1 / (1 + np.exp(-x[part] @ slopes))

    with ThreadPoolExecutor() as threads:
        list(threads.map(fill, range(0, n, BLOCK)))
    return x, y


BLOCK = 2**20


def logistic(n: int, d: int = 20, *, batch_size: int = 100) -> Any:
    """Make a logistic regression."""
    import pymc as pm

    x, y = logistic_rows(n, d)
    with pm.Model() as model:
        slopes = pm.Normal("slopes", 0.0, 1.0, shape=d)
        rows, answers = pm.Minibatch(x, y, batch_size=batch_size)
        pm.Bernoulli("y", logit_p=rows @ slopes, observed=answers, total_size=n)
    return model


def effective(draws: dict[str, np.ndarray]) -> float:
    """Smallest bulk effective size of all entries."""
    from pymc_geodesic.monte_carlo import effective_sizes

    return min(float(np.min(effective_sizes(x))) for x in draws.values())


def timed_ensemble(step: Any, n_chains: int, n_draws: int, *, tune: int = 500) -> dict[str, float]:
    """Tune, and time draws of all chains, the second time that they are made."""
    from pymc_geodesic.kernel.jax.resident import on_processor
    from pymc_geodesic.sampling import begin, run
    from pymc_geodesic.sampling.ensemble import MOST_TUNED, Ensemble

    sampler, found = step.sampler, {}
    clock = time.perf_counter()
    n_tuned = min(n_chains, MOST_TUNED)
    chains = [begin(sampler, random_seed=[1, i], tune=tune, draws=n_draws) for i in range(n_tuned)]
    with on_processor():
        if tune:
            chains, *_ = run(sampler, chains, tune, chain_method="vectorized", thin=tune)
        ensemble = Ensemble(sampler, chains, n_chains)
    found["tuning"] = time.perf_counter() - clock
    clock = time.perf_counter()
    ensemble.advance(2)
    found["compiling"] = time.perf_counter() - clock
    each = []
    for _ in range(3):
        clock = time.perf_counter()
        _, draws, _ = ensemble.advance(n_draws)
        each.append(time.perf_counter() - clock)
    found["each"], found["seconds"] = each, min(each)
    n_steps = chains[0].settings.n_steps
    found |= {"transitions": n_draws * n_steps, "n_steps": n_steps}
    found["us_per_chain_transition"] = 1e6 * found["seconds"] / (n_draws * n_steps * n_chains)
    return found | {"effective": effective(draws) if n_draws > 3 else float("nan")}


def many(small: bool) -> dict[str, Any]:
    """Many chains of a regression with a million rows."""
    import pymc_geodesic as pmg

    found: dict[str, Any] = {}
    for n_chains in (64, 256) if small else (4_096,):
        with logistic(10_000 if small else 1_000_000):
            step = pmg.SGNHT()
        n_steps = 4
        found[f"{n_chains} chains"] = timed_ensemble(step, n_chains, 1_000 // n_steps)
    return found


def rows(small: bool) -> dict[str, Any]:
    """A new process with many rows, to 10,000 effective draws."""
    import pymc_geodesic as pmg

    found: dict[str, Any] = {"imports": time.perf_counter() - STARTED}
    clock = time.perf_counter()
    model = logistic(100_000 if small else 100_000_000)
    found["data"] = time.perf_counter() - clock
    clock = time.perf_counter()
    options = {"tune": 300, "chains": 256, "progressbar": False, "random_seed": 1}
    idata = pmg.sample(100, model=model, step=pmg.SGNHT, **options)
    found["sample"] = time.perf_counter() - clock
    draws = {name: x.to_numpy() for name, x in idata["posterior"].data_vars.items()}
    found["effective"] = effective(draws)
    found["verdict"] = idata["posterior"].attrs.get("verdict", "")
    raw = idata["raw_posterior"] if "raw_posterior" in idata.children else idata["posterior"]
    found["effective raw"] = effective({k: x.to_numpy() for k, x in raw.data_vars.items()})
    return found


def network(small: bool) -> dict[str, Any]:
    """Transitions of a network of one hidden layer."""
    import pymc as pm
    import pytensor
    import pytensor.tensor as pt

    import pymc_geodesic as pmg

    n, hidden = (2_000, 10) if small else (60_000, 100)
    rng = np.random.default_rng(1)
    x = rng.standard_normal((n, 784), dtype="float32")
    y = rng.integers(0, 10, n).astype(pytensor.config.floatX)
    found: dict[str, Any] = {}
    for n_chains in (1, 4) if small else (1, 4, 64):
        with pm.Model():
            first = pm.Normal("first", shape=(784, hidden))
            bias = pm.Normal("bias", shape=hidden)
            last = pm.Normal("last", shape=(hidden, 10))
            other = pm.Normal("other", shape=10)
            batch, labels = pm.Minibatch(x, y, batch_size=500)
            logits = pt.tanh(batch @ first + bias) @ last + other
            pm.Categorical("y", logit_p=logits, observed=labels, total_size=n)
            step = pmg.SGHMC(step_size=1e-4, friction=10.0, n_steps=50)
        found[f"{n_chains} chains"] = timed_ensemble(step, n_chains, 6, tune=0)
    return found


def hierarchy_rows(n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Simulate answers of groups of equal expected size."""
    rng = np.random.default_rng(1)
    groups = rng.integers(0, k, n).astype("int32")
    levels = rng.normal(-0.5, 0.8, k)[groups]
    return groups, (rng.random(n) < 1 / (1 + np.exp(-levels))).astype("int32")


def hierarchy(small: bool, *, k: int) -> dict[str, Any]:
    """Levels of groups with a common distribution, to 4,000 effective draws."""
    import pymc as pm

    import pymc_geodesic as pmg

    n = 5_000 if small else 100_000
    groups, answers = hierarchy_rows(n, k)
    with pm.Model():
        mean, scale = pm.Normal("mean", 0.0, 2.0), pm.HalfNormal("scale", 2.0)
        levels = pm.Normal("levels", mean, scale, shape=k)
        which, y = pm.Minibatch(groups, answers, batch_size=300)
        pm.Bernoulli("y", logit_p=levels[which], observed=y, total_size=n)
        step = pmg.SGNHT()
    told = timed_ensemble(step, 64, 80)
    return told | {"seconds to 4,000": told["seconds"] * max(1.0, 4_000 / told["effective"])}


def numpyro(small: bool) -> dict[str, Any]:
    """NUTS of NumPyro on the hierarchy of 900 groups."""
    import jax
    import jax.numpy as jnp
    import numpyro as other
    import numpyro.distributions as dist

    from numpyro.infer import MCMC, NUTS

    n, k = (5_000, 48) if small else (100_000, 900)
    groups, answers = hierarchy_rows(n, k)

    def model(groups, answers):
        mean = other.sample("mean", dist.Normal(0.0, 2.0))
        scale = other.sample("scale", dist.HalfNormal(2.0))
        levels = other.sample("levels", dist.Normal(mean, scale).expand([k]))
        other.sample("y", dist.Bernoulli(logits=levels[groups]), obs=answers)

    mcmc = MCMC(NUTS(model), num_warmup=500, num_samples=500, progress_bar=False)
    clock = time.perf_counter()
    mcmc.run(jax.random.PRNGKey(1), jnp.asarray(groups), jnp.asarray(answers, "float32"))
    samples = {name: np.asarray(x)[None] for name, x in mcmc.get_samples().items()}
    return {"whole": time.perf_counter() - clock, "effective": effective(samples)}


CASES: dict[str, Callable[[bool], dict[str, Any]]] = {
    "many": many,
    "many_single": many,
    "network_single": network,
    "rows": rows,
    "network": network,
    **{f"hierarchy_{k}": partial(hierarchy, k=k) for k in GROUPS},
    "numpyro": numpyro,
}


def in_new_process(name: str, *, quick: bool) -> dict[str, Any]:
    """Run a case; tell how it ended if it has told nothing."""
    command = [sys.executable, "-m", "benchmarks.speed.gpu", "--case", name]
    command += ["--quick"] if quick else []
    flags = os.environ.get("PYTENSOR_FLAGS", "")
    single = f"{flags},floatX=float32".strip(",")
    environment = os.environ | ({"PYTENSOR_FLAGS": single} if name.endswith("single") else {})
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=MOST_SECONDS[name],
            check=False,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        return {"ended": f"not within {MOST_SECONDS[name]} s"}
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return json.loads(lines[-1]) if lines else {"ended": done.stderr.strip()[-1500:]}


def checks_of(table: dict[str, dict[str, Any]]) -> list[Check]:
    """Compare what cases have told with what is asked; others were not measured."""

    def of(case: str, part: str, key: str) -> float | None:
        return table.get(case, {}).get(part, {}).get(key)

    def check(what: str, found: float | None, asked: float, unit: str) -> Check:
        text = "not measured" if found is None else f"{found:.3g} {unit}"
        return Check(what, text, f"{asked:g} {unit}", None if found is None else found <= asked)

    found = []
    for suffix, precision in (("", ""), ("_single", ", single precision")):
        per_transition = of(f"many{suffix}", "4096 chains", "us_per_chain_transition")
        thousand = None if per_transition is None else per_transition * 4_096 * 1_000 / 1e6
        what = f"4,096 chains x 1,000 transitions, 1e6 rows{precision}"
        found.append(check(what, thousand, 0.5, "s"))
        for n in (1, 64):
            one = of(f"network{suffix}", f"{n} chains", "us_per_chain_transition")
            each = None if one is None else one * n
            what = f"network, a transition of {n} chains{precision}"
            found.append(check(what, each, 100, "us"))
    seconds = table.get("rows", {}).get("sample")
    found.append(check("1e8 rows to 10,000 effective draws", seconds, 15, "s"))
    for k in GROUPS:
        seconds = table.get(f"hierarchy_{k}", {}).get("seconds to 4,000")
        found.append(check(f"hierarchy of {k:,} groups to 4,000 draws", seconds, 1, "s"))
    return found


def read(path: str) -> dict[str, dict[str, Any]]:
    """Read what a run has printed, on a machine from which no record can come."""
    text, table = "\n" + Path(path).read_text(), {}
    for name in CASES:
        if (start := text.rfind(f"\n{name} {{")) >= 0:
            begin = text.index("{", start)
            table[name], _ = json.JSONDecoder().raw_decode(text[begin:])
    return table


def main() -> None:
    if "--case" in sys.argv:
        logging.getLogger("pymc").setLevel(logging.WARNING)
        from threadpoolctl import threadpool_limits

        name = sys.argv[sys.argv.index("--case") + 1]
        # As `pmg.sample` does: threads of products of a few thousand numbers wait for one another.
        with threadpool_limits(1, user_api="blas"):
            print(json.dumps(CASES[name]("--quick" in sys.argv)), flush=True)
        return
    given = parser(__doc__)
    given.add_argument("--only", nargs="+", choices=list(CASES), default=list(CASES))
    given.add_argument("--read", help="make the record of what a run elsewhere has printed")
    given.add_argument("--device", help="the device of that run")
    asked = given.parse_args()
    if asked.read:
        table, device = read(asked.read), asked.device
    else:
        import jax

        table, device = {}, str(jax.devices()[0])
        for name in asked.only:
            table[name] = in_new_process(name, quick=asked.quick)
            print(name, json.dumps(table[name], indent=1), flush=True)
    report("gpu", checks_of(table), about=BENCHMARK, quick=asked.quick, device=device, cases=table)


if __name__ == "__main__":
    main()

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A thousand groups: a logistic regression with random intercepts, ours beside seven others.

100,000 rows, 50 to 150 in a group; the centred form, which suits so many rows in a group. What is
compared is the mean of the intercepts, the slope and the logarithm of the intercepts' deviation,
against the exact marginal posterior by quadrature. Everything counts from the import of a package
to its draws. Three seeds for ours, one for the others; a run is ended after 120 s of the processor.
Approximations have no effective size.

    python -m benchmarks.peers.peers_hierarchy [--quick] [--only NAME ...] [--resume]
"""

from __future__ import annotations

import os

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness.declared import Benchmark
from benchmarks.peers import runs
from benchmarks.peers.regression_methods import CHAINS, DRAWS, TUNE
from benchmarks.peers.runs import SEED, Draws
from benchmarks.scale.groups_truth import PRIOR_SD, TAU_SCALE, TRUE, Table, posterior

BENCHMARK = Benchmark(
    question="Random intercepts of 1,000 groups, 1e5 rows, by eight methods of five packages.",
    asked=(
        "Ours in every seed: bias at most .15 sd, sds within 15 per cent. In the median more "
        "effective draws per CPU second than any other whose figures are as right."
    ),
    fixed="2026-11-27",
    seeds=(1, 2, 3),
)

OURS, N_GROUPS, SIZES = "pymc_geodesic", 1_000, (50, 150)
NAMES = ("mu", "slope", "tau")
BATCH = 1_000
ADVI_STEPS, ADVI_RATE, APPROXIMATE_DRAWS = 20_000, 0.001, 2_000


def simulate(n_groups: int) -> Table:
    """Draw the rows, sorted by group."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(SIZES[0], SIZES[1] + 1, n_groups)
    group = np.repeat(np.arange(n_groups), sizes)
    x = rng.normal(size=len(group))
    effect = rng.normal(0, np.exp(TRUE[2]), n_groups)
    logit = TRUE[0] + TRUE[1] * x + effect[group]
    y = rng.uniform(size=len(group)) < 1 / (1 + np.exp(-logit))
    return Table(group, x, y.astype("int32"))


def truth_of(data: Table) -> dict[str, list[float]]:
    """Return means and deviations of the mean, the slope and the logarithm of the deviation."""
    mean, covariance = posterior(data)
    return {"mean": mean.tolist(), "sd": np.sqrt(np.diag(covariance)).tolist()}


def model_of(data: Table, *, batches: bool = False, vector: bool = False) -> Any:
    """Write the model in PyMC: by batches or not, intercepts as one multivariate normal or not."""
    import pymc as pm

    n_groups = int(data.user.max()) + 1
    with pm.Model() as model:
        rows = pm.Minibatch(*data, batch_size=BATCH) if batches else data
        size = {"total_size": len(data.y)} if batches else {}
        mu, slope = pm.Normal("mu", 0, PRIOR_SD[0]), pm.Normal("slope", 0, PRIOR_SD[1])
        tau = pm.HalfNormal("tau", TAU_SCALE)
        if vector:
            precision = pm.math.eye(n_groups) / tau**2
            effect = pm.MvNormal("effect", mu * np.ones(n_groups), tau=precision)
        else:
            effect = pm.Normal("effect", mu, tau, shape=n_groups)
        logit = effect[rows[0]] + slope * rows[1]
        pm.Bernoulli("y", logit_p=logit, observed=rows[2], **size)
    return model


def compared(posterior_: Any, *, approximate: bool = False) -> Draws:
    """Return the compared entries of draws by name."""
    values = [np.asarray(posterior_[name]) for name in NAMES]
    values[2] = np.log(values[2])
    stacked = np.stack(values, axis=-1)
    return Draws(stacked.reshape(1, -1, 3) if approximate else stacked, approximate)


def ours(data: Table) -> Draws:
    """Draw by `pmg.sample` with its defaults, by batches."""
    import pymc_geodesic as pmg

    model = model_of(data, batches=True)
    return compared(pmg.sample(model=model, random_seed=SEED, progressbar=False).posterior)


def by_nutpie(adaptation: str) -> Callable[[Table], Draws]:
    """Make a method of nutpie, on Numba and all cores."""

    def draw(data: Table) -> Draws:
        import nutpie

        compiled = nutpie.compile_pymc_model(model_of(data), backend="numba")
        found = nutpie.sample(
            compiled,
            draws=DRAWS,
            tune=TUNE,
            chains=CHAINS,
            cores=os.cpu_count(),
            adaptation=adaptation,
            progress_bar=False,
            seed=SEED,
        )
        return compared(found.posterior)

    return draw


def numpyro_nuts(data: Table) -> Draws:
    """Draw by NumPyro's NUTS, all rows."""
    import jax
    import numpyro
    import numpyro.distributions as dist

    from numpyro.infer import MCMC, NUTS

    jax.config.update("jax_enable_x64", True)
    n_groups = int(data.user.max()) + 1

    def model(group: Any, x: Any, y: Any) -> None:
        mu = numpyro.sample("mu", dist.Normal(0.0, PRIOR_SD[0]))
        slope = numpyro.sample("slope", dist.Normal(0.0, PRIOR_SD[1]))
        tau = numpyro.sample("tau", dist.HalfNormal(TAU_SCALE))
        each = dist.Normal(mu, tau).expand([n_groups]).to_event(1)
        effect = numpyro.sample("effect", each)
        numpyro.sample("y", dist.BernoulliLogits(effect[group] + slope * x), obs=y)

    run = MCMC(
        NUTS(model),
        num_warmup=TUNE,
        num_samples=DRAWS,
        num_chains=CHAINS,
        chain_method="sequential",
        progress_bar=False,
    )
    run.run(jax.random.PRNGKey(SEED), *data)
    return compared(run.get_samples(group_by_chain=True))


def pathfinder(data: Table) -> Draws:
    """Fit by pymc-extras' Pathfinder of four paths, all rows."""
    import pymc_extras as pmx

    options = {"random_seed": SEED, "parallel": False, "progressbar": False}
    return compared(pmx.fit_pathfinder(model_of(data), **options).posterior, approximate=True)


def dadvi(data: Table) -> Draws:
    """Fit by pymc-extras' deterministic ADVI, all rows."""
    from pymc_extras.inference import fit_dadvi

    options = {"random_seed": SEED, "progressbar": False, "n_draws": APPROXIMATE_DRAWS}
    return compared(fit_dadvi(model_of(data), **options).posterior, approximate=True)


def inla(data: Table) -> Draws:
    """Draw the rest by NUTS, with the intercepts integrated out by pymc-extras' INLA."""
    from pymc_extras.inference import fit_INLA

    model = model_of(data, vector=True)
    precision = model["effect"].owner.inputs[-1]
    options = {"draws": DRAWS, "tune": TUNE, "chains": CHAINS, "cores": 1}
    options |= {"random_seed": SEED, "progressbar": False}
    return compared(fit_INLA(model["effect"], precision, model=model, **options).posterior)


def advi(data: Table) -> Draws:
    """Fit by PyMC's ADVI with Adam, by batches."""
    import pymc as pm

    with model_of(data, batches=True):
        found = pm.fit(
            ADVI_STEPS,
            method="advi",
            obj_optimizer=pm.adam(learning_rate=ADVI_RATE),
            random_seed=SEED,
            progressbar=False,
        )
    draws = found.sample(APPROXIMATE_DRAWS, random_seed=SEED)
    return compared(draws.posterior, approximate=True)


METHODS: dict[str, Callable[[Table], Draws]] = {
    OURS: ours,
    "nutpie": by_nutpie("diag"),
    "nutpie, low rank": by_nutpie("low_rank"),
    "NumPyro NUTS": numpyro_nuts,
    "pymc-extras INLA": inla,
    "pymc-extras Pathfinder": pathfinder,
    "pymc-extras DADVI": dadvi,
    "PyMC ADVI": advi,
}


def main() -> None:
    given = runs.options(__doc__, METHODS)
    if given.measure:
        n_groups, name = int(given.measure[0]), given.measure[1]
        runs.say(runs.answer_to(partial(METHODS[name], simulate(n_groups))))
        return
    from benchmarks.harness.records import report

    n_groups = 50 if given.quick else N_GROUPS
    truth = truth_of(simulate(n_groups))
    found = runs.compared(
        "peers_hierarchy",
        BENCHMARK,
        given,
        methods=list(METHODS),
        cases={f"{n_groups:,} groups": (str(n_groups), truth)},
    )
    report("peers_hierarchy", about=BENCHMARK, quick=given.quick, **found)


if __name__ == "__main__":
    main()

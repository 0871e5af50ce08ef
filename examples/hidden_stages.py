#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The tables of a hidden Markov model.

A disease has three stages, which nobody sees. Every half year a test with four results says
something about the stage. Three tables of probabilities describe this: the stages at the first
visit, the stage after each stage, and the results in each stage. Each row of a table is a point of
a simplex. The stages are summed out by the forward algorithm, so the rows of the data are patients
and not visits. Patterson and Teh (2013) name such tables as an application of Riemannian Langevin
dynamics.

The 2,000 patients are generated. Some visits are missing, and many patients leave the study early.

Conclusion: all three tables agree with Gibbs sampling of the stages of all patients, in their means
and in their deviations. For so few patients NUTS on all of them would be faster, as the step itself
says.
"""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr

from gibbs import agreement, choose, draw_rows, plot_agreement
from matplotlib.figure import Figure
from shared import main

import pymc_geodesic as pmg

N_PATIENTS, N_VISITS, BATCH_SIZE, MISSING = 2000, 8, 100, 4
STAGES, RESULTS = ["mild", "moderate", "severe"], ["A", "B", "C", "D"]
TABLES = {
    "first": np.array([0.7, 0.2, 0.1]),
    "after": np.array([[0.8, 0.17, 0.03], [0.1, 0.75, 0.15], [0.02, 0.08, 0.9]]),
    "results": np.array([[0.8, 0.16, 0.03, 0.01], [0.07, 0.7, 0.2, 0.03], [0.01, 0.05, 0.24, 0.7]]),
}


def make_data() -> np.ndarray:
    """Generate the result of each visit of each patient, or 4 where there is none."""
    rng = np.random.default_rng(1)
    first, after, results = TABLES.values()
    stages = [choose(rng, np.tile(first, (N_PATIENTS, 1)))]
    for _ in range(1, N_VISITS):
        stages.append(choose(rng, after[stages[-1]]))
    found = choose(rng, results[np.stack(stages, axis=1)])
    leaves = rng.geometric(0.08, size=(N_PATIENTS, 1))
    is_missing = (np.arange(N_VISITS) > leaves) | (rng.random(found.shape) < 0.1)
    return np.where(is_missing, MISSING, found).astype("int32")


def log_density(visits, is_seen, first, after, results):
    """Log density of the results of patients, by the forward algorithm."""
    # PyMC gives the tables an axis of patients.
    first, after, results = first[0], after[0], results[0]
    # A missing result says nothing of the stage.
    shares = pt.where(is_seen[..., None], results.T[visits * is_seen], 1.0)
    stage, logp = first * shares[:, 0], 0.0
    for visit in range(1, N_VISITS):
        total = stage.sum(axis=-1, keepdims=True)
        logp = logp + pt.log(total[:, 0])
        stage = (stage / total) @ after * shares[:, visit]
    return logp + pt.log(stage.sum(axis=-1))


def build_model() -> pm.Model:
    """Write the tables; the start tells the stages apart."""
    with pm.Model(coords={"stage": STAGES, "next": STAGES, "result": RESULTS}) as model:
        visits = pm.Minibatch(make_data(), batch_size=BATCH_SIZE)
        first = pm.Dirichlet("first", np.ones(3), dims="stage")
        after = pm.Dirichlet("after", np.ones(3), dims=("stage", "next"))
        start = np.array([[0.5, 0.3, 0.1, 0.1], [0.2, 0.3, 0.3, 0.2], [0.1, 0.1, 0.3, 0.5]])
        results = pm.Dirichlet("results", np.ones(4), dims=("stage", "result"), initval=start)
        pm.CustomDist(
            "visits",
            *(pt.neq(visits, MISSING).astype("int8"), first, after, results),
            logp=log_density,
            signature="(t),(s),(s,s),(s,r)->(t)",
            dtype="int32",
            observed=visits,
            total_size=N_PATIENTS,
        )
    return model


def sample_exactly(n_sweeps: int) -> dict[str, np.ndarray]:
    """Sample stages and tables in turn, with all patients; the first tenth is left out."""
    rng, visits = np.random.default_rng(2), make_data()
    is_seen, tables, kept = visits != MISSING, dict(TABLES), {name: [] for name in TABLES}
    for _ in range(n_sweeps):
        first, after, results = tables.values()
        shares = np.concatenate([results, np.ones((3, 1))], axis=1).T[visits]
        forward = [first * shares[:, 0]]
        for visit in range(1, N_VISITS):
            step = forward[-1] @ after * shares[:, visit]
            forward.append(step / step.sum(axis=1, keepdims=True))
        stages = [choose(rng, forward[-1])]
        for stage in forward[-2::-1]:
            stages.insert(0, choose(rng, stage * after[:, stages[0]].T))
        now = np.stack(stages, axis=1)
        pairs = {"first": (now[:, 0],), "after": (now[:, :-1], now[:, 1:])}
        pairs["results"] = (now[is_seen], visits[is_seen])
        for name, at in pairs.items():
            counts = np.ones_like(TABLES[name])
            np.add.at(counts, tuple(x.ravel() for x in at), 1)
            tables[name] = draw_rows(rng, counts)
            kept[name].append(tables[name])
    return {name: np.array(draws[n_sweeps // 10 :])[None] for name, draws in kept.items()}


def run(quick: bool = False) -> xr.DataTree:
    """Sample the tables by minibatches, and by Gibbs; `quick` makes a short run for tests."""
    draws, chains, sweeps, n_steps = (400, 1, 1000, 20) if quick else (500, 4, 5000, None)
    with build_model():
        idata = pmg.sample(
            draws,
            chains=chains,
            tune=draws,
            step=pmg.SGRLD(n_steps=n_steps),
            random_seed=1,
            progressbar=False,
        )
    exact, posterior = sample_exactly(sweeps), idata.posterior
    idata["gibbs"] = xr.Dataset({n: (posterior[n].dims, draws) for n, draws in exact.items()})
    return idata


def plot(idata: xr.DataTree) -> Figure:
    """Plot means and deviations of all entries beside those by Gibbs sampling."""
    return plot_agreement(idata, list(TABLES))


def report(idata: xr.DataTree) -> str:
    """Print the tables, and their distance from those by Gibbs sampling."""
    means = idata.posterior.mean(("chain", "draw"))
    lines = [f"{name}:\n{means[name].values.round(3)}" for name in TABLES]
    return "\n".join([*lines, agreement(idata, list(TABLES))])


if __name__ == "__main__":
    main(__doc__, run=run, plot=plot, report=report)

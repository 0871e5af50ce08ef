#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Log likelihoods that are no sum over rows are refused, by structure and by evaluation."""

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.data_checks import DataChecks
from pymc_geodesic.potential.minibatch import find_batch_sources
from pymc_geodesic.potential.stream import find_streams

N, BATCH = 400, 20
RNG = np.random.default_rng(1)
X = RNG.normal(size=(N, 3)) * [1.0, 3.0, 0.1] + 1
Y = X @ [1.0, 0.5, -0.2] + RNG.normal(size=N)
SIZE = {"total_size": N}


def auto_regression(x, y):
    start = pm.Normal.dist()
    pm.AR("y", [pm.Normal("rho")], sigma=1.0, init_dist=start, observed=y, **SIZE)


def random_walk(x, y):
    start = pm.Normal.dist()
    pm.GaussianRandomWalk("y", sigma=pm.HalfNormal("s"), init_dist=start, observed=y, **SIZE)


def one_normal_for_all(x, y):
    pm.MvNormal("y", pm.Normal("m") * np.ones(BATCH), np.eye(BATCH), observed=y, **SIZE)


def gaussian_process(x, y):
    process = pm.gp.Marginal(cov_func=pm.gp.cov.ExpQuad(3, ls=pm.HalfNormal("length")))
    process.marginal_likelihood("y", X=x, y=y, sigma=1.0)


@pytest.mark.filterwarnings("ignore:total_size not provided")
@pytest.mark.parametrize(
    "observe", [auto_regression, random_walk, one_normal_for_all, gaussian_process]
)
@pytest.mark.parametrize("method", [pmg.SGNHT, pmg.SGLD])
def test_rows_that_are_one_value(observe, method):
    with pm.Model() as model:
        observe(*pm.Minibatch(X, Y, batch_size=BATCH))
    message = "`y` expected rows that are independent given the parameters, got one .*whole data"
    with pytest.raises(ValueError, match=message):
        method(step_size=1e-3, model=model)


def standardised_covariates(x, y):
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    pm.Normal("y", x @ pm.Normal("beta", shape=3), observed=y, **SIZE)


def centred_by_batch(x, y):
    pm.Normal("y", pm.Normal("beta") * (x[:, 0] - x[:, 0].mean()), observed=y, **SIZE)


def scaled_by_the_largest(x, y):
    pm.Normal("y", pm.Normal("beta") * x[:, 1] / x[:, 1].max(), observed=y, **SIZE)


def variance_of_the_batch(x, y):
    pm.Normal("y", pm.Normal("mean"), x[:, 0].std() + 1, observed=y, **SIZE)


def neighbours(x, y):
    x = x[:, 0]
    before = pm.math.concatenate([x[:1], x[:-1]])
    pm.Normal("y", pm.Normal("beta") * (x - before), observed=y, **SIZE)


NOT_INDEPENDENT = [
    standardised_covariates,
    centred_by_batch,
    scaled_by_the_largest,
    variance_of_the_batch,
    neighbours,
]


def covariates_left_out(x, y):
    pm.Normal("y", X[:BATCH] @ pm.Normal("beta", shape=3), observed=y, **SIZE)


def mean_of_rows(x, y):
    def logp(value, mean):
        return -((value - mean) ** 2).mean()

    pm.CustomDist("y", pm.Normal("mean"), logp=logp, observed=y, **SIZE)


REFUSED = [
    *[(f, "independent given the parameters, got rows whose log density") for f in NOT_INDEPENDENT],
    (covariates_left_out, "position in the batch does not matter.*one call of `pm.Minibatch`"),
    (mean_of_rows, "sum over rows, got a log density of a batch that differs"),
]


@pytest.mark.parametrize("in_stream", [False, True])
@pytest.mark.parametrize(("observe", "message"), REFUSED)
def test_rows_that_depend_on_the_batch(observe, message, in_stream):
    with pm.Model() as model:
        if in_stream:
            batch = pm.Data("batch", np.zeros((BATCH, 4)))
            observe(batch[:, :3], batch[:, 3])
        else:
            observe(*pm.Minibatch(X, Y, batch_size=BATCH))
    blocks = list(np.column_stack([X, Y]).reshape(-1, BATCH, 4))
    streams = {"data": {"batch": blocks}} if in_stream else {}
    with pytest.raises(ValueError, match="`y` expected.*" + message):
        pmg.SGNHT(step_size=1e-3, model=model, **streams)


@pytest.mark.parametrize("observe", [standardised_covariates, neighbours])
def test_exact_samplers_see_all_rows(observe):
    """There the mean of the batch is that of the data, and nothing is estimated."""
    with pm.Model() as model:
        observe(*pm.Minibatch(X, Y, batch_size=BATCH))
    sources = find_batch_sources(model)
    DataChecks(model, sources, point=model.initial_point(), batches=False)


def test_two_calls_draw_rows_that_do_not_belong_together():
    with pm.Model() as model:
        x, y = (pm.Minibatch(data, batch_size=BATCH) for data in (X, Y))
        pm.Normal("y", x @ pm.Normal("beta", shape=3), observed=y, **SIZE)
    with pytest.raises(ValueError, match=r"`y` expected data from one call of `pm.Minibatch`"):
        pmg.SGNHT(step_size=1e-3, model=model)


def test_priors_that_change_with_the_batch():
    with pm.Model() as model:
        x, y = pm.Minibatch(X[:, 0].copy(), Y, batch_size=BATCH)
        # The shape of a batch is always the same.
        effect = pm.Normal("effect", 0.0, 1.0, shape=x.shape[0])
        shift = pm.Normal("shift", x.mean())
        pm.Normal("y", effect + shift, observed=y, **SIZE)
    with pytest.raises(ValueError, match="`shift` expected a prior that is the same for all batch"):
        pmg.SGNHT(step_size=1e-3, model=model)


def test_local_variables_may_have_priors_that_depend_on_their_row():
    with pm.Model() as model:
        x, y = pm.Minibatch(X[:, 0].copy(), Y, batch_size=BATCH)
        effect = pm.Normal("effect", x, 1.0, shape=BATCH)
        pm.Normal("y", effect + pm.Normal("theta"), observed=y, **SIZE)
    sources, point = find_batch_sources(model), model.initial_point()
    DataChecks(model, sources, point=point, batches=True, local=[model["effect"]])
    with pytest.raises(ValueError, match=r"`effect` expected a prior.*LocalGMC"):
        DataChecks(model, sources, point=point, batches=True)


def test_potentials_of_streams_are_refused():
    with pm.Model() as model:
        batch = pm.Data("batch", np.zeros(BATCH))
        theta = pm.Normal("theta")
        pm.Normal("y", theta, observed=batch, **SIZE)
        pm.Potential("pull", -((batch - theta) ** 2).sum())
    with pytest.raises(ValueError, match=r"`pull` depends on the stream `batch`.*CustomDist"):
        find_streams(model, {"batch": list(Y.reshape(-1, BATCH))})


@pytest.mark.parametrize("method", [pmg.SGNHT, pmg.SGHMC, pmg.SGLD, pmg.SGGMC, pmg.gSGNHT, pmg.GMC])
def test_no_step_takes_the_potential_of_a_batch(method):
    with pm.Model() as model:
        y, theta = pm.Minibatch(Y, batch_size=BATCH), pm.Normal("theta")
        pm.Potential("likelihood", -N / BATCH * ((y - theta) ** 2).sum())
    with pytest.raises(ValueError, match=r"`likelihood` depends on `pm.Minibatch` data"):
        method(model=model)


def test_the_custom_distribution_that_the_message_names():
    """It has the energy that a potential with N / n by hand was meant to have."""

    def logp(value, theta):
        return -((value - theta) ** 2)

    with pm.Model() as model:
        y, theta = pm.Minibatch(Y, batch_size=BATCH), pm.Normal("theta")
        pm.CustomDist("likelihood", theta, logp=logp, observed=y, **SIZE)
    step = pmg.SGNHT(step_size=1e-3, model=model)
    rows = np.arange(BATCH)
    at = {
        step.sampler.problem.potential.positions[0]: np.array(0.5),
        step.sampler.problem.potential.indices[0]: rows,
    }
    energy = step.sampler.problem.potential.energy(
        step.sampler.problem.potential.positions, step.sampler.problem.potential.indices
    ).eval(at)
    prior = 0.5 * (np.log(2 * np.pi) + 0.25)
    assert energy == pytest.approx(N / BATCH * ((Y[:BATCH] - 0.5) ** 2).sum() + prior)

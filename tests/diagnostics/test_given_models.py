#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Checks of a run read batches of the model that was given, as the run did."""

import numpy as np
import pandas as pd
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.runs.refined import as_drawn

N = 2_000


def regression():
    rng = np.random.default_rng(1)
    x = rng.standard_normal(N)
    with pm.Model(coords={"row": range(N)}) as model:
        b = pm.Normal("b", shape=2)
        mu = pm.Deterministic("mu", b[0] + b[1] * x, dims="row")
        pm.Normal("y", mu, 1.0, observed=1 - x + rng.standard_normal(N), dims="row")
    return model


@pytest.fixture(scope="module")
def run():
    model = regression()
    return model, pmg.sample(model=model, chains=2, random_seed=1, progressbar=False)


@pytest.fixture
def whole_gradients(monkeypatch):
    """Count the gradients of all rows."""
    found = []
    inner = HostGradient.whole

    def whole(self, *args, **kwargs):
        found.append(self.n_rows)
        return inner(self, *args, **kwargs)

    monkeypatch.setattr(HostGradient, "whole", whole)
    return found


@pytest.mark.parametrize(
    "check",
    [pmg.stein_check, pmg.kernel_stein_discrepancy, pmg.configurational_temperature],
    ids=lambda check: check.__name__,
)
def test_gradients_are_those_of_batches(run, check, whole_gradients):
    model, idata = run
    found = check(idata, model=model, max_draws=100, random_seed=1)
    # Once, at the center; gradients of a model without batches would all be of all rows.
    assert len(whole_gradients) == 1
    expected = check(idata, model=pmg.minibatch(model), max_draws=100, random_seed=1)
    assert str(found) == str(expected)


def test_gradients_of_all_rows_are_those_of_the_model(run):
    model, idata = run
    found = pmg.stein_check(idata, model=model, batches="all", max_draws=50).table["mean"]
    with model:
        exact = pm.sample(100, tune=100, chains=2, cores=1, progressbar=False, random_seed=1)
    # The record of the run names batches; that of NUTS has none, and the model is left as it is.
    drawn = as_drawn(idata)
    exact["posterior"] = drawn.posterior.isel(draw=slice(0, 100)).to_dataset()
    few = drawn.isel(draw=slice(0, 100))
    few.sample_stats.attrs = idata.sample_stats.attrs
    ours = pmg.stein_check(few, model=model, batches="all").table["mean"]
    theirs = pmg.stein_check(exact, model=model).table["mean"]
    np.testing.assert_allclose(ours[theirs.index], theirs, rtol=1e-6, atol=1e-9)
    assert len(found) == len(theirs)


def test_halved_steps_are_of_batches():
    options = {"tune": 100, "draws": 50, "chains": 2, "random_seed": 1}
    result = pmg.step_halving(regression(), **options)
    assert {name for name, *_ in result.table.index} == {"b[0]", "b[1]"}
    expected = pmg.step_halving(pmg.minibatch(regression()), **options)
    pd.testing.assert_frame_equal(result.table, expected.table)


def test_starts_are_found_from_batches():
    model = regression()
    starts = pmg.find_starts(model, chains=2, random_seed=1)
    expected = pmg.find_starts(pmg.minibatch(model), chains=2, random_seed=1)
    np.testing.assert_array_equal(starts[0]["b"], expected[0]["b"])
    assert np.abs(starts[0]["b"] - [1, -1]).max() < 0.2

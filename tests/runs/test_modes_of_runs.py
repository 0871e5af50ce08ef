#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Runs whose posterior has several modes say so, and those with one do not."""

import logging

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.run_record import read_records

OPTIONS = {"draws": 200, "tune": 200, "progressbar": False}


def squared(y, prior_mean=1.0, **options):
    """A number of which the data know the square."""
    with pm.Model() as model:
        t = pm.Normal("t", prior_mean, 1.0, **options)
        batch = pm.Minibatch(y, batch_size=50)
        pm.Normal("y", t**2, 1.0, observed=batch, total_size=len(y))
    return model


@pytest.fixture(scope="module")
def y():
    return np.random.default_rng(1).normal(1.7, 1.0, 1_000)


def verdict(idata, model):
    return pmg.diagnose(idata, model=model)


def test_chains_begin_in_both_modes_and_the_verdict_says_what_they_weigh(y, caplog):
    model = squared(y)
    with model, caplog.at_level(logging.INFO):
        idata = pmg.sample(random_seed=1, **OPTIONS)
    [record] = read_records(idata)
    root = np.sqrt(y.mean())
    odds = np.exp(2 * root)
    assert record.modes.weight == pytest.approx(odds / (1 + odds), abs=0.01)
    [other] = record.modes.others
    assert (other.entry, other.value) == ("t", pytest.approx(-root, rel=0.01))
    assert list(record.modes.counts) == [3, 1]
    means = idata.posterior["t"].mean("draw").to_numpy()
    np.testing.assert_allclose(means, root * np.array([1, 1, 1, -1]), rtol=0.02)
    # Scales of each mode are measured there.
    spread = idata.posterior["t"].std("draw").to_numpy()
    np.testing.assert_allclose(spread, 1 / (2 * root * len(y) ** 0.5), rtol=0.25)
    assert "The posterior has 2 modes that matter" in caplog.text
    found = verdict(idata, model)
    assert found.names == ("several_modes",)
    assert found.findings[0].severity == "error"


def test_a_start_of_the_user_stays_and_the_other_mode_is_told(y):
    model = squared(y, initval=-1.0)
    with model:
        idata = pmg.sample(random_seed=1, **OPTIONS)
    assert idata.posterior["t"].max() < 0
    [record] = read_records(idata)
    assert list(record.modes.counts) == [0, 4]
    assert verdict(idata, model).names == ("several_modes",)


def test_a_chain_of_pymc_records_what_it_found(y):
    model = squared(y, 0.0)
    with model:
        step = pmg.SGNHT()
        idata = pm.sample(step=step, chains=2, cores=1, random_seed=2, **OPTIONS)
    [record] = read_records(idata)
    assert record.modes.weight == pytest.approx(0.5, abs=0.01)
    assert "several_modes" in verdict(idata, model).names


def test_other_labels_are_no_fault():
    rng = np.random.default_rng(5)
    y = rng.normal(np.where(rng.random(600) < 0.4, -2.0, 2.0), 1.0)
    with pm.Model() as model:
        mu = pm.Normal("mu", 0.0, 3.0, shape=2)
        w = pm.Dirichlet("w", np.ones(2))
        batch = pm.Minibatch(y, batch_size=50)
        pm.NormalMixture("y", w, mu, 1.0, observed=batch, total_size=len(y))
        idata = pmg.sample(random_seed=1, **OPTIONS)
    [record] = read_records(idata)
    assert record.modes.weight == 1.0
    assert not record.modes.others
    assert "several_modes" not in verdict(idata, model).names


def test_it_says_where_it_could_not_look():
    rows = np.random.default_rng(1).normal(2.0, 1.0, (60, 20))
    with pm.Model():
        mean = pm.Normal("mean", 0.0, 10.0)
        batch = pm.Data("batch", rows[0])
        pm.Normal("y", mean, 1.0, observed=batch, total_size=rows.size)
        idata = pmg.sample(step=pmg.SGNHT(data={"batch": list(rows)}), random_seed=1, **OPTIONS)
    [record] = read_records(idata)
    assert record.modes.not_looked == "the data come from a loader"
    assert "Not checked: other modes of the posterior" in str(verdict(idata, None))


def test_draws_of_one_mode_are_those_of_a_run_without_the_search(y, monkeypatch):
    with pm.Model() as model:
        mean = pm.Normal("mean", 0.0, 10.0)
        batch = pm.Minibatch(y, batch_size=50)
        pm.Normal("y", mean, 1.0, observed=batch, total_size=len(y))
    runs = []
    for limit in (400, 0):
        monkeypatch.setattr("pymc_geodesic.sampling.mode_search.LARGEST", limit)
        with model:
            runs.append(pmg.sample(random_seed=1, **OPTIONS).posterior["mean"].to_numpy())
    np.testing.assert_array_equal(*runs)


def test_starts_for_other_samplers_are_in_all_modes(y):
    starts = pmg.find_starts(squared(y, 0.0), chains=4, random_seed=1)
    assert sorted(np.sign([float(one["t"]) for one in starts])) == [-1, -1, 1, 1]

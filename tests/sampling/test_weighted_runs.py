#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Whole runs whose rows are drawn by weight: the posterior, news, and runs that go on from disk."""

import logging

import numpy as np
import pymc as pm
import pytest

from scipy.special import expit

import pymc_geodesic as pmg

from pymc_geodesic.sampling import begin, run

N = 60_000


def data():
    """A regressor with a heavy tail, and few events."""
    rng = np.random.default_rng(1)
    x = np.column_stack([np.ones(N), rng.standard_normal(N), rng.lognormal(0, 2.2, N)])
    return x, (rng.random(N) < expit(x @ [-4.0, 0.5, 0.004])).astype("int32")


def model():
    x, y = data()
    with pm.Model() as made:
        xb, yb = pm.Minibatch(x, y, batch_size=200)
        beta = pm.Normal("beta", 0.0, 5.0, shape=3)
        pm.Bernoulli("y", logit_p=xb @ beta, observed=yb, total_size=N)
    return made


def mode_and_covariance():
    x, y = data()
    beta = np.array([-4.0, 0.5, 0.004])
    for _ in range(50):
        p = expit(x @ beta)
        curvature = (x * (p * (1 - p))[:, None]).T @ x + np.eye(3) / 25
        beta = beta + np.linalg.solve(curvature, x.T @ (y - p) - beta / 25)
    return beta, np.linalg.inv(curvature)


RUN = {"chains": 2, "random_seed": 1, "progressbar": False}


def test_a_posterior_that_few_rows_determine(caplog):
    with caplog.at_level(logging.INFO, logger="pymc"):
        idata = pmg.sample(model=model(), tune=500, draws=1000, **RUN)
    assert "rows by their weight" in caplog.text
    mode, covariance = mode_and_covariance()
    draws, sd = idata.posterior["beta"].values.reshape(-1, 3), np.sqrt(np.diag(covariance))
    # Of 800 effective draws, beside the error of the normal approximation.
    assert np.all(np.abs(draws.mean(axis=0) - mode) < 0.25 * sd)
    assert np.all(np.abs(np.log(draws.std(axis=0) / sd)) < 0.15)


def test_a_run_goes_on_from_disk_with_its_weights(tmp_path):
    pytest.importorskip("zarr")
    options = RUN | {"compute_convergence_checks": False}
    path, made = tmp_path / "run", model()
    whole = pmg.sample(model=made, tune=40, draws=30, **options)
    pmg.sample(model=made, tune=40, draws=20, checkpoint=path, **options)
    options.pop("chains"), options.pop("random_seed")
    longer = pmg.resume(path, model=made, draws=30, **options)
    np.testing.assert_array_equal(longer.posterior["beta"], whole.posterior["beta"])


def test_rows_are_drawn_as_noise_was_measured_without_control_variates(monkeypatch):
    monkeypatch.setattr("pymc_geodesic.tuning.self_tuner.PAYS_BELOW", 0.0)
    rng, group = np.random.default_rng(2), np.arange(3_000) % 30
    with pm.Model():
        g, y = pm.Minibatch(group, rng.standard_normal(3_000), batch_size=60)
        a = pm.Normal("a", shape=30)
        pm.Normal("y", a[g], 1.0, observed=y, total_size=3_000)
        sampler = pmg.SGNHT().sampler
    chains, *_ = run(sampler, [begin(sampler, random_seed=1, tune=20, draws=5)], 20)
    assert not chains[0].tuning.controlled
    [rows] = sampler.calls.randomness(chains[0], 50).rows
    counts = [np.bincount(group[of_one], minlength=30) for of_one in rows]
    expected = rows.shape[1] / 30
    assert np.abs(counts - np.full(30, expected)).max() < 2

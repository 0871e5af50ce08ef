#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Whole runs whose rows are drawn by weight: the posterior, news, and runs that go on from disk."""

import logging

import numpy as np
import pymc as pm
import pytest

from scipy.special import expit

import pymc_geodesic as pmg

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

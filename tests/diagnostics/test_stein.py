#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stein identities hold for draws of the posterior, and for no others."""

import arviz as az
import numpy as np
import pymc as pm
import pytest

from draws import independent_draws, model

import pymc_geodesic as pmg

from pymc_geodesic.diagnostics.stein import _holm


@pytest.fixture(scope="module")
def target():
    return model()


def test_draws_of_the_posterior_pass(target):
    check = pmg.stein_check(independent_draws(), model=target)
    assert check.passed, str(check)
    assert "within Monte Carlo error" in str(check)
    # Coordinates and squares, and products of each point's pairs.
    sizes = [2, 1, 3, 4, 4, 3]
    assert len(check.table) == sum(2 * n + n * (n - 1) // 2 for n in sizes)
    assert np.abs(check.table["z"]).max() > 1


def test_draws_that_are_too_hot_fail_on_every_manifold(target):
    check = pmg.stein_check(independent_draws(temperature=1.5), model=target)
    failed = {name[0] for name in check.failed.index}
    assert failed == {"x", "k", "u", "d"}
    assert "contradict" in str(check)
    loose = pmg.stein_check(independent_draws(temperature=1.05), model=target, tolerance=0.2)
    assert loose.passed


def test_a_shifted_mean_fails_at_order_one(target):
    idata = independent_draws()
    idata["posterior"]["x"] = idata["posterior"]["x"] + 0.3 * np.array([0.1, 0.0])
    check = pmg.stein_check(idata, model=target, order=1, var_names=["x"])
    assert list(check.failed.index) == ["x[0]"]
    assert list(check.table.index) == ["x[0]", "x[1]"]


def regression(n=2000, batch=50):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n, 2))
    y = x @ [1.0, -1.0] + rng.normal(size=n)
    precision = x.T @ x + np.eye(2)
    mean = np.linalg.solve(precision, x.T @ y)
    with pm.Model() as result:
        x_batch, y_batch = pm.Minibatch(x, y, batch_size=batch)
        beta = pm.Normal("beta", shape=2)
        pm.Normal("y", x_batch @ beta, 1.0, observed=y_batch, total_size=n)
    return result, mean, np.linalg.inv(precision)


@pytest.mark.parametrize("batches", [1, "all"])
def test_minibatch_gradients_test_the_whole_posterior(batches):
    noisy, mean, covariance = regression()
    rng = np.random.default_rng(2)
    draws = rng.multivariate_normal(mean, covariance, (4, 250))
    right = az.from_dict({"posterior": {"beta": draws}})
    check = pmg.stein_check(right, model=noisy, batches=batches, random_seed=1)
    assert check.passed, str(check)
    wrong = az.from_dict({"posterior": {"beta": mean + 1.5 * (draws - mean)}})
    assert not pmg.stein_check(wrong, model=noisy, batches=batches, random_seed=1).passed
    temperature = pmg.configurational_temperature(wrong, model=noisy, random_seed=1).loc["beta"]
    assert abs(temperature["mean"] - 2.25) < 4 * temperature["mcse"]


def test_holm_multiplies_in_order():
    corrected = _holm(np.array([0.04, 0.001, 0.03, 0.9]))
    np.testing.assert_allclose(corrected, [0.09, 0.004, 0.09, 0.9])


def test_bad_input(target):
    idata = independent_draws(draws=30)
    with pytest.raises(ValueError, match="`order` expected 1 or 2, got 3"):
        pmg.stein_check(idata, model=target, order=3)
    with pytest.raises(ValueError, match=r"at least 20 draws per chain, got 10"):
        pmg.stein_check(independent_draws(draws=10), model=target)
    with pytest.raises(ValueError, match=r"`var_names` expected.*got \['z'\]"):
        pmg.stein_check(idata, model=target, var_names=["z"])
    with pytest.raises(ValueError, match="`batches` expected"):
        pmg.stein_check(idata, model=target, batches=0)


@pytest.mark.slow
def test_rate_of_false_alarms(target):
    """One in a hundred at most: with five in forty the level would be wrong by far."""
    failures = 0
    for seed in range(40):
        check = pmg.stein_check(
            independent_draws(seed=100 + seed, draws=100), model=target, level=0.05
        )
        failures += not check.passed
    assert failures <= 5

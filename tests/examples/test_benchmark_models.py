#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The models of the benchmark are the same with minibatches and with all rows."""

import importlib
import sys

from pathlib import Path

import numpy as np
import pytensor.tensor as pt
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.kernel.interpreted import Interpreted

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(
    not (ROOT / "benchmarks").is_dir(), reason="not part of a source archive"
)

KEYS = [
    *("quantile", "zero_inflated", "multinomial", "ridge", "horseshoe", "gaussian_process"),
    *("network", "crossed_small", "crossed_centered", "crossed_noncentered", "slopes_centered"),
    *("slopes_noncentered", "radon_85", "radon_3000", "negative_binomial", "ordinal", "survival"),
    *("item_response", "factorization", "mixture_regression", "dirichlet_process"),
]


@pytest.fixture(scope="module")
def load_benchmark():
    sys.path.insert(0, str(ROOT))
    yield lambda name: importlib.import_module(f"benchmarks.correctness.{name}")
    sys.path.remove(str(ROOT))


@pytest.fixture(scope="module")
def models(load_benchmark):
    return load_benchmark("ordinary_models").MODELS


def near_the_start(model):
    """Free values a little off the initial point, where much is zero by symmetry."""
    rng = np.random.default_rng(1)
    start = model.initial_point(random_seed=1)
    return {name: x + 0.1 * rng.standard_normal(x.shape) for name, x in start.items()}


def gradients(model, point):
    """Log density and its gradient by variable, by NumPy."""
    values, logp = model.value_vars, model.logp()
    function = Interpreted(values, [logp, *pt.grad(logp, values)])
    parts = function(*(point[v.name] for v in values))
    # A model of all data has the variables in another order.
    return dict(zip(["logp", *(v.name for v in values)], map(np.asarray, parts), strict=True))


def test_every_model_is_tested(models):
    assert sorted(models) == sorted(KEYS)


@pytest.mark.parametrize("key", KEYS)
def test_minibatches_have_the_posterior_of_all_rows(models, key):
    case = models[key]
    batches, whole = case.model(True), case.model(False)
    assert set(case.compared) <= set(whole.named_vars)
    point = near_the_start(whole)
    expected = gradients(whole, point)
    for found in (expected, gradients(batches, point)):
        assert all(np.isfinite(part).all() for part in found.values())
    of_all_data = gradients(pmg.full_data(batches), point)
    for name, part in expected.items():
        np.testing.assert_allclose(of_all_data[name], part, rtol=1e-8, atol=1e-6, err_msg=name)


N_IMPORTANCE = 5_000


def importance_weights(rng, log_prior, covariances, y, *, location, scale):
    """Deviations from a log-normal, and weights by the definition of their evidence."""
    logs = rng.normal(location, scale, (N_IMPORTANCE, len(location)))
    deviations = np.exp(logs)
    covariance = sum(
        deviations[:, i, None, None] ** 2 * matrix for i, matrix in enumerate(covariances[:-1])
    )
    covariance = covariance + covariances[-1]
    log_weight = -0.5 * np.linalg.slogdet(covariance)[1]
    log_weight -= 0.5 * np.linalg.solve(covariance, y[:, None])[..., 0] @ y
    log_weight += log_prior(deviations) + logs.sum(axis=1)
    log_weight += 0.5 * (((logs - location) / scale) ** 2).sum(axis=1)
    weight = np.exp(log_weight - log_weight.max())
    return deviations, covariance, weight / weight.sum()


def assert_moments(moments, draws, weight):
    mean, sd = moments
    error = 4.5 * np.sqrt(np.sum(weight**2))
    found = weight @ draws
    np.testing.assert_array_less(np.abs(found - mean) / sd, error)
    np.testing.assert_allclose(np.sqrt(weight @ (draws - found) ** 2), sd, rtol=2 * error)


def test_moments_of_ridge_regression(load_benchmark):
    rng = np.random.default_rng(0)
    design = rng.standard_normal((40, 4)) * [1.0, 2.0, 0.5, 1.0]
    y = design @ [0.5, 0.0, 1.0, -0.3] + rng.standard_normal(40)
    deviations, _, weight = importance_weights(
        rng,
        lambda found: -0.5 * (found[:, 0] ** 2 + (found[:, 1] / 2.0) ** 2),
        [design @ design.T, np.eye(40), 0.0],
        y,
        location=[-0.5, 0.0],
        scale=[0.8, 0.25],
    )
    tau, sigma = deviations.T
    precision = design.T @ design / sigma[:, None, None] ** 2 + np.eye(4) / tau[:, None, None] ** 2
    inverse = np.linalg.inv(precision)
    beta = inverse @ (design.T @ y) / sigma[:, None] ** 2
    beta += (np.linalg.cholesky(inverse) @ rng.standard_normal((N_IMPORTANCE, 4, 1)))[..., 0]
    moments = load_benchmark("ordinary_truths").ridge_moments(design, y, scales=(1.0, 2.0))
    assert_moments(moments, np.column_stack([beta, deviations]), weight)


def test_moments_of_crossed_effects(load_benchmark):
    rng = np.random.default_rng(0)
    user, item = np.append(np.arange(8), rng.integers(0, 8, 52)), np.tile(np.arange(6), 10)
    y = 2.5 + rng.standard_normal(8)[user] + 0.6 * rng.standard_normal(6)[item]
    y += rng.standard_normal(60)
    same_user, same_item = (np.equal.outer(index, index) * 1.0 for index in (user, item))
    deviations, covariance, weight = importance_weights(
        rng,
        lambda found: -0.5 * np.sum(found**2, axis=1),
        [same_user, same_item, np.eye(60), np.ones((60, 60))],
        y - 2.0,
        location=[-0.1, -0.5, 0.0],
        scale=[0.4, 0.6, 0.15],
    )
    # mu, whose prior has variance one, given the rows.
    along = np.linalg.solve(covariance, np.ones((60, 1)))[..., 0]
    mu = 2.0 + along @ (y - 2.0)
    mu += np.sqrt(1 - along.sum(axis=1)) * rng.standard_normal(N_IMPORTANCE)
    moments = load_benchmark("ordinary_truths").crossed_moments(user, item, y, prior_mean=2.0)
    assert_moments(moments, np.column_stack([mu, deviations]), weight)

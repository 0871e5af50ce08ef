#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Regressions with more than a hundred coefficients have the mass of their whole curvature."""

import arviz as az
import numpy as np
import pymc as pm
import pytest

from scipy.special import expit, softmax

import pymc_geodesic as pmg

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.mass import JointMass, LowRankMass
from pymc_geodesic.mass.arrays import joined
from pymc_geodesic.potential import Potential
from pymc_geodesic.tuning import frame as frame_module
from pymc_geodesic.tuning.curvature import second_derivatives
from pymc_geodesic.tuning.frame import LARGEST_WIDE, anchored_frame, dense_pays

N, N_FEATURES, N_LABELS = 20_000, 20, 8


def softmax_data():
    """Correlated features, and labels that depend on them."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((N, N_FEATURES)) + 2 * rng.standard_normal((N, 1))
    logits = x @ rng.normal(0, 0.5, (N_FEATURES, N_LABELS))
    y = (softmax(logits, axis=1).cumsum(axis=1) < rng.random((N, 1))).sum(axis=1)
    return x, y.astype("int32")


def softmax_model(x, y, *, batch_size=500):
    """Logits of all labels, whose means only the prior knows."""
    with pm.Model() as model:
        xb, yb = pm.Minibatch(x, y, batch_size=batch_size)
        weight = pm.Normal("weight", 0, 1, shape=(N_FEATURES, N_LABELS))
        pm.Categorical("y", logit_p=xb @ weight, observed=yb, total_size=len(y))
    return model


def mode_and_curvature(x, y):
    """The mode by Newton's method, and the second derivatives there."""
    weight = np.zeros((N_FEATURES, N_LABELS))
    for _ in range(12):
        p = softmax(x @ weight, axis=1)
        gradient = weight - x.T @ (np.eye(N_LABELS)[y] - p)
        curvature = np.zeros((N_FEATURES, N_LABELS, N_FEATURES, N_LABELS))
        for k in range(N_LABELS):
            for m in range(N_LABELS):
                shares = p[:, k] * ((k == m) - p[:, m])
                curvature[:, k, :, m] = (x * shares[:, None]).T @ x
        matrix = curvature.reshape(weight.size, -1) + np.eye(weight.size)
        weight = weight - np.linalg.solve(matrix, gradient.ravel()).reshape(weight.shape)
    return weight, matrix


def groups_model(n_groups=200):
    rng = np.random.default_rng(1)
    group, y = rng.integers(0, n_groups, 5_000), rng.standard_normal(5_000)
    with pm.Model() as model:
        gb, yb = pm.Minibatch(group, y, batch_size=500)
        effect = pm.Normal("effect", 0, 1, shape=n_groups)
        pm.Normal("y", effect[gb], 1.0, observed=yb, total_size=5_000)
    return model


def host_of(model):
    return HostGradient(Potential(model, model.value_vars, initial_point=model.initial_point()))


@pytest.fixture(scope="module")
def data():
    return softmax_data()


@pytest.fixture(scope="module")
def truth(data):
    return mode_and_curvature(*data)


def test_a_dense_mass_pays_where_rows_concern_many_entries(data):
    gradient = host_of(softmax_model(*data))
    assert dense_pays(gradient, [np.zeros((N_FEATURES, N_LABELS))])
    assert not dense_pays(host_of(groups_model()), [np.zeros(200)])


def test_a_matrix_that_leaves_the_cache_does_not_pay():
    n = LARGEST_WIDE + 1
    x = np.random.default_rng(1).standard_normal((600, n))
    with pm.Model() as model:
        xb, yb = pm.Minibatch(x, x[:, 0].copy(), batch_size=100)
        beta = pm.Normal("beta", shape=n)
        pm.Normal("y", xb @ beta, 1.0, observed=yb, total_size=600)
    assert not dense_pays(host_of(model), [np.zeros(n)])


@pytest.mark.parametrize("n_rows", [1_000, 7_300])
def test_second_derivatives_of_many_entries_are_those_of_differences(data, n_rows):
    gradient, rng = host_of(softmax_model(*data)), np.random.default_rng(1)
    point, rows = [rng.normal(0, 0.2, (N_FEATURES, N_LABELS))], [np.arange(n_rows)]
    found = second_derivatives(gradient, point, rows=rows)
    # Parts of equal length have all rows but some of the last.
    n_parts = max(1, n_rows // 2_500)
    rows = [np.arange(n_rows // n_parts * n_parts)]
    for i in (0, 37, 159):
        h, units = 1e-5, np.eye(160)[i].reshape(N_FEATURES, N_LABELS)
        ends = gradient.many([[point[0] + h * units], [point[0] - h * units]], [rows, rows])
        slopes = [joined(one.pulled_back) for one in ends]
        expected = (slopes[0] - slopes[1]) / (2 * h)
        np.testing.assert_allclose(found[i], expected, atol=1e-4 * np.abs(expected).max())


def test_second_derivatives_of_more_variables_than_jax_takes_quickly():
    with pm.Model() as model:
        for i in range(101):
            pm.Normal(f"x{i}", 0.0, 1.0 + i)
    gradient = host_of(model)
    found = second_derivatives(gradient, [np.zeros(())] * 101, rows=[])
    np.testing.assert_allclose(found, np.diag((1.0 + np.arange(101)) ** -2), atol=1e-12)


def test_the_frame_is_that_of_the_mode_of_all_rows(data, truth):
    gradient, rng = host_of(softmax_model(*data)), np.random.default_rng(1)
    start, (mode, curvature) = [np.zeros((N_FEATURES, N_LABELS))], truth
    rows = gradient.rows(rng, 2_000)
    frame = anchored_frame(gradient, [start], rows=rows, form="low_rank", fixed=None, rng=rng)
    assert frame.is_gaussian
    assert isinstance(frame.mass, JointMass)
    assert np.sqrt(np.mean(frame.mass.whiten([frame.point[0] - mode]) ** 2)) < 0.15
    columns = [
        joined(frame.mass.whiten([x.reshape(mode.shape)]))
        for x in np.linalg.cholesky(np.linalg.inv(curvature)).T
    ]
    widths = np.linalg.eigvalsh(np.transpose(columns) @ np.array(columns))
    assert widths[0] > 0.7
    assert widths[-1] < 1.4


def test_a_mode_that_is_off_in_single_entries_keeps_its_curvature(data, monkeypatch):
    """The evidence decides between it and an approximation without most correlations."""
    monkeypatch.setattr(frame_module, "is_gaussian_around", lambda *args, **kwargs: False)
    gradient, rng = host_of(softmax_model(*data)), np.random.default_rng(1)
    rows, start = gradient.rows(rng, 2_000), [np.zeros((N_FEATURES, N_LABELS))]
    frame = anchored_frame(gradient, [start], rows=rows, form="low_rank", fixed=None, rng=rng)
    assert isinstance(frame.mass, JointMass)
    assert not frame.is_gaussian


def test_effects_of_groups_keep_few_directions():
    gradient, rng = host_of(groups_model()), np.random.default_rng(1)
    rows = gradient.rows(rng, 2_000)
    start = [np.zeros(200)]
    frame = anchored_frame(gradient, [start], rows=rows, form="low_rank", fixed=None, rng=rng)
    assert isinstance(frame.mass, LowRankMass)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_softmax_regression_by_defaults(data, truth):
    """Wide directions that only the prior knows mix as the others do."""
    x, y = data
    mode, curvature = truth
    with pm.Model() as model:
        weight = pm.Normal("weight", 0, 1, shape=(N_FEATURES, N_LABELS))
        pm.Categorical("y", logit_p=pm.math.dot(x, weight), observed=y)
    idata = pmg.sample(model=model, tune=600, random_seed=1, progressbar=False)
    found = idata.posterior["weight"]
    assert float(az.rhat(found).max()) < 1.02
    assert float(az.ess(found).min()) > 400
    scales = np.sqrt(np.diag(np.linalg.inv(curvature))).reshape(mode.shape)
    flat = found.values.reshape(-1, *mode.shape)
    # Laplace's approximation, from which the posterior differs by hundredths.
    assert np.abs((flat.mean(axis=0) - mode) / scales).max() < 0.3
    ratios = flat.std(axis=0) / scales
    assert ratios.min() > 0.85
    assert ratios.max() < 1.15


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_correlated_columns_beyond_a_hundred():
    """150 columns mix as 90 do, with a mass of all correlations."""
    rng, n, d = np.random.default_rng(2), 50_000, 150
    x = rng.standard_normal((n, d))
    for j in range(1, d):
        x[:, j] = 0.9 * x[:, j - 1] + np.sqrt(1 - 0.81) * x[:, j]
    y = (rng.random(n) < expit(x @ rng.normal(0, 0.2, d))).astype("int32")
    with pm.Model() as model:
        beta = pm.Normal("beta", 0, 1, shape=d)
        pm.Bernoulli("y", logit_p=pm.math.dot(x, beta), observed=y)
    idata = pmg.sample(model=model, tune=600, random_seed=1, progressbar=False)
    n_steps = int(idata.sample_stats["n_steps"].values.max())
    assert n_steps <= 15
    mode = np.zeros(d)
    for _ in range(12):
        p = expit(x @ mode)
        curvature = (x * (p * (1 - p))[:, None]).T @ x + np.eye(d)
        mode = mode + np.linalg.solve(curvature, x.T @ (y - p) - mode)
    scales = np.sqrt(np.diag(np.linalg.inv(curvature)))
    flat = idata.posterior["beta"].values.reshape(-1, d)
    assert np.abs((flat.mean(axis=0) - mode) / scales).max() < 0.3
    assert np.abs(flat.std(axis=0) / scales - 1).max() < 0.15

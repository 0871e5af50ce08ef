#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Frames by all rows: where few rows matter, and where a subsample has missed them."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

from scipy.special import expit

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.kernel.row_weights import RowWeights
from pymc_geodesic.mass.arrays import VariableMasses, joined
from pymc_geodesic.potential import Potential
from pymc_geodesic.tuning.all_rows_frame import by_weight, sizes_of_rows, weigh, with_all_rows
from pymc_geodesic.tuning.approximation import approximate
from pymc_geodesic.tuning.frame import anchored_frame
from pymc_geodesic.tuning.starts import best_starts

N = 100_000


def logistic(x, y, *, batch_size=200, prior=5.0):
    with pm.Model() as model:
        xb, yb = pm.Minibatch(x, y.astype("int32"), batch_size=batch_size)
        beta = pm.Normal("beta", 0.0, prior, shape=x.shape[1])
        pm.Bernoulli("y", logit_p=xb @ beta, observed=yb, total_size=len(y))
    return model


def heavy():
    """A regressor with a heavy tail: a few rows determine its coefficient."""
    rng = np.random.default_rng(1)
    x = np.column_stack([np.ones(N), rng.standard_normal(N), rng.lognormal(0, 2.2, N)])
    return x, rng.random(N) < expit(x @ [-3.0, 0.5, 0.004])


def rare():
    """Twelve events, which no subsample is sure to have."""
    rng = np.random.default_rng(2)
    flag = rng.random(3 * N) < 0.01
    y = np.zeros(3 * N, bool)
    y[np.flatnonzero(flag)[:8]] = y[np.flatnonzero(~flag)[:4]] = True
    return np.column_stack([np.ones(3 * N), flag]), y


def alike():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((N, 3))
    return x, rng.random(N) < expit(x @ [1.0, 0.0, -0.5])


def host(model):
    point = model.initial_point()
    return HostGradient(Potential(model, model.value_vars, initial_point=point))


def frames(x, y):
    """The frame of a subsample, and that of all rows."""
    gradient, rng = host(logistic(x, y)), np.random.default_rng(5)
    start = [np.zeros(x.shape[1])]
    rows = gradient.rows(rng, 10_000)
    first = anchored_frame(gradient, [start], rows=rows, form="dense", fixed=None, rng=rng)
    found = with_all_rows(gradient, first, start=start, form="dense", rng=rng)
    return gradient, first, found


def mode_and_curvature(x, y):
    beta = np.zeros(x.shape[1])
    beta[0] = -3.0
    for _ in range(100):
        p = expit(x @ beta)
        curvature = (x * (p * (1 - p))[:, None]).T @ x + np.eye(len(beta)) / 25
        move = np.linalg.solve(curvature, x.T @ (y - p) - beta / 25)
        beta = beta + move * min(1, 1 / np.abs(x @ move).max())
    return beta, curvature


@pytest.mark.parametrize("data", [heavy, rare])
def test_few_rows_that_matter_are_seen(data):
    x, y = data()
    gradient, _, found = frames(x, y)
    mode, curvature = mode_and_curvature(x, y)
    away = found.point[0] - mode
    # The mode itself is the aim where the posterior is Gaussian; that of few events is skew.
    assert away @ curvature @ away < (0.1 if data is heavy else 0.7)
    units = np.array([found.mass.rate([unit])[0] for unit in np.eye(len(mode))])
    widths = np.linalg.eigvalsh(units @ curvature @ units.T)
    assert widths.min() > 0.5
    assert widths.max() < 2
    assert gradient.weights is not None


def test_rows_that_are_alike_keep_their_frame_and_equal_weights():
    gradient, first, found = frames(*alike())
    assert found is first
    assert gradient.weights is None


def test_rows_are_drawn_as_before_where_no_size_is_finite():
    x, y = alike()
    gradient, rng = host(logistic(x, y)), np.random.default_rng(6)
    mass = VariableMasses([np.ones(3)], dense=[False], shapes=[(3,)], dtype="float64")
    gradient.weights = given = RowWeights.proportional_to(np.arange(1.0, N + 1))
    weigh(gradient, [np.full(3, np.nan)], mass=mass, rng=rng)
    assert gradient.weights is given
    assert len(gradient.rows(rng, 10)[0]) == 10


def test_sizes_of_rows_are_their_leverages():
    x, y = heavy()
    gradient, _, found = frames(x, y)
    sizes = sizes_of_rows(gradient, found.point, mass=found.mass, rng=np.random.default_rng(1))
    p = expit(x @ found.point[0])
    units = np.array([found.mass.rate([unit])[0] for unit in np.eye(x.shape[1])])
    leverage = p * (1 - p) * np.sum((x @ units.T) ** 2, axis=1)
    # Of a quadratic form in one direction, times the root of three for the mean square.
    ratios = sizes / leverage / np.sqrt(3)
    low, median, high = np.quantile(ratios, [0.05, 0.5, 0.95])
    assert 0.4 < median < 1.2
    assert 0.1 < low < high < 3
    assert RowWeights.proportional_to(sizes).gain(sizes) > 10


@pytest.fixture(scope="module")
def money():
    """A column in money under a logarithmic link, and the gradients of its model."""
    rng = np.random.default_rng(6)
    x = np.exp(rng.normal(11, 1.2, 20_000)).round()
    y = rng.gamma(2.0, np.exp(5.0 + 2e-7 * x) / 2)
    with pm.Model() as model:
        xb, yb = pm.Minibatch(x, y, batch_size=200)
        a, b = pm.Normal("a", 0, 10), pm.Normal("b", 0, 1)
        mean = pm.math.exp(a + b * xb)
        pm.Gamma("y", alpha=2.0, beta=2.0 / mean, observed=yb, total_size=20_000)
    return host(model)


@pytest.mark.parametrize("seed", range(6))
def test_a_column_in_money_has_a_scale_of_its_own_under_a_logarithmic_link(money, seed):
    start = [np.zeros(()), np.zeros(())]
    found = approximate(money, start, rng=np.random.default_rng(seed))
    assert found is not None
    slope = joined(found.mass.force(money.whole(found.center).pulled_back))
    assert np.all(np.abs(slope) < 3)


@pytest.mark.parametrize("seed", range(6))
def test_starts_have_a_finite_energy_with_many_rows(money, seed):
    """A thousand rows may lack those in which a column of money overflows."""
    start = [np.zeros(()), np.zeros(())]
    rng = np.random.default_rng(seed)
    found = best_starts(money, start, movable=[True, True], rng=rng)
    assert all(np.isfinite(money.whole(point).energy) for point in found)


@pytest.mark.parametrize("are_even", [False, True])
def test_groups_of_uneven_sizes_are_fitted_by_weight_from_the_start(are_even):
    rng, n, n_groups = np.random.default_rng(8), 60_000, 150
    shares = np.full(n_groups, 1 / n_groups) if are_even else rng.dirichlet(np.full(n_groups, 0.4))
    group = rng.choice(n_groups, n, p=shares)
    effects = rng.normal(-1.0, 0.7, n_groups)
    y = (rng.random(n) < expit(effects[group])).astype("int32")
    with pm.Model() as model:
        gb, yb = pm.Minibatch(group, y, batch_size=500)
        mu, sigma = pm.Normal("mu", 0.0, 1.5), pm.HalfNormal("sigma", 1.0)
        a = pm.Normal("a", mu, sigma, shape=n_groups)
        pm.Bernoulli("y", logit_p=a[gb], observed=yb, total_size=n)
    gradient = host(model)
    start = [np.asarray(model.initial_point()[x.name]) for x in model.value_vars]
    found = by_weight(gradient, start, form="low_rank", rng=rng)
    if are_even:
        assert found is None
        assert gradient.weights is None
        return
    assert gradient.weights is not None
    n_rows = np.bincount(group, minlength=n_groups)
    many = n_rows > 200
    shares = np.bincount(group, y, n_groups)[many] / n_rows[many]
    away = found.point[2][many] - np.log(shares / (1 - shares))
    assert np.mean(away**2 * n_rows[many] * shares * (1 - shares)) < 1


@pytest.mark.parametrize("is_from_end", [True, False])
def test_rows_are_drawn_by_weight_where_an_index_tells_no_group(is_from_end):
    rng, n = np.random.default_rng(3), 20_000
    x, late = np.exp(rng.normal(0.0, 2.0, n)), rng.integers(0, 2, n).astype("int32")
    y = 0.5 + 0.2 * x + late + rng.standard_normal(n)
    with pm.Model() as model:
        xb, is_late, yb = pm.Minibatch(x, late, y, batch_size=100)
        effect, slope = pm.Normal("effect", shape=2), pm.Normal("slope")
        if is_from_end:
            of_row = effect[is_late - 2]
        else:
            of_row = effect[pt.concatenate([is_late, is_late])].reshape((2, -1))[0]
        pm.Normal("y", of_row + slope * xb, 1.0, observed=yb, total_size=n)
    gradient = host(model)
    assert len(gradient.groups_of_rows()) == 1
    mass = VariableMasses(
        [np.full(2, 0.01), np.array(1e-3)], dense=[False] * 2, shapes=[(2,), ()], dtype="float64"
    )
    weigh(gradient, [np.zeros(2), np.zeros(())], mass=mass, rng=rng)
    assert gradient.weights is not None


def test_codes_of_pandas_that_fill_their_type_are_groups():
    rng, n = np.random.default_rng(4), 20_000
    group = rng.integers(0, 100, n).astype("int8")
    x = np.exp(rng.normal(0.0, 2.0, n))
    y = 0.2 * x + rng.standard_normal(n)
    with pm.Model() as model:
        gb, xb, yb = pm.Minibatch(group, x, y, batch_size=100)
        effect, slope = pm.Normal("effect", shape=100), pm.Normal("slope")
        pm.Normal("y", effect[gb] + slope * xb, 1.0, observed=yb, total_size=n)
    gradient = host(model)
    mass = VariableMasses(
        [np.full(100, 0.07), np.array(1e-3)],
        dense=[False] * 2,
        shapes=[(100,), ()],
        dtype="float64",
    )
    # Warnings are errors.
    weigh(gradient, [np.zeros(100), np.zeros(())], mass=mass, rng=rng)
    assert gradient.weights is not None

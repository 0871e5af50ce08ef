#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Marginal likelihoods of groups against integration by SciPy and closed forms."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

from pytensor.gradient import grad
from scipy import integrate, stats
from tables import columns, logistic_table, marginal_logistic

import pymc_geodesic as pmg

from pymc_geodesic.groups.modes import log_integral
from pymc_geodesic.kernel.interpreted import Interpreted

POINT = {"mu": 0.3, "slope": 0.7, "tau_log__": np.log(1.2)}


def likelihood_of(model, point, *, gradient=True):
    """Log likelihood of each group, and the gradient of their sum; nothing is compiled."""
    [graph] = model.logp(vars=model.observed_RVs, sum=False)
    graphs = [graph, *grad(graph.sum(), model.value_vars)] if gradient else [graph]
    found = Interpreted(model.value_vars, graphs)(
        *(np.asarray(point[v.name], dtype=v.dtype) for v in model.value_vars)
    )
    return found[0], found[1:]


def groups_of(table, rows, *names):
    for label in rows.labels:
        here = np.asarray(table["user"]) == label
        yield [np.asarray(table[name])[here] for name in names]


def logistic_truth(table, rows, mu, slope, tau):
    def one(x, y):
        sign = 2.0 * y - 1

        def density(u):
            likelihood = np.exp(-np.logaddexp(0, -sign * (mu + slope * x + u)).sum())
            return likelihood * stats.norm.pdf(u, 0, tau)

        return np.log(integrate.quad(density, -10 * tau, 10 * tau, epsabs=1e-13, limit=200)[0])

    return np.array([one(x, y) for x, y in groups_of(table, rows, "x", "y")])


@pytest.mark.parametrize(("n_nodes", "error"), [(1, 0.05), (5, 1e-3), (9, 1e-5), (15, 1e-8)])
def test_random_intercepts_by_quadrature(n_nodes, error):
    table = logistic_table(30)
    rows = pmg.GroupedRows(table, by="user")
    found, slopes = likelihood_of(marginal_logistic(rows, n_nodes=n_nodes), POINT)
    truth = logistic_truth(table, rows, 0.3, 0.7, 1.2)
    np.testing.assert_allclose(found, truth, atol=error)

    def total(*values):
        return logistic_truth(table, rows, values[0], values[1], np.exp(values[2])).sum()

    if n_nodes == 9:
        h, point = 1e-3, np.array(list(POINT.values()))
        for i, slope in enumerate(slopes):
            step = h * np.eye(3)[i]
            expected = (total(*(point + step)) - total(*(point - step))) / (2 * h)
            assert slope == pytest.approx(expected, abs=2e-3)


def test_the_gradient_of_laplace_is_that_of_its_value():
    rows = pmg.GroupedRows(logistic_table(30), by="user")
    model = marginal_logistic(rows, n_nodes=1)
    _, slopes = likelihood_of(model, POINT)
    for name, slope in zip(POINT, slopes, strict=True):
        up, down = (
            likelihood_of(model, POINT | {name: POINT[name] + h}, gradient=False)[0].sum()
            for h in (1e-4, -1e-4)
        )
        assert slope == pytest.approx((up - down) / 2e-4, abs=1e-5)


def gaussian_model(rows, n_nodes):
    with pm.Model() as model:
        x, y, mask = columns(rows, ["x", "y"], None)
        mu, tau = pm.Normal("mu"), pm.HalfNormal("tau")
        effect = pm.Normal.dist(mu, tau, shape=x.shape[0])
        each = pm.Normal.dist(effect[:, None] + 0 * x, 0.5)
        pmg.MarginalLikelihood("y", each, effect, mask, n_nodes=n_nodes, observed=y)
    return model


@pytest.mark.parametrize("n_nodes", [1, 3])
def test_gaussian_rows_are_integrated_exactly(n_nodes):
    table = logistic_table(20)
    table["y"] = np.random.default_rng(3).normal(2.0, 1.0, len(table["x"]))
    rows = pmg.GroupedRows(table, by="user")
    found, _ = likelihood_of(gaussian_model(rows, n_nodes), {"mu": 0.2, "tau_log__": 0.3})
    spread = np.exp(0.3) ** 2
    truth = [
        stats.multivariate_normal.logpdf(y, np.full(len(y), 0.2), 0.25 * np.eye(len(y)) + spread)
        for (y,) in groups_of(table, rows, "y")
    ]
    np.testing.assert_allclose(found, truth, rtol=1e-7)


def test_effects_that_are_many_deviations_from_zero():
    """The search for the mode begins where the distribution of the effect is, not at zero."""
    table = logistic_table(20)
    table["y"] = np.random.default_rng(3).normal(50.0, 1.0, len(table["x"]))
    rows = pmg.GroupedRows(table, by="user")
    found, _ = likelihood_of(gaussian_model(rows, 7), {"mu": 50.2, "tau_log__": np.log(0.2)})
    truth = [
        stats.multivariate_normal.logpdf(y, np.full(len(y), 50.2), 0.25 * np.eye(len(y)) + 0.04)
        for (y,) in groups_of(table, rows, "y")
    ]
    np.testing.assert_allclose(found, truth, rtol=1e-7)


@pytest.mark.parametrize("n_nodes", [1, 7])
@pytest.mark.parametrize("distance", [-60.0, 5.0, 80.0])
def test_modes_that_are_many_prior_deviations_away(distance, n_nodes):
    """Rows that are known exactly, against a prior that expects nothing of the kind."""
    effect = pt.matrix("effect", shape=(None, 1))
    prior = -0.5 * effect[:, 0] ** 2
    joint = prior - 0.5 * ((effect[:, 0] - distance) / 1e-3) ** 2
    found = log_integral(joint, prior, effect, start=pt.zeros((1, 1)), n_nodes=n_nodes)
    width = 1 + 1e-6
    truth = -0.5 * distance**2 / width + 0.5 * np.log(2 * np.pi * 1e-6 / width)
    np.testing.assert_allclose(found.eval(), truth, rtol=1e-6)


COVARIANCE = np.array([[1.0, 0.5], [0.5, 0.8]])


def test_intercepts_and_slopes_by_quadrature():
    table = logistic_table(12)
    rows = pmg.GroupedRows(table, by="user")
    with pm.Model() as model:
        x, y, mask = columns(rows, ["x", "y"], None)
        mu = pm.Normal("mu")
        effect = pm.MvNormal.dist(np.zeros(2), cov=COVARIANCE, shape=(x.shape[0], 2))
        each = pm.Bernoulli.dist(logit_p=mu + effect[:, :1] + effect[:, 1:] * x)
        pmg.MarginalLikelihood("y", each, effect, mask, n_nodes=9, observed=y)
    found, _ = likelihood_of(model, {"mu": 0.3}, gradient=False)

    def one(x, y):
        grid = np.linspace(-8, 8, 321)
        a, b = np.meshgrid(grid, grid, indexing="ij")
        logit = 0.3 + a[..., None] + b[..., None] * x
        density = -np.logaddexp(0, -(2.0 * y - 1) * logit).sum(axis=-1)
        density += stats.multivariate_normal.logpdf(np.stack([a, b], -1), cov=COVARIANCE)
        return np.log(np.exp(density).sum() * (grid[1] - grid[0]) ** 2)

    truth = [one(x, y) for x, y in groups_of(table, rows, "x", "y")]
    np.testing.assert_allclose(found, truth, atol=1e-5)


def test_modes_far_from_the_prior_mean():
    # Counts of a thousand where the prior expects one: Newton steps in the exponential overshoot.
    table = {"user": np.repeat([0, 1, 2], 2), "x": np.zeros(6), "y": [1000, 1100, 0, 0, 3, 5]}
    rows = pmg.GroupedRows(table, by="user")
    with pm.Model() as model:
        x, y, mask = columns(rows, ["x", "y"], None)
        mu = pm.Normal("mu")
        effect = pm.Normal.dist(0, 2.0, shape=x.shape[0])
        each = pm.Poisson.dist(pt.exp(mu + effect[:, None] + x))
        pmg.MarginalLikelihood("y", each, effect, mask, n_nodes=15, observed=y)
    found, _ = likelihood_of(model, {"mu": 0.0}, gradient=False)
    grid = np.linspace(-20, 20, 400_001)
    truth = []
    for (counts,) in groups_of(table, rows, "y"):
        log_density = stats.norm.logpdf(grid, 0, 2.0)
        for count in counts:
            log_density = log_density + stats.poisson.logpmf(count, np.exp(grid))
        top = log_density.max()
        truth.append(top + np.log(np.exp(log_density - top).sum() * 1e-4))
    np.testing.assert_allclose(found, truth, atol=3e-4)


def test_parameters_outside_of_their_range_are_impossible():
    rows = pmg.GroupedRows(logistic_table(5), by="user")
    with pm.Model() as model:
        x, y, mask = columns(rows, ["x", "y"], None)
        tau = pm.Normal("tau")
        effect = pm.Normal.dist(0, tau, shape=x.shape[0])
        each = pm.Bernoulli.dist(logit_p=x + effect[:, None])
        pmg.MarginalLikelihood("y", each, effect, mask, observed=y)
    compiled = model.compile_logp(mode="FAST_COMPILE")
    assert np.isfinite(compiled({"tau": 1.0}))
    assert compiled({"tau": -1.0}) == -np.inf


def test_prior_draws_have_nothing_at_empty_places():
    rows = pmg.GroupedRows(logistic_table(10), by="user")
    with pm.Model():
        x, y, mask = columns(rows, ["x", "y"], None)
        effect = pm.Normal.dist(50.0, 1.0, shape=x.shape[0])
        each = pm.Bernoulli.dist(logit_p=effect[:, None])
        drawn = pmg.MarginalLikelihood("y", each, effect, mask, observed=y)
    draws = pm.draw(drawn, random_seed=1, mode="FAST_COMPILE")
    np.testing.assert_array_equal(draws, Interpreted([], [rows.mask])()[0])


def test_bad_arguments():
    rows = pmg.GroupedRows(logistic_table(10), by="user")
    x, _, mask = columns(rows, ["x", "y"], None)
    effect = pm.Normal.dist(0, 1, shape=x.shape[0])
    good = pm.Bernoulli.dist(logit_p=x + effect[:, None])
    with pytest.raises(ValueError, match="depends on `effect`"):
        pmg.MarginalLikelihood.dist(pm.Bernoulli.dist(logit_p=x), effect, mask)
    bounded = pm.HalfNormal.dist(1, shape=x.shape[0])
    with pytest.raises(ValueError, match="without bounds, got HalfNormal"):
        pmg.MarginalLikelihood.dist(pm.Normal.dist(bounded[:, None]), bounded, mask)
    three = pm.Normal.dist(0, 1, shape=(x.shape[0], 3))
    with pytest.raises(ValueError, match=r"or two, shape \(B, 2\)"):
        pmg.MarginalLikelihood.dist(pm.Normal.dist(three[:, :1] + x), three, mask)
    with pytest.raises(ValueError, match=r"`mask` expected `rows.mask`"):
        pmg.MarginalLikelihood.dist(good, effect, x)
    with pytest.raises(TypeError, match=r"made by `.dist`"):
        pmg.MarginalLikelihood.dist(good, x, mask)
    with pytest.raises(ValueError, match="`n_nodes` expected a whole number"):
        pmg.MarginalLikelihood.dist(good, effect, mask, n_nodes=0)

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Unusual models."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from pytensor.raise_op import Assert
from written_models import base, model


@model()
def nested_submodel_names(n=72):
    rng, X, _g = base(n)
    y = rng.standard_normal(n)
    with pm.Model() as m:
        with pm.Model(name="sub"):
            b = pm.Normal("b", shape=3)
        pm.Normal("y", X @ b, 1, observed=y)
    return m


@model()
def neural_network(n=72):
    rng, X, _g = base(n)
    y = rng.integers(0, 2, n)
    with pm.Model() as m:
        w1 = pm.Normal("w1", shape=(3, 5))
        w2 = pm.Normal("w2", shape=(5, 1))
        c = pm.Normal("c", shape=5)
        h = pm.math.tanh(pm.math.dot(X, w1) + c)
        h = (h - 0) / 1
        pm.Bernoulli("y", p=pm.math.sigmoid(pm.math.dot(h, w2))[:, 0], observed=y)
    return m


@model()
def line_between_free_knots(n=72):
    rng, X, _g = base(n)
    with pm.Model() as m:
        knot, heights = pm.Normal("knot"), pm.Normal("heights", shape=3)
        knots = pt.stack([-9.0, knot, 9.0])
        x = pm.Data("x", X[:, 0])
        i = pt.searchsorted(knots, x)
        slope = (heights[i] - heights[i - 1]) / (knots[i] - knots[i - 1])
        mu = heights[i - 1] + slope * (x - knots[i - 1])
        pm.Normal("y", mu, 1, observed=rng.standard_normal(n))
    return m


@model()
def take_along_and_choose(n=72):
    rng, X, _g = base(n)
    k = rng.integers(0, 3, n)
    y = rng.standard_normal(n)
    with pm.Model() as m:
        b = pm.Normal("b", shape=(3, 3))
        eta = X @ b
        pm.Normal(
            "y",
            eta[np.arange(n), k] + pt.take_along_axis(eta, k[:, None], axis=1)[:, 0],
            1,
            observed=y,
        )
    return m


@model()
def interpolation_and_where(n=72):
    rng, X, _g = base(n)
    y = rng.standard_normal(n)
    with pm.Model() as m:
        x = pm.Data("x", X[:, 0])
        cp = pm.Normal("cp")
        b = pm.Normal("b", shape=2)
        mu = pm.math.switch(x > cp, b[0] * (x - cp), b[1] * (x - cp))
        pm.Normal("y", mu, pm.math.where(x > 0, 1.0, 2.0), observed=y)
    return m


@model("function of all|depend")
def customdist_cross_rows(n=72):
    rng, X, _g = base(n)
    y = rng.standard_normal(n)
    with pm.Model() as m:
        b = pm.Normal("b", shape=3)
        pm.CustomDist("y", X @ b, logp=lambda v, mu: -((v - mu - pt.mean(v - mu)) ** 2), observed=y)
    return m


@model()
def customdist_summed_logp(n=72):
    rng, X, _g = base(n)
    y = rng.standard_normal(n)
    with pm.Model() as m:
        b = pm.Normal("b", shape=3)
        pm.CustomDist(
            "y", X @ b, logp=lambda v, mu: pt.sum(pm.logp(pm.Normal.dist(mu, 1), v)), observed=y
        )
    return m


@model("simulator of all rows")
def simulator_sum_stat(n=72):
    _rng, X, _g = base(n)
    with pm.Model() as m:
        a = pm.Normal("a")
        pm.Simulator(
            "y",
            lambda rng, a, size: rng.normal(a, 1, size=n),
            a,
            epsilon=1,
            sum_stat="sort",
            observed=X[:, 0],
        )
    return m


@model()
def prior_on_data_scale(n=72):
    rng, _X, _g = base(n)
    y = rng.standard_normal(n)
    with pm.Model() as m:
        yd = pm.Data("yd", y)
        b = pm.Normal("b", yd.mean(), 2 * yd.std())
        s = pm.HalfNormal("s", yd.std())
        pm.Normal("y", b, s, observed=yd)
    return m


@model()
def exposure_and_lookup(n=72):
    rng, X, _g = base(n)
    t = rng.integers(0, 10, n)
    y = rng.poisson(1, n)
    with pm.Model() as m:
        knots = pm.Normal("knots", shape=10)
        A = np.tril(np.ones((10, 10)))
        base_ = pm.Deterministic("base", pt.exp(A @ knots / 10))
        b = pm.Normal("b", shape=3)
        pm.Poisson("y", base_[t] * pt.exp(X @ b) * np.exp(X[:, 1]), observed=y)
    return m


@model()
def float32_config_like_columns(n=72):
    rng, X, _g = base(n)
    y = rng.standard_normal(n).astype("float32")
    with pm.Model() as m:
        x = pm.Data("x", X.astype("float32"))
        b = pm.Normal("b", shape=3)
        s = pm.HalfNormal("s")
        pm.Normal("y", pt.dot(x, b.astype("float32")), s, observed=y)
    return m


@model()
def rows_on_second_axis(n=72):
    rng, X, _g = base(n)
    Y = rng.standard_normal((4, n))
    with pm.Model() as m:
        a = pm.Normal("a", shape=(4, 1))
        b = pm.Normal("b", shape=(4, 3))
        s = pm.HalfNormal("s")
        pm.Normal("y", a + b @ X.T, s, observed=Y)
    return m


@model()
def ragged_sum_by_group_level(n=72):
    rng, X, g = base(n)
    y = rng.standard_normal(n)
    with pm.Model() as m:
        a = pm.Normal("a", shape=(7, 3))
        b = pm.Normal("b", shape=3)
        pm.Normal(
            "y",
            (a[g] * X).sum(axis=1) + pt.einsum("ij,j->i", X, b) + pt.linalg.norm(X, axis=1),
            1,
            observed=y,
        )
    return m


@model()
def covariate_measurement_error_summed_rows(n=72):
    rng, X, _g = base(n)
    y = rng.standard_normal(n)
    with pm.Model() as m:
        b = pm.Normal("b", shape=3)
        mu = X @ b
        r = y - mu
        pm.Potential("ll", -0.5 * pt.dot(r, r))
        pm.Potential("l2", -pt.sum(pt.sqr(r)) / n + pm.logp(pm.Normal.dist(0, 1), b).sum())
    return m


@model()
def product_with_data_of_three_axes(n=72):
    """Choices among alternatives with covariates: PyTensor makes one axis of the first two."""
    rng, _X, _g = base(n)
    X, y = rng.standard_normal((n, 4, 3)), rng.integers(0, 4, n)
    with pm.Model() as m:
        data = pm.Data("X", X)
        utility = pt.dot(data, pm.Normal("b", shape=3)) + pm.Normal("a", shape=4)
        pm.Categorical("y", logit_p=utility, observed=y)
    return m


@model()
def checks_of_one_axis_after_the_other(n=72):
    rng, X, _g = base(n)
    with pm.Model() as m:
        p = pm.math.invlogit(X[:, :, None] * pm.Normal("b", shape=2))
        is_valid = pt.all(pt.all(pt.ge(p, 0), axis=-1))
        p = Assert("0 <= p")(p, is_valid)
        pm.Bernoulli("y", p.mean(axis=(1, 2)), observed=rng.integers(0, 2, n))
    return m


@model()
def potential_of_dims_with_lengths_of_numpy(n=72):
    """Lengths of a variable's shape are NumPy's integers."""
    rng, X, _g = base(n)
    with pm.Model(coords={"row": range(n)}) as m:
        u = pm.Normal("u", dims="row")
        pm.Potential("p", (pm.logp(pm.Normal.dist(u, 1.0), X[:, 0]) * rng.random(n)).sum())
    return m

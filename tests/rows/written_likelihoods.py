#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Likelihoods of one number a row."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from written_models import base, model


@model()
def bernoulli_logit(n=72):
    rng, X, _g = base(n)
    y = rng.integers(0, 2, n)
    with pm.Model() as m:
        b = pm.Normal("b", shape=3)
        pm.Bernoulli("y", logit_p=X @ b, observed=y)
    return m


@model()
def binomial_trials(n=72):
    rng, X, _g = base(n)
    t = rng.integers(1, 9, n)
    y = rng.binomial(t, 0.4)
    with pm.Model() as m:
        b = pm.Normal("b", shape=3)
        pm.Binomial("y", n=t, p=pm.math.invlogit(X @ b), observed=y)
    return m


@model()
def categorical_softmax(n=72):
    rng, X, _g = base(n)
    y = rng.integers(0, 4, n)
    with pm.Model() as m:
        b = pm.Normal("b", shape=(3, 3))
        a = pm.Normal("a", shape=3)
        eta = pt.concatenate([pt.zeros((n, 1)), a + X @ b], axis=1)
        pm.Categorical("y", p=pm.math.softmax(eta, axis=1), observed=y)
    return m


@model()
def ordered_logistic(n=72):
    rng, X, _g = base(n)
    y = rng.integers(0, 4, n)
    with pm.Model() as m:
        b = pm.Normal("b", shape=3)
        c = pm.Normal(
            "c",
            mu=[-1, 0, 1],
            sigma=1,
            transform=pm.distributions.transforms.ordered,
            initval=[-1.0, 0, 1],
        )
        pm.OrderedLogistic("y", eta=X @ b, cutpoints=c, observed=y)
    return m


@model()
def multinomial_rows(n=72):
    rng, X, _g = base(n)
    y = rng.multinomial(10, [0.2, 0.3, 0.5], n)
    with pm.Model() as m:
        b = pm.Normal("b", shape=(3, 3))
        pm.Multinomial("y", n=10, p=pm.math.softmax(X @ b, axis=-1), observed=y)
    return m


@model()
def multinomial_varying_total(n=72):
    rng, _X, _g = base(n)
    t = rng.integers(5, 20, n)
    y = np.array([rng.multinomial(i, [0.2, 0.3, 0.5]) for i in t])
    with pm.Model() as m:
        p = pm.Dirichlet("p", np.ones(3))
        pm.Multinomial("y", n=t, p=p, observed=y)
    return m


@model()
def dirichlet_multinomial(n=72):
    rng, _X, _g = base(n)
    y = rng.multinomial(10, [0.2, 0.3, 0.5], n)
    with pm.Model() as m:
        f = pm.Dirichlet("f", np.ones(3))
        c = pm.LogNormal("c", 1, 1)
        pm.DirichletMultinomial("y", n=10, a=f * c, observed=y)
    return m


@model()
def dirichlet_regression(n=72):
    rng, X, _g = base(n)
    y = rng.dirichlet([2, 3, 4], n)
    with pm.Model() as m:
        b = pm.Normal("b", shape=(3, 3))
        pm.Dirichlet("y", a=pm.math.exp(X @ b), observed=y)
    return m


@model()
def mvnormal_rows(n=72):
    rng, X, _g = base(n)
    Y = rng.standard_normal((n, 2))
    with pm.Model() as m:
        b = pm.Normal("b", shape=(3, 2))
        chol, _, _ = pm.LKJCholeskyCov("chol", n=2, eta=2, sd_dist=pm.Exponential.dist(1))
        pm.MvNormal("y", mu=X @ b, chol=chol, observed=Y)
    return m


@model()
def censored_normal(n=72):
    rng, X, _g = base(n)
    y = np.clip(rng.standard_normal(n), -1, 1.2)
    with pm.Model() as m:
        b = pm.Normal("b", shape=3)
        s = pm.HalfNormal("s")
        pm.Censored("y", pm.Normal.dist(X @ b, s), lower=-1, upper=1.2, observed=y)
    return m


@model()
def censored_weibull_own_bounds(n=72):
    rng, X, _g = base(n)
    y = rng.weibull(1.5, n)
    up = np.where(rng.uniform(size=n) < 0.3, y, np.inf)
    with pm.Model() as m:
        b = pm.Normal("b", shape=3)
        a = pm.HalfNormal("a")
        pm.Censored(
            "y",
            pm.Weibull.dist(alpha=a + 0.5, beta=pm.math.exp(X @ b)),
            lower=None,
            upper=up,
            observed=y,
        )
    return m


@model()
def truncated_normal_dist(n=72):
    rng, X, _g = base(n)
    y = np.clip(rng.standard_normal(n), -0.9, 0.9)
    with pm.Model() as m:
        b = pm.Normal("b", shape=3)
        s = pm.HalfNormal("s")
        pm.Truncated("y", pm.Normal.dist(X @ b, s), lower=-1, upper=1, observed=y)
    return m

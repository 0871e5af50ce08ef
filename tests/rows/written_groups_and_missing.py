#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Groups, several likelihoods, missing data."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from written_models import base, model


@model()
def varying_intercepts(n=72):
    rng, X, g = base(n)
    y = rng.standard_normal(n)
    with pm.Model(coords={"g": range(7), "obs": range(n)}) as m:
        gi = pm.Data("gi", g, dims="obs")
        mu = pm.Normal("mu")
        t = pm.HalfNormal("t")
        a = pm.Normal("a", mu, t, dims="g")
        b = pm.Normal("b")
        s = pm.HalfNormal("s")
        pm.Normal("y", a[gi] + b * X[:, 0], s, observed=y, dims="obs")
    return m


@model()
def more_groups_than_batch_noncentred(n=72):
    rng, _X, g = base(n, groups=40)
    y = rng.standard_normal(n)
    u = rng.standard_normal(40)
    with pm.Model() as m:
        mu = pm.Normal("mu")
        c = pm.Normal("c")
        t = pm.HalfNormal("t")
        z = pm.Normal("z", shape=40)
        a = pm.Deterministic("a", mu + c * u + t * z)
        pm.Normal("y", a[g], 1, observed=y)
    return m


@model()
def crossed_and_nested(n=72):
    rng, _X, g = base(n)
    h = rng.integers(0, 5, n)
    parent = rng.integers(0, 3, 7)
    y = rng.standard_normal(n)
    with pm.Model() as m:
        r = pm.Normal("r", shape=3)
        a = pm.Normal("a", r[parent], 1, shape=7)
        b = pm.Normal("b", shape=(5, 7))
        pm.Normal("y", a[g] + b[h, g], 1, observed=y)
    return m


@model()
def correlated_slopes_lkj(n=72):
    rng, X, g = base(n)
    y = rng.standard_normal(n)
    with pm.Model() as m:
        chol, _, _ = pm.LKJCholeskyCov("chol", n=2, eta=2.0, sd_dist=pm.Exponential.dist(1.0))
        z = pm.Normal("z", shape=(2, 7))
        ab = pm.Deterministic("ab", pt.dot(chol, z).T)
        pm.Normal("y", ab[g, 0] + ab[g, 1] * X[:, 0], 1, observed=y)
    return m


@model()
def one_hot_matrix_of_groups(n=72):
    rng, _X, g = base(n)
    y = rng.standard_normal(n)
    D = np.eye(7)[g]
    with pm.Model() as m:
        a = pm.ZeroSumNormal("a", shape=7)
        s = pm.HalfNormal("s")
        pm.Normal("y", pt.dot(D, a), s, observed=y)
    return m


@model()
def random_walk_over_periods(n=72):
    rng, _X, g = base(n, groups=20)
    y = rng.standard_normal(n)
    with pm.Model() as m:
        s = pm.HalfNormal("s")
        w = pm.GaussianRandomWalk("w", sigma=s, init_dist=pm.Normal.dist(0, 1), steps=19)
        pm.Normal("y", w[g], 1, observed=y)
    return m


@model()
def two_likelihoods_same_rows(n=72):
    rng, X, _g = base(n)
    y = rng.standard_normal(n)
    c = rng.poisson(1, n)
    with pm.Model() as m:
        b = pm.Normal("b", shape=3)
        d = pm.Normal("d", shape=3)
        pm.Normal("y", X @ b, 1, observed=y)
        pm.Poisson("c", pm.math.exp(X @ d + 0.1 * (X @ b)), observed=c)
    return m


@model()
def two_likelihoods_other_rows(n=72):
    rng, X, _g = base(n)
    k = n // 2
    X2 = rng.standard_normal((k, 3))
    with pm.Model() as m:
        b = pm.Normal("b", shape=3)
        s = pm.HalfNormal("s")
        pm.Normal("y", X @ b, s, observed=rng.standard_normal(n))
        pm.Bernoulli("z", logit_p=X2 @ b, observed=rng.integers(0, 2, k))
        pm.Normal("small", b[0], 1, observed=[0.1, 0.2, 0.3])
    return m


@model()
def observed_causes_observed(n=72):
    rng, _X, _g = base(n)
    x = rng.standard_normal(n)
    y = rng.standard_normal(n)
    with pm.Model() as m:
        a = pm.Normal("al")
        x_ = pm.Normal("x", a, 1, observed=x)
        b = pm.Normal("b", shape=2)
        pm.Normal("y", b[0] + b[1] * x_, 1, observed=y)
    return m


@model()
def missing_outcomes(n=72):
    rng, X, _g = base(n)
    y = rng.standard_normal(n)
    y[rng.choice(n, 5, replace=False)] = np.nan
    with pm.Model() as m:
        b = pm.Normal("b", shape=3)
        s = pm.HalfNormal("s")
        pm.Normal("y", X @ b, s, observed=y)
    return m


@model()
def missing_covariate(n=72):
    rng, X, _g = base(n)
    y = rng.standard_normal(n)
    x = X[:, 0].copy()
    x[rng.choice(n, 5, replace=False)] = np.nan
    with pm.Model() as m:
        mx = pm.Normal("mx")
        sx = pm.HalfNormal("sx")
        x_ = pm.Normal("x", mx, sx, observed=np.ma.masked_invalid(x))
        b = pm.Normal("b", shape=2)
        s = pm.HalfNormal("s")
        pm.Normal("y", b[0] + b[1] * x_, s, observed=y)
    return m


@model()
def subset_by_mask(n=72):
    rng, X, _g = base(n)
    y = rng.standard_normal(n)
    seen = rng.uniform(size=n) < 0.7
    with pm.Model() as m:
        b = pm.Normal("b", shape=3)
        s = pm.HalfNormal("s")
        mu = X @ b
        pm.Normal("y", mu[seen], s, observed=y[seen])
        pm.Potential("cens", pm.logcdf(pm.Normal.dist(mu[~seen], s), y[~seen]))
    return m

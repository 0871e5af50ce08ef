#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""More likelihoods."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from written_models import base, model


@model()
def truncated_gamma_general(n=72):
    rng, X, _g = base(n)
    y = 1 + rng.gamma(2, 1, n)
    with pm.Model() as m:
        b = pm.Normal("b", shape=3)
        a = pm.HalfNormal("a")
        pm.Truncated(
            "y", pm.Gamma.dist(alpha=a + 0.1, beta=pm.math.exp(X @ b)), lower=0.5, observed=y
        )
    return m


@model()
def zip_regression(n=72):
    rng, X, _g = base(n)
    y = rng.poisson(1, n) * rng.integers(0, 2, n)
    with pm.Model() as m:
        b = pm.Normal("b", shape=3)
        c = pm.Normal("c", shape=3)
        pm.ZeroInflatedPoisson("y", psi=pm.math.sigmoid(X @ c), mu=pm.math.exp(X @ b), observed=y)
    return m


@model()
def hurdle_negbin(n=72):
    rng, X, _g = base(n)
    y = rng.poisson(1, n) * rng.integers(0, 2, n)
    with pm.Model() as m:
        b = pm.Normal("b", shape=3)
        psi = pm.Beta("psi", 2, 2)
        a = pm.Exponential("al", 1)
        pm.HurdleNegativeBinomial("y", psi=psi, mu=pm.math.exp(X @ b), alpha=a, observed=y)
    return m


@model()
def hurdle_gamma_rows(n=72):
    rng, X, _g = base(n)
    y = rng.gamma(2, 1, n) * rng.integers(0, 2, n)
    with pm.Model() as m:
        b = pm.Normal("b", shape=3)
        c = pm.Normal("c", shape=3)
        a = pm.Exponential("al", 1)
        mu = pm.math.exp(X @ b)
        pm.HurdleGamma(
            "y", psi=pm.math.sigmoid(X @ c), alpha=a + 0.1, beta=(a + 0.1) / mu, observed=y
        )
    return m


@model()
def normal_mixture_iid(n=72):
    rng, _X, _g = base(n)
    y = rng.standard_normal(n)
    with pm.Model() as m:
        w = pm.Dirichlet("w", np.ones(3))
        mu = pm.Normal("mu", [-1, 0, 1], 1, shape=3)
        s = pm.HalfNormal("s", shape=3)
        pm.NormalMixture("y", w=w, mu=mu, sigma=s, observed=y)
    return m


@model()
def mixture_of_regressions(n=72):
    rng, X, _g = base(n)
    y = rng.standard_normal(n)
    with pm.Model() as m:
        w = pm.Dirichlet("w", np.ones(2))
        b = pm.Normal("b", shape=(3, 2))
        s = pm.HalfNormal("s", shape=2)
        pm.Mixture("y", w=w, comp_dists=pm.Normal.dist(pt.dot(X, b), s), observed=y)
    return m


@model()
def mixture_list_rowweights(n=72):
    rng, X, _g = base(n)
    y = rng.standard_normal(n)
    with pm.Model() as m:
        c = pm.Normal("c", shape=(3, 2))
        b = pm.Normal("b", shape=3)
        s = pm.HalfNormal("s")
        w = pm.math.softmax(X @ c, axis=-1)
        pm.Mixture(
            "y",
            w=w,
            comp_dists=[pm.Normal.dist(X @ b, s), pm.StudentT.dist(nu=4, mu=0, sigma=2 * s)],
            observed=y,
        )
    return m


@model()
def mixture_of_mvnormals(n=72):
    rng, _X, _g = base(n)
    Y = rng.standard_normal((n, 2))
    with pm.Model() as m:
        w = pm.Dirichlet("w", np.ones(2))
        mu = pm.Normal("mu", shape=(2, 2))
        pm.Mixture(
            "y",
            w=w,
            comp_dists=[pm.MvNormal.dist(mu[0], np.eye(2)), pm.MvNormal.dist(mu[1], 2 * np.eye(2))],
            observed=Y,
        )
    return m


@model()
def customdist_logp(n=72):
    rng, X, _g = base(n)
    y = rng.standard_normal(n)

    def logp(v, mu, s):
        return -pt.log(s) - pt.abs(v - mu) / s

    with pm.Model() as m:
        b = pm.Normal("b", shape=3)
        s = pm.HalfNormal("s")
        pm.CustomDist("y", X @ b, s, logp=logp, observed=y)
    return m


@model()
def customdist_closure_over_data(n=72):
    rng, X, _g = base(n)
    y = rng.standard_normal(n)
    w = rng.uniform(0.5, 2, n)
    with pm.Model() as m:
        b = pm.Normal("b", shape=3)
        pm.CustomDist(
            "y",
            *b,
            logp=lambda v, *b: (
                w * pm.logp(pm.Normal.dist(X[:, 0] * b[0] + X[:, 1] * b[1] + b[2], 1), v)
            ),
            observed=y,
        )
    return m


@model()
def customdist_dist(n=72):
    rng, X, _g = base(n)
    y = np.exp(rng.standard_normal(n))

    def dist(mu, s, size):
        return pm.math.exp(pm.Normal.dist(mu, s, size=size))

    with pm.Model() as m:
        b = pm.Normal("b", shape=3)
        s = pm.HalfNormal("s")
        pm.CustomDist("y", X @ b, s, dist=dist, observed=y)
    return m


@model()
def potential_weighted_rows(n=72):
    rng, X, _g = base(n)
    y = rng.standard_normal(n)
    w = rng.uniform(0.5, 2, n)
    with pm.Model() as m:
        b = pm.Normal("b", shape=3)
        s = pm.HalfNormal("s")
        pm.Potential("ll", w * pm.logp(pm.Normal.dist(X @ b, s), y))
    return m


@model()
def potential_summed_and_prior(n=72):
    rng, X, _g = base(n)
    y = rng.standard_normal(n)
    with pm.Model() as m:
        b = pm.Normal("b", shape=3)
        s = pm.HalfNormal("s")
        pm.Potential(
            "ll",
            pt.sum(pm.logp(pm.Normal.dist(X @ b, s), y)) * 0.5
            - pt.sum(b**2)
            + 2 * pt.sum(pt.cos(y * b[0])),
        )
    return m

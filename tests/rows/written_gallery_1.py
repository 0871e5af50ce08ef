#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Models with the structure of those in PyMC's example gallery, with simulated data."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from written_models import base, model


@model(warns="one for each")
def ppca_with_factors(n=72):
    rng = np.random.default_rng(0)
    d, k = 4, 2
    Y = rng.standard_normal((d, n))
    with pm.Model(
        coords={"latent_columns": range(k), "rows": range(n), "observed_columns": range(d)}
    ) as m:
        W = pm.Normal("W", dims=("observed_columns", "latent_columns"))
        F = pm.Normal("F", dims=("latent_columns", "rows"))
        s = pm.HalfNormal("sigma", 1.0)
        pm.Normal("X", mu=W @ F, sigma=s, observed=Y, dims=("observed_columns", "rows"))
    return m


@model()
def factor_analysis_marginal(n=72):
    rng = np.random.default_rng(0)
    d = 4
    Y = rng.standard_normal((n, d))
    with pm.Model() as m:
        z = pm.HalfNormal("z", shape=2)
        b = pm.HalfNormal("b", shape=5)
        L = pt.set_subtensor(
            pt.set_subtensor(pt.zeros((d, 2))[np.tril_indices(d, -1, 2)], b)[
                np.arange(2), np.arange(2)
            ],
            1.0,
        )
        W = pm.Deterministic("W", L @ pt.diag(pt.cumsum(z)))
        s = pm.HalfNormal("s")
        pm.MvNormal("X", 0.0, cov=W @ W.T + s**2 * pt.eye(d), observed=Y)
    return m


@model()
def hogg_outliers_potential(n=72):
    rng, X, _g = base(n)
    sy = rng.uniform(0.5, 1, n)
    y = X[:, 0] + rng.standard_normal(n)
    with pm.Model(coords={"datapoint_id": range(n)}) as m:
        tx = pm.Data("tsv_x", X[:, 0], dims="datapoint_id")
        ty = pm.Data("tsv_y", y, dims="datapoint_id")
        ts = pm.Data("tsv_s", sy, dims="datapoint_id")
        beta = pm.Normal("beta", 0, 10, shape=2, initval=[0.0, 0.0])
        yo = pm.Normal("y_est_out", 0, 10)
        so = pm.HalfNormal("sigma_y_out", 10, initval=1.0)
        f = pm.Uniform("frac", 0, 0.5)
        mu = beta[0] + beta[1] * tx
        inl = pm.logp(pm.Normal.dist(mu, ts), ty)
        out = pm.logp(pm.Normal.dist(yo, ts + so), ty)
        pm.Potential("obs", pt.logaddexp(pt.log1p(-f) + inl, pt.log(f) + out).sum())
    return m


@model(warns="one for each")
def hogg_outliers_discrete(n=72):
    rng, X, _g = base(n)
    y = X[:, 0] + rng.standard_normal(n)
    with pm.Model() as m:
        b = pm.Normal("b", shape=2)
        so = pm.HalfNormal("so")
        f = pm.Uniform("frac", 0, 0.5)
        o = pm.Bernoulli("is_outlier", f, shape=n)
        inl = pm.logp(pm.Normal.dist(b[0] + b[1] * X[:, 0], 1), y)
        out = pm.logp(pm.Normal.dist(0, 1 + so), y)
        pm.Potential("obs", ((1 - o) * inl).sum() + (o * out).sum())
    return m


@model()
def rugby(n=72):
    rng = np.random.default_rng(0)
    T = 6
    h, a = rng.integers(0, T, n), rng.integers(0, T, n)
    with pm.Model(coords={"team": range(T), "match": range(n)}) as m:
        home_i = pm.Data("home_team", h, dims="match")
        away_i = pm.Data("away_team", a, dims="match")
        home = pm.Normal("home")
        sa = pm.HalfNormal("sd_att", 2)
        sd = pm.HalfNormal("sd_def", 2)
        c = pm.Normal("intercept", 3, 1)
        as_ = pm.Normal("atts_star", 0, sa, dims="team")
        ds = pm.Normal("defs_star", 0, sd, dims="team")
        att = pm.Deterministic("atts", as_ - pt.mean(as_), dims="team")
        de = pm.Deterministic("defs", ds - pt.mean(ds), dims="team")
        ht = pt.exp(c + home + att[home_i] + de[away_i])
        at = pt.exp(c + att[away_i] + de[home_i])
        pm.Poisson("home_points", ht, observed=rng.poisson(20, n), dims="match")
        pm.Poisson("away_points", at, observed=rng.poisson(20, n), dims="match")
    return m


@model()
def radon_lkj(n=72):
    rng, _X, g = base(n, groups=12)
    u = rng.standard_normal(12)
    floor = rng.integers(0, 2, n).astype(float)
    y = rng.standard_normal(n)
    with pm.Model(coords={"county": range(12), "param": ["a", "b"], "obs_id": range(n)}) as m:
        fl = pm.Data("floor_idx", floor, dims="obs_id")
        ci = pm.Data("county_idx", g, dims="obs_id")
        ur = pm.Data("uranium", u, dims="county")
        sd = pm.Exponential.dist(0.5, shape=2)
        chol, _corr, _st = pm.LKJCholeskyCov("chol", n=2, eta=2, sd_dist=sd)
        gam = pm.Normal("g", 0, 5, shape=2)
        z = pm.Normal("z", dims=("param", "county"))
        ab = pm.Deterministic("ab", pt.dot(chol, z).T, dims=("county", "param"))
        th = gam[0] + gam[1] * ur[ci] + ab[ci, 0] + (ab[ci, 1]) * fl
        s = pm.Exponential("sigma", 1)
        pm.Normal("y", th, s, observed=y, dims="obs_id")
    return m


@model()
def discrete_choice(n=72):
    rng = np.random.default_rng(0)
    J = 4
    ic = rng.standard_normal((n, J))
    oc = rng.standard_normal((n, J))
    y = rng.integers(0, J, n)
    with pm.Model(coords={"alts_intercepts": range(J - 1), "obs": range(n)}) as m:
        bi = pm.Normal("beta_ic")
        bo = pm.Normal("beta_oc")
        al = pm.Normal("alpha", dims="alts_intercepts")
        us = [al[j] + bi * ic[:, j] + bo * oc[:, j] for j in range(J - 1)] + [
            np.zeros(n) + bi * ic[:, J - 1] + bo * oc[:, J - 1]
        ]
        s = pm.math.stack(us).T
        p = pm.Deterministic("p", pm.math.softmax(s, axis=1))
        pm.Categorical("y_cat", p=p, observed=y, dims="obs")
    return m


@model()
def piecewise_exponential(n=72):
    rng = np.random.default_rng(0)
    T = 8
    death = rng.integers(0, 2, (n, T))
    expo = rng.uniform(0.1, 1, (n, T))
    met = rng.integers(0, 2, n)
    with pm.Model(coords={"intervals": range(T), "individuals": range(n)}) as m:
        lam0 = pm.Gamma("lambda0", 1, 1, dims="intervals")
        b = pm.Normal("beta")
        lam = pm.Deterministic(
            "lambda_", pt.outer(pt.exp(b * met), lam0), dims=("individuals", "intervals")
        )
        mu = pm.Deterministic("mu", expo * lam, dims=("individuals", "intervals"))
        pm.Poisson("obs", mu, observed=death, dims=("individuals", "intervals"))
    return m


@model()
def weibull_potential_censored(n=72):
    rng = np.random.default_rng(0)
    y = rng.weibull(1.5, n) + 0.1
    c = rng.uniform(size=n) < 0.4
    with pm.Model() as m:
        al = pm.Exponential("alpha", 1)
        mu = pm.Normal("mu")
        be = pm.Deterministic("beta", pt.exp(mu / (al + 0.5)))
        pm.Weibull("y_obs", alpha=al, beta=be, observed=y[~c])
        pm.Potential("y_cens", pt.sum(-((y[c] / be) ** al)))
    return m


@model()
def best(n=72):
    rng = np.random.default_rng(0)
    y1, y2 = rng.normal(100, 15, n), rng.normal(101, 15, n + 9)
    with pm.Model() as m:
        m1 = pm.Normal("m1", 100, 30)
        m2 = pm.Normal("m2", 100, 30)
        s1 = pm.Uniform("s1", 1, 40)
        s2 = pm.Uniform("s2", 1, 40)
        nu = pm.Exponential("nu", 1 / 29.0) + 1
        pm.StudentT("d", nu=nu, mu=m1, lam=s1**-2, observed=y1)
        pm.StudentT("p", nu=nu, mu=m2, lam=s2**-2, observed=y2)
        pm.Deterministic("effect", (m1 - m2) / np.sqrt((s1**2 + s2**2) / 2))
    return m


@model()
def rat_tumours_potential_prior(n=72):
    rng = np.random.default_rng(0)
    t = rng.integers(5, 30, n)
    y = rng.binomial(t, 0.15)
    with pm.Model(coords={"param": ["alpha", "beta"], "obs": range(n)}) as m:
        ab = pm.HalfNormal("ab", 10.0, dims="param")
        pm.Potential("p(a, b)", -2.5 * pt.log(pt.sum(ab)))
        th = pm.Beta("theta", alpha=ab[0], beta=ab[1], dims="obs")
        pm.Binomial("y", p=th, observed=y, n=t)
    return m


@model(warns="one for each")
def stochastic_volatility(n=72):
    rng = np.random.default_rng(0)
    r = rng.standard_t(4, n) * 0.01
    with pm.Model(coords={"time": range(n)}) as m:
        st = pm.Exponential("step_size", 10)
        v = pm.GaussianRandomWalk(
            "volatility", sigma=st, dims="time", init_dist=pm.Normal.dist(0, 100)
        )
        nu = pm.Exponential("nu", 0.1)
        pm.StudentT("returns", nu=nu, lam=np.exp(-2 * v), observed=r, dims="time")
    return m


@model()
def cherry_blossom_spline(n=72):
    rng = np.random.default_rng(0)
    B = np.abs(rng.standard_normal((n, 9)))
    y = rng.normal(100, 6, n)
    with pm.Model(coords={"splines": np.arange(9)}) as m:
        a = pm.Normal("a", 100, 5)
        w = pm.Normal("w", 0, 3, size=9, dims="splines")
        mu = pm.Deterministic("mu", a + pm.math.dot(np.asarray(B, order="F"), w.T))
        s = pm.Exponential("sigma", 1)
        pm.Normal("D", mu=mu, sigma=s, observed=y)
    return m

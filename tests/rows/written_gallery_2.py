#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Models with the structure of those in PyMC's example gallery, with simulated data."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.sparse
import pytensor.tensor as pt

from written_models import base, model


@model()
def matrix_factorisation_pairs(n=72):
    rng = np.random.default_rng(0)
    u, v = rng.integers(0, 15, n), rng.integers(0, 12, n)
    y = rng.standard_normal(n)
    with pm.Model() as m:
        U = pm.Normal("U", shape=(15, 3))
        V = pm.Normal("V", shape=(12, 3))
        pm.Normal("R", mu=(U @ V.T)[u, v], tau=2.0, observed=y)
    return m


@model()
def matrix_factorisation_masked(n=30):
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((n, 6))
    Y[rng.uniform(size=Y.shape) < 0.4] = np.nan
    with pm.Model() as m:
        U = pm.MvNormal("U", mu=np.zeros(2), tau=np.eye(2), shape=(n, 2))
        V = pm.MvNormal("V", mu=np.zeros(2), tau=np.eye(2), shape=(6, 2))
        pm.Normal("R", mu=(U @ V.T)[~np.isnan(Y)], tau=2.0, observed=Y[~np.isnan(Y)])
    return m


@model()
def rasch_nba(n=72):
    rng = np.random.default_rng(0)
    d, c = rng.integers(0, 14, n), rng.integers(0, 13, n)
    with pm.Model() as m:
        di = pm.Data("disadvantaged_idx", d)
        co = pm.Data("committing_idx", c)
        mt = pm.Normal("mu_theta", 0, 100)
        st = pm.HalfNormal("sigma_theta", 2.5)
        sb = pm.HalfNormal("sigma_b", 1)
        dt = pm.Normal("delta_theta", shape=14)
        db = pm.Normal("delta_b", shape=13)
        th = pm.Deterministic("theta", st * dt + mt)
        b = pm.Deterministic("b", sb * db)
        eta = pm.Deterministic("eta", th[di] - b[co])
        pm.Bernoulli("foul_called", logit_p=eta, observed=rng.integers(0, 2, n))
    return m


@model()
def masked_covariate_matrix(n=72):
    rng, X, _g = base(n, k=5)
    y = rng.standard_normal(n)
    M = X[:, 3:].copy()
    M[rng.uniform(size=M.shape) < 0.1] = np.nan
    with pm.Model(coords={"xj": range(3), "xk": range(2), "oid": range(n)}) as m:
        xj = pm.Data("xj_", X[:, :3], dims=("oid", "xj"))
        mu = pm.Normal("xk_mu", dims="xk")
        xk = pm.Normal(
            "xk_", mu=mu, sigma=1.0, observed=np.ma.masked_array(M, np.isnan(M)), dims=("oid", "xk")
        )
        bs = pm.Gamma("bs", 10, 10)
        bj = pm.Normal("bj", 0, bs, dims="xj")
        bk = pm.Normal("bk", 0, bs, dims="xk")
        e = pm.Gamma("eps", 50, 50)
        pm.Normal("yhat", mu=pt.dot(xj, bj.T) + pt.dot(xk, bk.T), sigma=e, observed=y, dims="oid")
    return m


@model()
def excess_deaths(n=72):
    rng = np.random.default_rng(0)
    mon = np.arange(n) % 12
    temp = rng.standard_normal(n)
    y = rng.normal(50, 3, n)
    with pm.Model(coords={"month": range(12)}) as m:
        mo = pm.Data("mo", mon, dims="t")
        tm = pm.Data("time", np.arange(n) / n, dims="t")
        te = pm.Data("temp", temp, dims="t")
        c = pm.Normal("c", 50, 10)
        b = pm.Normal("b", 0, 3)
        bt = pm.Normal("bt")
        ms = pm.ZeroSumNormal("month mu", sigma=3, dims="month")
        s = pm.HalfNormal("s", 2)
        mu = pm.Deterministic("mu", c + b * tm + ms[mo] + bt * te, dims="t")
        pm.TruncatedNormal("obs", mu=mu, sigma=s, lower=0, observed=y, dims="t")
    return m


@model()
def marginal_gmm(n=72):
    rng = np.random.default_rng(0)
    y = rng.standard_normal(n)
    with pm.Model() as m:
        w = pm.Dirichlet("w", np.ones(3))
        mu = pm.Normal(
            "mu",
            0,
            10,
            shape=3,
            transform=pm.distributions.transforms.ordered,
            initval=[-1.0, 0, 1],
        )
        tau = pm.Gamma("tau", 1, 1, shape=3)
        pm.NormalMixture("x", w=w, mu=mu, tau=tau, observed=y)
    return m


@model()
def dependent_density_regression(n=72):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, 1))
    y = rng.standard_normal((n, 1))
    K = 5
    with pm.Model() as m:
        al = pm.Normal("alpha", 0, 5, shape=(1, K))
        be = pm.Normal("beta", 0, 5, shape=(1, K))
        v = pm.math.invprobit(al + be * x)
        w = pm.Deterministic(
            "w",
            v
            * pt.concatenate(
                [pt.ones((n, 1)), pt.extra_ops.cumprod(1 - v, axis=1)[:, :-1]], axis=1
            ),
        )
        ga = pm.Normal("gamma", 0, 10, shape=(1, K))
        de = pm.Normal("delta", 0, 10, shape=(1, K))
        tau = pm.Gamma("tau", 1, 1, shape=(1, K))
        mu = pm.Deterministic("mu", ga + de * x)
        pm.NormalMixture(
            "obs",
            pm.math.clip(w, 1e-9, 1) / pm.math.clip(w, 1e-9, 1).sum(axis=1, keepdims=True),
            mu,
            tau=tau,
            observed=y[:, 0],
        )
    return m


@model()
def dirichlet_mixture_of_multinomials(n=72):
    rng = np.random.default_rng(0)
    y = rng.multinomial(50, [0.1, 0.2, 0.3, 0.4], n)
    with pm.Model(coords={"tree": range(4), "forest": range(n)}) as m:
        f = pm.Dirichlet("frac", a=np.ones(4), dims="tree")
        c = pm.LogNormal("conc", 1, 1)
        pm.DirichletMultinomial("counts", n=50, a=f * c, observed=y, dims=("forest", "tree"))
    return m


@model()
def ordinal_probit_data(n=72):
    rng, X, _g = base(n)
    y = rng.integers(0, 5, n)
    with pm.Model() as m:
        d = pm.Data("d", X)
        b = pm.Normal("b", shape=3)
        pm.Exponential("s", 1)
        c = pm.Normal(
            "cut",
            mu=np.linspace(-1, 1, 4),
            sigma=2,
            transform=pm.distributions.transforms.ordered,
            initval=np.linspace(-1, 1, 4),
        )
        pm.OrderedProbit(
            "y", cutpoints=c, eta=pm.math.dot(d, b), sigma=1, compute_p=False, observed=y
        )
    return m


@model()
def ordinal_features_dirichlet(n=72):
    rng, _X, _g = base(n)
    lev = rng.integers(0, 4, n)
    y = rng.standard_normal(n)
    with pm.Model() as m:
        b = pm.Normal("b")
        nu = pm.Dirichlet("nu", np.ones(4))
        cum = pm.Deterministic("cum", pt.concatenate([np.zeros(1), nu.cumsum()[:-1]]))
        s = pm.HalfNormal("s")
        pm.Normal("y", b * cum[lev], s, observed=y)
    return m


@model()
def births_hsgp_sum(n=72):
    rng = np.random.default_rng(0)
    t = np.linspace(0, 1, n)
    dow = np.arange(n) % 7
    y = rng.standard_normal(n)
    with pm.Model() as m:
        td = pm.Data("t", t)
        dw = pm.Data("dow", dow)
        ls = pm.LogNormal("ls")
        eta = pm.Exponential("eta", 1)
        gp = pm.gp.HSGP(m=[10], c=2.0, cov_func=eta**2 * pm.gp.cov.ExpQuad(1, ls))
        f = gp.prior("f", X=td[:, None])
        bd = pm.ZeroSumNormal("bd", shape=7)
        gpp = pm.gp.HSGPPeriodic(m=6, scale=eta, cov_func=pm.gp.cov.Periodic(1, period=0.5, ls=ls))
        fp = gpp.prior("fp", X=td[:, None])
        pm.StudentT("y", nu=4, mu=f + fp + bd[dw], sigma=1, observed=y)
    return m


@model()
def bnn_two_layers(n=72):
    rng, X, _g = base(n, k=2)
    y = rng.integers(0, 2, n)
    with pm.Model(coords={"h1": range(5), "h2": range(5), "f": range(2), "obs": range(n)}) as m:
        ann_in = pm.Data("ann_input", X, dims=("obs", "f"))
        ann_out = pm.Data("ann_output", y, dims="obs")
        w1 = pm.Normal("w1", dims=("f", "h1"))
        w2 = pm.Normal("w2", dims=("h1", "h2"))
        w3 = pm.Normal("w3", dims="h2")
        a1 = pm.math.tanh(pm.math.dot(ann_in, w1))
        a2 = pm.math.tanh(pm.math.dot(a1, w2))
        p = pm.math.sigmoid(pm.math.dot(a2, w3))
        pm.Bernoulli("out", p, observed=ann_out, total_size=None, dims="obs")
    return m


@model("depend on each other|depends on all|function of all")
def q_learning_scan(n=72):
    rng = np.random.default_rng(0)
    act = rng.integers(0, 2, n)
    rew = rng.integers(0, 2, n)
    with pm.Model() as m:
        al = pm.Beta("alpha", 1, 1)
        be = pm.HalfNormal("beta", 10)

        def upd(a, r, Q, al):
            return pt.set_subtensor(Q[a], Q[a] + al * (r - Q[a]))

        Qs = pytensor.scan(
            upd,
            sequences=[pt.as_tensor(act, dtype="int32"), pt.as_tensor(rew, dtype="float64")],
            outputs_info=[0.5 * pt.ones(2)],
            non_sequences=[al],
            return_updates=False,
        )
        Qs = pt.concatenate([[0.5 * pt.ones(2)], Qs[:-1]], axis=0)
        lp = Qs * be - pt.logsumexp(Qs * be, axis=1, keepdims=True)
        pm.Bernoulli("y", logit_p=(lp[:, 1] - lp[:, 0]), observed=act)
    return m

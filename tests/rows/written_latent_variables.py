#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Latent variables of rows, and rows that depend on each other."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from written_models import base, model


@model(warns="one for each")
def latent_of_each_row(n=72):
    rng, X, _g = base(n)
    y = rng.poisson(1, n)
    with pm.Model() as m:
        t = pm.HalfNormal("t")
        e = pm.Normal("e", 0, t, shape=n)
        b = pm.Normal("b", shape=3)
        pm.Poisson("y", pm.math.exp(X @ b + e), observed=y)
    return m


@model()
def lagged_outcome(n=72):
    rng, _X, _g = base(n)
    y = np.cumsum(rng.standard_normal(n))
    with pm.Model() as m:
        yd = pm.Data("yd", y)
        r = pm.Normal("r")
        s = pm.HalfNormal("s")
        pm.Normal("y", r * yd[:-1], s, observed=y[1:])
    return m


@model("function of all 72 rows.*Sum")
def centred_predictor(n=72):
    rng, X, _g = base(n)
    y = rng.standard_normal(n)
    with pm.Model() as m:
        b = pm.Normal("b", shape=3)
        mu = X @ b
        pm.Normal("y", mu - mu.mean(), 1, observed=y)
    return m


@model("each of the .* rows depends on all|Cumsum|CumOp")
def cumulated_steps(n=72):
    rng, _X, _g = base(n)
    y = rng.standard_normal(n)
    with pm.Model() as m:
        s = pm.HalfNormal("s")
        z = pm.Normal("z", shape=n)
        pm.Normal("y", pt.cumsum(s * z), 1, observed=y)
    return m


@model("Cholesky|rows depend on each other|depends on all")
def gp_marginal(n=72):
    rng, _X, _g = base(n)
    y = rng.standard_normal(n)
    with pm.Model() as m:
        ls = pm.Gamma("ls", 2, 1)
        gp = pm.gp.Marginal(cov_func=pm.gp.cov.ExpQuad(1, ls))
        s = pm.HalfNormal("s")
        gp.marginal_likelihood("y", X=np.linspace(0, 1, n)[:, None], y=y, sigma=s)
    return m


@model("depends on all|depend on each other")
def gp_latent(n=72):
    rng, _X, _g = base(n)
    y = rng.poisson(1, n)
    with pm.Model() as m:
        ls = pm.Gamma("ls", 2, 1)
        gp = pm.gp.Latent(cov_func=pm.gp.cov.ExpQuad(1, ls))
        f = gp.prior("f", X=np.linspace(0, 1, n)[:, None])
        pm.Poisson("y", pm.math.exp(f), observed=y)
    return m


@model()
def hsgp(n=72):
    rng, X, _g = base(n)
    y = rng.standard_normal(n)
    with pm.Model() as m:
        ls = pm.InverseGamma("ls", 3, 2)
        eta = pm.Exponential("eta", 1)
        gp = pm.gp.HSGP(m=[8], c=1.5, cov_func=eta**2 * pm.gp.cov.Matern52(1, ls))
        f = gp.prior("f", X=X[:, :1])
        s = pm.HalfNormal("s")
        pm.Normal("y", f, s, observed=y)
    return m


@model()
def hsgp_linearised_data(n=72):
    rng, X, _g = base(n)
    y = rng.standard_normal(n)
    with pm.Model() as m:
        x = pm.Data("x", X[:, :1])
        ls = pm.InverseGamma("ls", 3, 2)
        gp = pm.gp.HSGP(m=[8], c=1.5, cov_func=pm.gp.cov.ExpQuad(1, ls))
        phi, sqrt_psd = gp.prior_linearized(x)
        b = pm.Normal("b", size=gp.n_basis_vectors)
        s = pm.HalfNormal("s")
        pm.Normal("y", phi @ (b * sqrt_psd), s, observed=y)
    return m


@model()
def ar1_observed(n=72):
    rng, _X, _g = base(n)
    y = np.cumsum(rng.standard_normal(n))
    with pm.Model() as m:
        r = pm.Normal("r", 0, 0.5, shape=2)
        s = pm.HalfNormal("s")
        pm.AR("y", rho=r, sigma=s, constant=True, init_dist=pm.Normal.dist(0, 10), observed=y)
    return m


@model()
def random_walk_observed(n=72):
    rng, _X, _g = base(n)
    y = np.cumsum(rng.standard_normal(n))
    with pm.Model() as m:
        d = pm.Normal("d")
        s = pm.HalfNormal("s")
        pm.GaussianRandomWalk("y", mu=d, sigma=s, init_dist=pm.Normal.dist(0, 10), observed=y)
    return m


@model("not a sum|depends on all|NotImplemented|Simulator")
def simulator(n=72):
    _rng, X, _g = base(n)
    with pm.Model() as m:
        a = pm.Normal("a")
        s = pm.HalfNormal("s")
        pm.Simulator(
            "y", lambda rng, a, s, size: rng.normal(a, s, size=n), a, s, epsilon=1, observed=X[:, 0]
        )
    return m


@model("more rows than `batch_size`")
def eight_schools(n=8):
    y = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
    s = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
    with pm.Model() as m:
        mu = pm.Normal("mu", 0, 5)
        t = pm.HalfCauchy("t", 5)
        z = pm.Normal("z", shape=8)
        pm.Normal("y", mu + t * z, s, observed=y)
    return m


@model("got one with `pm.Minibatch`")
def already_minibatch(n=72):
    _rng, X, _g = base(n)
    with pm.Model() as m:
        b = pm.Normal("b")
        pm.Normal("y", b, 1, observed=pm.Minibatch(X[:, 0], batch_size=9), total_size=n)
    return m


@model("rows depend|depends on all|not a sum")
def user_mean_of_rows(n=72):
    _rng, X, _g = base(n)
    with pm.Model() as m:
        b = pm.Normal("b")
        r = X[:, 0] - b
        pm.Potential("ll", -pt.log(pt.sum(r**2)) * n / 2)
    return m

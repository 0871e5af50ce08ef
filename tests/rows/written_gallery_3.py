#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Models with the structure of those in PyMC's example gallery, with simulated data."""

import numpy as np
import pandas as pd
import pymc as pm
import pytensor.tensor as pt

from written_models import base, model


@model(warns="one for each")
def car_prior(n=72):
    rng = np.random.default_rng(0)
    W = np.zeros((n, n))
    i = np.arange(n - 1)
    W[i, i + 1] = W[i + 1, i] = 1
    y = rng.poisson(3, n)
    with pm.Model() as m:
        al = pm.Beta("alpha", 1, 1)
        phi = pm.CAR("phi", mu=np.zeros(n), tau=1.0, alpha=al, W=W)
        b = pm.Normal("b")
        pm.Poisson("y", pm.math.exp(b + phi), observed=y)
    return m


@model(warns="one for each")
def icar_bym(n=72):
    rng = np.random.default_rng(0)
    W = np.zeros((n, n))
    i = np.arange(n - 1)
    W[i, i + 1] = W[i + 1, i] = 1
    y = rng.poisson(3, n)
    with pm.Model() as m:
        s = pm.HalfNormal("s")
        th = pm.Normal("theta", shape=n)
        phi = pm.ICAR("phi", W=W)
        rho = pm.Beta("rho", 0.5, 0.5)
        mix = pm.Deterministic("mix", pt.sqrt(1 - rho) * th + pt.sqrt(rho) * phi)
        pm.Poisson("y", pt.exp(s * mix), observed=y)
    return m


@model()
def gumbel_extremes(n=72):
    rng = np.random.default_rng(0)
    with pm.Model() as m:
        mu = pm.Normal("mu", 0, 1)
        b = pm.HalfNormal("b")
        pm.Gumbel("y", mu=mu, beta=b, observed=rng.gumbel(size=n))
    return m


@model()
def growth_curves(n=72):
    rng, _X, g = base(n, groups=15)
    t = rng.uniform(0, 3, n)
    fem = rng.integers(0, 2, 15)
    y = rng.standard_normal(n)
    with pm.Model(coords={"ids": range(15), "obs": range(n)}) as m:
        i = pm.Data("id_idx", g, dims="obs")
        ti = pm.Data("t", t, dims="obs")
        fe = pm.Data("fem", fem.astype(float), dims="ids")
        g0 = pm.Normal("g0")
        s0 = pm.HalfNormal("s0")
        a0 = pm.Normal("a0", 0, s0, dims="ids")
        g1 = pm.Normal("g1")
        a1 = pm.Normal("a1", dims="ids")
        gf = pm.Normal("gf")
        gr = pm.Deterministic("growth", (g0 + a0[i]) + (g1 + a1[i] + gf * fe[i]) * ti + 0.1 * ti**2)
        s = pm.HalfNormal("s")
        pm.Normal("out", gr, s, observed=y, dims="obs")
    return m


@model()
def cfa_latent_rows(n=72):
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((n, 6))
    with pm.Model(coords={"obs": range(n), "ind": range(6), "latent": ["a", "b"]}) as m:
        Psi = pm.InverseGamma("Psi", 5, 10, dims="ind")
        l1 = pm.Normal("l1", 1, 1, shape=3)
        l2 = pm.Normal("l2", 1, 1, shape=3)
        chol, _, _ = pm.LKJCholeskyCov(
            "chol", n=2, eta=2, sd_dist=pm.Exponential.dist(1.0, shape=2)
        )
        ksi = pm.MvNormal("ksi", np.zeros(2), chol=chol, dims=("obs", "latent"))
        mu = pm.Deterministic(
            "mu",
            pt.stack(
                [
                    l1[0] * ksi[:, 0],
                    l1[1] * ksi[:, 0],
                    l1[2] * ksi[:, 0],
                    l2[0] * ksi[:, 1],
                    l2[1] * ksi[:, 1],
                    l2[2] * ksi[:, 1],
                ]
            ).T,
        )
        pm.Normal("like", mu, Psi, observed=Y, dims=("obs", "ind"))
    return m


@model()
def diff_in_diff(n=72):
    rng = np.random.default_rng(0)
    t = rng.uniform(size=n)
    gr = rng.integers(0, 2, n)
    tr = ((t > 0.5) & (gr == 1)).astype(float)
    with pm.Model() as m:
        td = pm.Data("t", t, dims="obs")
        gd = pm.Data("group", gr, dims="obs")
        trd = pm.Data("treated", tr, dims="obs")
        c = pm.Normal("c")
        d = pm.Normal("delta")
        tt = pm.Normal("trend")
        gg = pm.Normal("gg")
        s = pm.HalfNormal("s")
        mu = pm.Deterministic("mu", c + gg * gd + tt * td + d * trd, dims="obs")
        pm.Normal("obs_", mu, s, observed=rng.standard_normal(n), dims="obs")
    return m


@model()
def prophet_changepoints(n=72):
    rng = np.random.default_rng(0)
    t = np.linspace(0, 1, n)
    cp = np.linspace(0, 0.9, 6)
    A = (t[:, None] > cp) * 1.0
    F = np.column_stack([np.sin(2 * np.pi * k * t) for k in (1, 2)])
    with pm.Model() as m:
        a = pm.Normal("alpha")
        b = pm.Normal("beta")
        de = pm.Laplace("delta", 0, 0.1, shape=6)
        bs = pm.Normal("bs", shape=2)
        gr = b + pm.math.dot(A, de)
        off = a + pm.math.dot(A, -cp * de)
        pm.Normal(
            "y", (gr * t + off) * (1 + pm.math.dot(F, bs)), 1, observed=rng.standard_normal(n)
        )
    return m


@model()
def survival_time_varying(n=72):

    rng = np.random.default_rng(0)
    T = 8
    death = rng.integers(0, 2, (n, T)).astype(float)
    expo = rng.uniform(0.1, 1, (n, T))
    df = pd.DataFrame({"met": rng.integers(0, 2, n)})
    with pm.Model(coords={"intervals": range(T)}) as m:
        lam0 = pm.Gamma("lambda0", 1, 1, dims="intervals")
        be = pm.GaussianRandomWalk("beta", init_dist=pm.Normal.dist(), sigma=1.0, dims="intervals")
        h = pm.Deterministic("h", lam0 * pt.exp(pt.outer(pt.constant(df.met), be)))
        mu = pm.Deterministic("mu", expo * h)
        pm.Poisson("obs", mu, observed=death)
    return m


@model()
def gumbel_potential_vector(n=72):
    rng = np.random.default_rng(0)
    y = rng.gumbel(size=n)
    c = rng.uniform(size=n) < 0.4
    with pm.Model() as m:
        s = pm.HalfNormal("s", tau=5.0)
        g = pm.Normal("gamma", 0, 5)
        pm.Gumbel("y_obs", mu=g, beta=s, observed=y[~c])
        pm.Potential("y_cens", pt.log(1.0 - pt.exp(-pt.exp(-(y[c] - g) / s))))
    return m


@model()
def pmf_dims_and_initvals(n=72):
    rng = np.random.default_rng(0)
    with pm.Model(
        coords={"user": range(15), "movie": range(12), "f": range(3), "obs_id": np.arange(n)}
    ) as m:
        u = pm.Data("user_idx", rng.integers(0, 15, n), dims="obs_id")
        v = pm.Data("movie_idx", rng.integers(0, 12, n), dims="obs_id")
        r = pm.Data("ratings", rng.integers(1, 6, n).astype(float), dims="obs_id")
        U = pm.Normal("U", 0, 1, dims=("user", "f"), initval=rng.standard_normal((15, 3)))
        V = pm.Normal("V", 0, 1, dims=("movie", "f"), initval=rng.standard_normal((12, 3)))
        pm.Normal("R", mu=(U[u] * V[v]).sum(axis=-1), sigma=0.7, dims="obs_id", observed=r)
    return m


@model()
def discrete_choice_pandas(n=72):

    rng = np.random.default_rng(0)
    df = pd.DataFrame(rng.standard_normal((n, 5)), columns=["ic0", "oc0", "ic1", "oc1", "income"])
    y = pd.Categorical(rng.choice(list("abc"), n)).codes
    with pm.Model(coords={"alt": ["a", "b"], "p": list("abc"), "obs": range(n)}) as m:
        ic0 = pm.Data("ic0", df["ic0"])
        bi = pm.Normal("bi")
        bo = pm.Normal("bo")
        binc = pm.Normal("binc", dims="alt")
        chol, _, _ = pm.LKJCholeskyCov(
            "chol", n=2, eta=2.0, sd_dist=pm.Exponential.dist(1.0, shape=2)
        )
        al = pm.MvNormal("alpha", mu=0, chol=chol, dims="alt")
        u0 = al[0] + bi * ic0 + bo * df["oc0"] + binc[0] * df["income"]
        u1 = al[1] + bi * df["ic1"] + bo * df["oc1"] + binc[1] * df["income"]
        u2 = np.zeros(n)
        s = pm.math.stack([u0, u1, u2]).T
        p = pm.Deterministic("p_", pm.math.softmax(s, axis=1), dims=("obs", "p"))
        pm.Categorical("y_cat", p=p, observed=y, dims="obs")
    return m

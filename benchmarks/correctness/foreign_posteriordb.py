#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Models of posteriordb's Stan programs, as one writes them in PyMC."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from benchmarks.correctness.foreign_registry import foreign, frame

__all__: list[str] = []

DB = "posteriordb: models/stan/"


@foreign(DB + "earn_height")
def earn_height(n):
    d = frame(n)
    with pm.Model() as model:
        beta, sigma = pm.Flat("beta", shape=2), pm.HalfFlat("sigma", initval=1.0)
        pm.Normal("earn", beta[0] + beta[1] * d["x"], sigma, observed=d["y"])
    return model


@foreign(DB + "kidscore_interaction")
def kidscore(n):
    d = frame(n)
    with pm.Model() as model:
        beta, sigma = pm.Flat("beta", shape=4), pm.HalfCauchy("sigma", 2.5)
        hs, iq = d["bin"].to_numpy(), d["x"].to_numpy()
        mu = beta[0] + beta[1] * hs + beta[2] * iq + beta[3] * hs * iq
        pm.Normal("kid_score", mu, sigma, observed=d["y"])
    return model


@foreign(DB + "nes_logit_model")
def nes_logit(n):
    d = frame(n)
    with pm.Model() as model:
        alpha, beta = pm.Flat("alpha"), pm.Flat("beta", shape=1)
        pm.Bernoulli("vote", logit_p=alpha + d[["x"]].to_numpy() @ beta, observed=d["bin"])
    return model


@foreign(DB + "wells_dae_inter_model")
def wells(n):
    d = frame(n)
    X = np.stack([d["x"], d["z"], d["w"], d["x"] * d["w"]], axis=1)
    with pm.Model() as model:
        alpha, beta = pm.Flat("alpha"), pm.Flat("beta", shape=4)
        pm.Bernoulli("switched", logit_p=alpha + pm.math.dot(X, beta), observed=d["bin"])
    return model


@foreign(DB + "diamonds")
def diamonds(n):
    X = np.random.default_rng(1).standard_normal((n, 24)) + 2
    centred = X - X.mean(0)
    with pm.Model() as model:
        b = pm.Normal("b", 0, 1, shape=24)
        intercept = pm.StudentT("Intercept", nu=3, mu=8, sigma=10)
        sigma = pm.HalfStudentT("sigma", nu=3, sigma=10)
        pm.Normal("Y", intercept + centred @ b, sigma, observed=frame(n)["y"])
    return model


@foreign(DB + "logistic_regression_rhs")
def logistic_horseshoe(n):
    d = frame(n)
    X = np.random.default_rng(2).standard_normal((n, 20))
    with pm.Model() as model:
        beta0, z = pm.Normal("beta0", 0, 10), pm.Normal("z", 0, 1, shape=20)
        tau = pm.HalfStudentT("tau", nu=1, sigma=2.0)
        lam = pm.HalfStudentT("lambda", nu=1, sigma=1, shape=20)
        caux = pm.InverseGamma("caux", 2.0, 2.0)
        c = 2.5 * pt.sqrt(caux)
        tilde = pt.sqrt(c**2 * lam**2 / (c**2 + tau**2 * lam**2))
        beta = pm.Deterministic("beta", z * tilde * tau)
        f = pm.Deterministic("f", beta0 + X @ beta)
        pm.Bernoulli("y", logit_p=f, observed=d["bin"])
    return model


@foreign(DB + "GLM_Poisson_model")
def glm_poisson(n):
    d = frame(n)
    year = 2 * d["rank"].to_numpy() - 1
    with pm.Model() as model:
        a = pm.Uniform("alpha", -20, 20)
        b1, b2 = pm.Uniform("beta1", -10, 10), pm.Uniform("beta2", -10, 20)
        b3 = pm.Uniform("beta3", -10, 10)
        log_lambda = pm.Deterministic("log_lambda", a + b1 * year + b2 * year**2 + b3 * year**3)
        pm.Poisson("C", pt.exp(log_lambda), observed=d["count"])
    return model


@foreign(DB + "GLMM_Poisson_model")
def glmm_poisson(n):
    d = frame(n)
    year = 2 * d["rank"].to_numpy() - 1
    with pm.Model() as model:
        a = pm.Uniform("alpha", -20, 20)
        b1 = pm.Uniform("beta1", -10, 10)
        sigma = pm.Uniform("sigma", 0, 5)
        eps = pm.Normal("eps", 0, sigma, shape=n)
        pm.Poisson("C", pt.exp(a + b1 * year + eps), observed=d["count"])
    return model


@foreign(DB + "GLMM1_model")
def glmm_sites(n):
    d = frame(n)
    with pm.Model() as model:
        mu, sd = pm.Normal("mu_alpha", 0, 10), pm.Uniform("sd_alpha", 0, 5)
        alpha = pm.Normal("alpha", mu, sd, shape=12)
        log_lambda = pt.tile(alpha[None, :], (5, 1))
        pm.Poisson("obs", pt.exp(log_lambda[d["h"].values, d["g"].values]), observed=d["count"])
    return model


@foreign(DB + "GLM_Binomial_model")
def glm_binomial(n):
    d = frame(n)
    year = 2 * d["rank"].to_numpy() - 1
    with pm.Model() as model:
        a, b1, b2 = (pm.Normal(name, 0, 100) for name in ("alpha", "beta1", "beta2"))
        logit_p = pm.Deterministic("logit_p", a + b1 * year + b2 * year**2)
        pm.Binomial("C", n=d["tries"], logit_p=logit_p, observed=d["wins"])
    return model


@foreign(DB + "pilots")
def pilots(n):
    d = frame(n)
    with pm.Model() as model:
        mu_a, mu_b = pm.Normal("mu_a", 0, 1), pm.Normal("mu_b", 0, 1)
        s_a, s_b, s_y = (pm.Uniform(f"sigma_{k}", 0, 100) for k in "aby")
        a = pm.Normal("a", 10 * mu_a, s_a, shape=12)
        b = pm.Normal("b", 10 * mu_b, s_b, shape=5)
        pm.Normal("y", a[d["g"].values] + b[d["h"].values], s_y, observed=d["y"])
    return model


@foreign(DB + "election88_full")
def election(n):
    d = frame(n)
    rng = np.random.default_rng(3)
    sizes = {"a": 4, "b": 4, "c": 16, "d": 51, "e": 5}
    index = {k: rng.integers(0, size, n) for k, size in sizes.items()}
    black, female, v_prev = (d["w"] > 0).values, (d["h"] > 2).values, d["z"].values
    with pm.Model() as model:
        beta = pm.Normal("beta", 0, 100, shape=5)
        y_hat = beta[0] + beta[1] * black + beta[2] * female + beta[4] * female * black
        y_hat = y_hat + beta[3] * v_prev
        for k, size in sizes.items():
            sigma = pm.Uniform(f"sigma_{k}", 0, 100)
            y_hat = y_hat + pm.Normal(k, 0, sigma, shape=size)[index[k]]
        pm.Bernoulli("y", logit_p=y_hat, observed=d["bin"])
    return model


@foreign(DB + "rats_model")
def rats(n):
    d = frame(n)
    rat, x = d["g"].to_numpy(), d["x"].to_numpy()
    with pm.Model() as model:
        mu_a, mu_b = pm.Normal("mu_alpha", 0, 100), pm.Normal("mu_beta", 0, 100)
        s_y, s_a, s_b = (pm.HalfFlat(f"sigma_{k}", initval=1.0) for k in ("y", "alpha", "beta"))
        alpha, beta = (
            pm.Normal("alpha", mu_a, s_a, shape=12),
            pm.Normal("beta", mu_b, s_b, shape=12),
        )
        pm.Normal("y", alpha[rat] + beta[rat] * (x - x.mean()), s_y, observed=d["y"])
        pm.Deterministic("alpha0", mu_a - x.mean() * mu_b)
    return model


@foreign(DB + "dogs")
def dogs(n):
    y = np.random.default_rng(4).integers(0, 2, (n, 25))
    before = np.concatenate([np.zeros((n, 1)), np.cumsum(y, 1)[:, :-1]], axis=1)
    avoided = np.arange(25) - before
    with pm.Model() as model:
        beta = pm.Normal("beta", 0, 100, shape=3)
        p = beta[0] + beta[1] * avoided + beta[2] * before
        pm.Bernoulli("y", logit_p=p, observed=y)
    return model

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""More models of posteriordb's Stan programs, as one writes them in PyMC."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from benchmarks.correctness.foreign_registry import foreign, frame

__all__: list[str] = []

DB = "posteriordb: models/stan/"


@foreign(DB + "seeds_model")
def seeds(n):
    d = frame(n)
    x1, x2 = d["bin"].to_numpy(), (d["h"] > 2).to_numpy()
    with pm.Model() as model:
        a0, a1, a2, a12 = (pm.Normal(f"alpha{k}", 0, 1e3) for k in ("0", "1", "2", "12"))
        tau = pm.Gamma("tau", 1e-3, 1e-3, initval=1.0)
        b = pm.Normal("b", 0.0, 1 / pt.sqrt(tau), shape=n)
        eta = a0 + a1 * x1 + a2 * x2 + a12 * x1 * x2 + b
        pm.Binomial("n", n=d["tries"], logit_p=eta, observed=d["wins"])
    return model


@foreign(DB + "irt_2pl")
def item_response(n):
    y = np.random.default_rng(5).integers(0, 2, (20, n))
    with pm.Model() as model:
        s_theta, s_a, s_b = (pm.HalfCauchy(f"sigma_{k}", 2) for k in ("theta", "a", "b"))
        theta = pm.Normal("theta", 0, s_theta, shape=n)
        a = pm.LogNormal("a", 0, s_a, shape=20)
        b = pm.Normal("b", pm.Normal("mu_b", 0, 5), s_b, shape=20)
        pm.Bernoulli("y", logit_p=a[:, None] * (theta[None, :] - b[:, None]), observed=y)
    return model


@foreign(DB + "radon_hierarchical_intercept_centered")
def radon_of_posteriordb(n):
    d = frame(n)
    with pm.Model() as model:
        s_a, s_y = pm.HalfNormal("sigma_alpha", 1), pm.HalfNormal("sigma_y", 1)
        mu_a, beta = pm.Normal("mu_alpha", 0, 10), pm.Normal("beta", 0, 10, shape=2)
        alpha = pm.Normal("alpha", mu_a, s_a, shape=12)
        mu = alpha[d["g"].values] + d["z"].values * beta[0] + d["bin"].values * beta[1]
        pm.Normal("log_radon", mu, s_y, observed=d["y"])
    return model


def mixture_of_two(y):
    """Two normal distributions, in the order of their means."""
    ordered = pm.distributions.transforms.ordered
    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 2, shape=2, transform=ordered, initval=[-1.0, 1.0])
        sigma, theta = pm.HalfNormal("sigma", 2, shape=2), pm.Beta("theta", 5, 5)
        parts = [pm.logp(pm.Normal.dist(mu[k], sigma[k]), y) for k in range(2)]
        mixed = pt.logaddexp(pt.log(theta) + parts[0], pt.log1p(-theta) + parts[1])
        pm.Potential("likelihood", mixed.sum())
    return model


@foreign(DB + "low_dim_gauss_mix")
def two_normals(n):
    """Data of nearly one normal distribution, which do not tell where the two of them are."""
    return mixture_of_two(frame(n)["y"].to_numpy())


@foreign(DB + "low_dim_gauss_mix")
def two_normals_apart(n):
    """Data as those of the source: normal distributions around -2.75 and 2.75."""
    rng = np.random.default_rng(7)
    centers = np.where(rng.random(n) < 0.4, -2.75, 2.75)
    return mixture_of_two(rng.normal(centers, 1.0))


@foreign(DB + "losscurve_sislob")
def loss_curves(n):
    rng = np.random.default_rng(6)
    cohort, time = rng.integers(0, 10, n), rng.integers(0, 12, n)
    premium, t = rng.uniform(1, 2, 10), np.arange(1, 13)
    with pm.Model() as model:
        omega, theta = pm.LogNormal("omega", 0, 0.5), pm.LogNormal("theta", 0, 0.5)
        mu, sd = pm.Normal("mu_LR", 0, 0.5), pm.LogNormal("sd_LR", 0, 0.5)
        LR = pm.LogNormal("LR", mu, sd, shape=10)
        gf = pm.Deterministic("gf", 1 - pt.exp(-((t / theta) ** omega)))
        lm = LR[cohort] * premium[cohort] * gf[time]
        loss_sd = pm.LogNormal("loss_sd", 0, 0.7)
        loss = rng.gamma(3, 0.3, n)
        pm.Normal("loss", lm, (loss_sd * premium)[cohort], observed=loss)
    return model


@foreign(DB + "arK")
def ar_of_lags(n):
    y = frame(n + 5)["y"].to_numpy()
    with pm.Model() as model:
        alpha, beta = pm.Normal("alpha", 0, 10), pm.Normal("beta", 0, 10, shape=5)
        sigma = pm.HalfCauchy("sigma", 2.5)
        mu = alpha + sum(beta[k] * y[4 - k : n + 4 - k] for k in range(5))
        pm.Normal("y", mu, sigma, observed=y[5:])
    return model


@foreign(DB + "garch11", refused="depend|Scan|scan")
def garch(n):
    import pytensor

    y = frame(n)["y"].to_numpy()
    with pm.Model() as model:
        mu, a0 = pm.Normal("mu", 0, 10), pm.HalfNormal("alpha0", 10)
        a1, b1 = pm.Uniform("alpha1", 0, 1), pm.Beta("beta1", 1, 1)
        squares = (y[:-1] - mu) ** 2
        step = pytensor.scan(
            lambda e, before, a0, a1, b1: a0 + a1 * e + b1 * before,
            sequences=[squares],
            outputs_info=[pt.constant(1.0, dtype="float64")],
            non_sequences=[a0, a1, (1 - a1) * b1],
            return_updates=False,
        )
        pm.Normal("y", mu, pt.sqrt(pt.concatenate([pt.ones(1), step])), observed=y)
    return model


@foreign(DB + "eight_schools_noncentered")
def schools(n):
    """The eight schools, with many pupils each."""
    d = frame(n)
    with pm.Model() as model:
        mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
        theta = pm.Deterministic("theta", mu + tau * pm.Normal("theta_trans", 0, 1, shape=12))
        pm.Normal("y", theta[d["g"].values], d["time"].values + 1, observed=d["y"])
    return model


@foreign(DB + "multi_occupancy")
def occupancy(n):
    """Sites at which a species is seen at some of ten visits."""
    X = np.random.default_rng(7).integers(0, 6, n)
    with pm.Model() as model:
        psi, theta = pm.Beta("psi", 1, 1), pm.Beta("theta", 1, 1)
        seen = pt.log(psi) + pm.logp(pm.Binomial.dist(10, theta), X)
        absent = pt.switch(pt.eq(X, 0), pt.log1p(-psi), -np.inf)
        pm.Potential("sites", pt.logaddexp(seen, absent).sum())
    return model


@foreign(DB + "dugongs_model")
def dugongs(n):
    d = frame(n)
    x = 1 + d["time"].to_numpy()
    with pm.Model() as model:
        alpha, beta = (
            pm.Normal("alpha", 0, 1000, initval=1.0),
            pm.Normal("beta", 0, 1000, initval=1.0),
        )
        lam, tau = pm.Uniform("lambda", 0.5, 1.0), pm.Gamma("tau", 0.0001, 0.0001, initval=1.0)
        m = alpha - beta * lam**x
        pm.Normal("Y", m, 1 / pt.sqrt(tau), observed=d["y"])
    return model

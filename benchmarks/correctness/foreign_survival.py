#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Survival and mixture models of PyMC's gallery of examples."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from benchmarks.correctness.foreign_registry import foreign, frame

__all__: list[str] = []

SURVIVAL = "pymc-examples: survival_analysis/"
MIXTURE = "pymc-examples: mixture_models/"


def weibull_sf(y, alpha, beta):
    """Logarithm of a Weibull distribution's survival function."""
    return -((y / beta) ** alpha)


@foreign(SURVIVAL + "weibull_aft")
def weibull_aft(n):
    d = frame(n)
    t, censored = d["time"].to_numpy(), ~d["event"].to_numpy()
    with pm.Model() as model:
        mu, alpha_raw = pm.Normal("mu", mu=0, sigma=10), pm.Normal("a0", mu=0, sigma=0.1)
        alpha = pm.Deterministic("alpha", pt.exp(2 * alpha_raw))
        beta = pm.Deterministic("beta", pt.exp(mu / alpha))
        pm.Weibull("y_obs", alpha=alpha, beta=beta, observed=t[~censored])
        pm.Potential("y_cens", weibull_sf(t[censored], alpha, beta))
    return model


@foreign(SURVIVAL + "bayes_param_survival")
def accelerated_failure(n):
    d = frame(n)
    X = np.stack([np.ones(n), d["x"]], axis=1)
    y, cens = np.log(d["time"].to_numpy()), ~d["event"].to_numpy()
    with pm.Model(coords={"predictors": ["intercept", "metastized"]}) as model:
        predictors = pm.Data("predictors_data", X)
        events = pm.Data("events", d["event"].to_numpy())
        beta = pm.Normal("beta", 0.0, 5.0, dims="predictors")
        eta = beta.dot(predictors.T)
        s = pm.HalfNormal("s", 5.0)
        pm.Gumbel("events_seen", eta[~cens], s, observed=y[~cens])
        pm.Potential("y_cens", pt.log(1 - pt.exp(-pt.exp(-(y[cens] - eta[cens]) / s))))
        assert events is not None
    return model


@foreign(SURVIVAL + "censored_data")
def censored_unimputed(n):
    y = np.clip(13 + 5 * frame(n)["y"].to_numpy(), 3, 16)
    with pm.Model() as model:
        mu = pm.Normal("mu", mu=0.0, sigma=10.0)
        sigma = pm.HalfNormal("sigma", sigma=10.0)
        latent = pm.Normal.dist(mu=mu, sigma=sigma)
        pm.Censored("censored", latent, lower=3, upper=16, observed=y)
    return model


@foreign(SURVIVAL + "censored_data")
def censored_imputed(n):
    y = 13 + 5 * frame(n)["y"].to_numpy()
    n_right, n_left = int((y >= 16).sum()), int((y <= 3).sum())
    with pm.Model() as model:
        mu = pm.Normal("mu", mu=((16 - 3) / 2) + 3)
        sigma = pm.HalfNormal("sigma", sigma=(16 - 3) / 2.0)
        pm.TruncatedNormal(
            "right", mu, sigma, lower=16, shape=n_right, initval=np.full(n_right, 17.0)
        )
        pm.TruncatedNormal("left", mu, sigma, upper=3, shape=n_left, initval=np.full(n_left, 2.0))
        pm.Normal("observed", mu=mu, sigma=sigma, observed=y[(y > 3) & (y < 16)])
    return model


@foreign(SURVIVAL + "survival_analysis")
def cox(n):
    rng = np.random.default_rng(2)
    metastasised = rng.integers(0, 2, n)
    last = rng.integers(0, 8, n)
    death = (np.arange(8) == last[:, None]) * rng.integers(0, 2, (n, 1))
    exposure = np.where(np.arange(8) < last[:, None], 3.0, 0.0) + (np.arange(8) == last[:, None])
    with pm.Model(coords={"intervals": np.arange(8)}) as model:
        lambda0 = pm.Gamma("lambda0", 0.01, 0.01, dims="intervals")
        beta = pm.Normal("beta", 0, sigma=1000)
        lambda_ = pm.Deterministic("lambda_", pt.outer(pt.exp(beta * metastasised), lambda0))
        mu = pm.Deterministic("mu", exposure * lambda_)
        pm.Poisson("obs", mu, observed=death)
    return model


@foreign(SURVIVAL + "frailty_models")
def frailty(n):
    rng = np.random.default_rng(3)
    X, group = rng.standard_normal((n, 3)), rng.integers(0, 8, n)
    last = rng.integers(0, 6, n)
    quit_job = (np.arange(6) == last[:, None]) * rng.integers(0, 2, (n, 1))
    exposure = (np.arange(6) <= last[:, None]) * 1.0
    coords = {"intervals": range(6), "preds": list("abc"), "frailty_id": range(8), "i": range(n)}
    with pm.Model(coords=coords) as model:
        X_data = pm.Data("X_data_obs", X, dims=("i", "preds"))
        lambda0 = pm.Gamma("lambda0", 0.01, 0.01, dims=("intervals",))
        beta = pm.Normal("beta", 0, sigma=1, dims="preds")
        frail = pm.Gamma("frailty", pm.Gamma("alpha", 1, 0.5), 1.0, dims="frailty_id")
        hazard = pt.outer(frail[group] * pt.exp(pm.math.dot(beta, X_data.T)), lambda0)
        pm.Poisson("outcome", pt.exp(pt.log(hazard)) * exposure, observed=quit_job)
    return model


@foreign(MIXTURE + "marginalized_gaussian_mixture_model")
def marginalised_mixture(n):
    rng = np.random.default_rng(4)
    y = rng.normal(np.array([0.0, 2.0, 5.0])[rng.integers(0, 3, n)], 0.5)
    with pm.Model(coords={"cluster": np.arange(3), "obs_id": np.arange(n)}) as model:
        w = pm.Dirichlet("w", np.ones(3), dims="cluster")
        start = np.linspace(y.min(), y.max(), 3)
        mu = pm.Normal("mu", 0.0, 10.0, dims="cluster", initval=start)
        tau = pm.Gamma("tau", 1.0, 1.0, dims="cluster")
        pm.NormalMixture("x_obs", w, mu, tau=tau, observed=y, dims="obs_id")
    return model


@foreign(MIXTURE + "gaussian_mixture_model")
def ordered_mixture(n):
    y = np.random.default_rng(5).choice([-5.0, 0.0, 5.0], n) + frame(n)["y2"].to_numpy()
    with pm.Model(coords={"cluster": range(3)}) as model:
        mu = pm.Normal(
            "μ",
            mu=0,
            sigma=5,
            transform=pm.distributions.transforms.ordered,
            initval=[-4, 0, 4],
            dims="cluster",
        )
        sigma = pm.HalfNormal("σ", sigma=1, dims="cluster")
        weights = pm.Dirichlet("w", np.ones(3), dims="cluster")
        pm.NormalMixture("x", w=weights, mu=mu, sigma=sigma, observed=y)
    return model


@foreign(MIXTURE + "dp_mix")
def dirichlet_process(n):
    d = frame(n)
    with pm.Model(coords={"component": np.arange(30), "obs_id": d.index}) as model:
        alpha = pm.Gamma("alpha", 1.0, 1.0)
        beta = pm.Beta("beta", 1.0, alpha, dims="component")
        portions = pt.concatenate([[1], pt.extra_ops.cumprod(1 - beta)[:-1]])
        w = pm.Deterministic("w", beta * portions, dims="component")
        tau = pm.Gamma("tau", 1.0, 1.0, dims="component")
        lambda_ = pm.Gamma("lambda_", 10.0, 1.0, dims="component")
        mu = pm.Normal("mu", 0, tau=lambda_ * tau, dims="component")
        pm.NormalMixture("obs", w, mu, tau=lambda_ * tau, observed=d["y"].values, dims="obs_id")
    return model


@foreign(MIXTURE + "dependent_density_regression")
def dependent_density(n):
    d = frame(n)
    with pm.Model(coords={"N": np.arange(n), "K": np.arange(6), "one": [1]}) as model:
        data = pm.Data("x", d["x"].to_numpy())[:, None]
        alpha, beta = pm.Normal("alpha", 0, 1, dims="K"), pm.Normal("beta", 0, 1, dims="K")
        v = pm.Deterministic("v", 0.5 * pt.erfc(-(alpha + data * beta) / np.sqrt(2)))
        rest = pt.concatenate([pt.ones_like(v[:, :1]), pt.cumprod(1 - v, axis=1)[:, :-1]], axis=1)
        w = pm.Deterministic("w", v * rest)
        w = w / w.sum(axis=1, keepdims=True)
        gamma, delta = pm.Normal("gamma", 0, 3, dims="K"), pm.Normal("delta", 0, 3, dims="K")
        mu = pm.Deterministic("mu", gamma + data * delta)
        tau = pm.Gamma("tau", 1, 1, dims="K")
        pm.NormalMixture("obs", w, mu, tau=tau, observed=d["y"].values)
    return model


@foreign(MIXTURE + "dirichlet_mixture_of_multinomials")
def dirichlet_multinomial(n):
    rng = np.random.default_rng(6)
    counts = np.stack([rng.multinomial(50, p) for p in rng.dirichlet(np.ones(5), n)])
    with pm.Model(coords={"tree": list("abcde"), "forest": range(n)}) as model:
        frac = pm.Dirichlet("frac", a=np.ones(5), dims="tree")
        conc = pm.LogNormal("conc", mu=1, sigma=1)
        a = frac * conc
        pm.DirichletMultinomial("counts", n=50, a=a, observed=counts, dims=("forest", "tree"))
    return model

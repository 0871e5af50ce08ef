#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Time series and Gaussian processes of PyMC's gallery of examples."""

from __future__ import annotations

import numpy as np
import pymc as pm

from benchmarks.correctness.foreign_registry import foreign, frame

__all__: list[str] = []

SERIES = "pymc-examples: time_series/"
GP = "pymc-examples: gaussian_processes/"


@foreign(SERIES + "Air_passengers-Prophet_with_Bayesian_workflow")
def prophet(n):
    d = frame(n)
    t = d["rank"].to_numpy()
    fourier = {
        f"{f}_{k}": getattr(np, f)(2 * np.pi * 12 * t * k) for f in ("sin", "cos") for k in (1, 2)
    }
    with pm.Model(coords={"fourier_features": list(fourier)}) as model:
        alpha, beta = pm.Normal("α", mu=0, sigma=0.5), pm.Normal("β", mu=0, sigma=0.5)
        trend = pm.Deterministic("trend", alpha + beta * t)
        sigma = pm.HalfNormal("σ", sigma=0.1)
        f = pm.Normal("β_fourier", mu=0, sigma=0.1, dims="fourier_features")
        season = pm.Deterministic("seasonality", pm.math.dot(f, np.array(list(fourier.values()))))
        pm.Normal("likelihood", mu=trend * (1 + season), sigma=sigma, observed=d["y"])
    return model


@foreign(SERIES + "AR")
def autoregression(n):
    y = frame(n)["y"].to_numpy()
    with pm.Model() as model:
        rho, tau = pm.Normal("rho", 0.0, 1.0, shape=3), pm.Exponential("tau", lam=0.5)
        first = pm.Normal.dist(0, 10, size=2)
        pm.AR("likelihood", rho=rho, tau=tau, constant=True, init_dist=first, observed=y)
    return model


@foreign(SERIES + "bayesian_var_model")
def vector_autoregression(n):
    y = np.random.default_rng(7).standard_normal((n + 2, 2))
    with pm.Model(coords={"lags": [1, 2], "equations": ["a", "b"], "cross": ["a", "b"]}) as model:
        data = pm.Data("data_obs", y)
        lag = pm.Normal("lag_coefs", 0.3, 1, dims=("equations", "lags", "cross"))
        alpha = pm.Normal("alpha", 0, 0.1, dims=("equations",))
        terms = []
        for j in range(2):
            ars = [pm.math.sum(lag[j, i] * data[1 - i : -(i + 1)], axis=-1) for i in range(2)]
            terms.append(pm.math.sum(ars, axis=0))
        mean = pm.Deterministic("mean", alpha + pm.math.stack(terms, axis=-1))
        chol, _, _ = pm.LKJCholeskyCov(
            "noise_chol", n=2, eta=1.0, sd_dist=pm.HalfNormal.dist(sigma=1.0, shape=2)
        )
        pm.MvNormal("obs", mu=mean, chol=chol, observed=data[2:])
    return model


@foreign(SERIES + "MvGaussianRandomWalk_demo")
def random_walks_of_sections(n):
    rng = np.random.default_rng(8)
    section, t = (np.arange(n) * 20) // n, np.linspace(0, 20, n)
    with pm.Model(coords={"time": range(n), "steps": range(20), "obs": ["y", "z", "w"]}) as model:
        time = pm.Data("time_data", t / 20, dims="time")
        sections = pm.Data("section_data", section, dims="time")
        chol_a, _, _ = pm.LKJCholeskyCov(
            "chol_a", n=3, eta=2, sd_dist=pm.HalfCauchy.dist(2.5, shape=3)
        )
        chol_b, _, _ = pm.LKJCholeskyCov(
            "chol_b", n=3, eta=2, sd_dist=pm.HalfCauchy.dist(2.5, shape=3)
        )
        a = pm.MvGaussianRandomWalk(
            "alpha",
            mu=np.zeros(3),
            chol=chol_a,
            init_dist=pm.MvNormal.dist(np.zeros(3), np.eye(3)),
            dims=("steps", "obs"),
        )
        b = pm.MvGaussianRandomWalk(
            "beta",
            mu=np.zeros(3),
            chol=chol_b,
            init_dist=pm.MvNormal.dist(np.zeros(3), np.eye(3)),
            dims=("steps", "obs"),
        )
        regression = a[sections] + b[sections] * time[:, None]
        sd = pm.Uniform("sd", 0, 1)
        pm.Normal(
            "y", mu=regression, sigma=sd, observed=rng.standard_normal((n, 3)), dims=("time", "obs")
        )
    return model


@foreign("pymc-examples: case_studies/stochastic_volatility")
def stochastic_volatility(n):
    with pm.Model(coords={"time": range(n)}) as model:
        step = pm.Exponential("step_size", 10)
        volatility = pm.GaussianRandomWalk(
            "volatility", sigma=step, init_dist=pm.Normal.dist(0, 100), dims="time"
        )
        nu = pm.Exponential("nu", 0.1)
        lam = np.exp(-2 * volatility)
        pm.StudentT("returns", nu=nu, lam=lam, observed=frame(n)["y"], dims="time")
    return model


@foreign(GP + "HSGP-Basic")
def hsgp(n):
    d = frame(n)
    with pm.Model() as model:
        ell = pm.Gamma("ell", alpha=3, beta=8)
        eta = pm.Exponential("eta", scale=1.0)
        cov = eta**2 * pm.gp.cov.Matern52(input_dim=1, ls=ell)
        gp = pm.gp.HSGP(m=[25], c=1.3, cov_func=cov)
        f = gp.prior("f", X=d["rank"].to_numpy()[:, None])
        sigma = pm.Exponential("sigma", scale=1)
        pm.Normal("y_obs", mu=f, sigma=sigma, observed=d["y"])
    return model


@foreign(GP + "GP-Births")
def births(n):
    d = frame(n)
    t, day = d["rank"].to_numpy(), d["h"].to_numpy()
    with pm.Model(coords={"time": range(n), "day_of_week": range(5)}) as model:
        data, day_idx = pm.Data("time_data", t, dims="time"), pm.Data("day_idx", day, dims="time")
        amplitude = pm.HalfNormal("amplitude_trend", sigma=0.5)
        ls = pm.LogNormal("ls_trend", mu=np.log(0.5), sigma=0.5)
        gp = pm.gp.HSGP(m=[15], c=1.5, cov_func=amplitude**2 * pm.gp.cov.ExpQuad(1, ls=ls))
        f_trend = gp.prior("f_trend", X=data[:, None], dims="time")
        period = pm.LogNormal("ls_year", mu=0, sigma=0.5)
        yearly = pm.gp.HSGPPeriodic(
            m=8, scale=0.5, cov_func=pm.gp.cov.Periodic(1, period=0.1, ls=period)
        )
        f_year = yearly.prior("f_year", X=data[:, None], dims="time")
        b_day = pm.ZeroSumNormal("b_day", sigma=1, dims="day_of_week")
        mu = pm.Deterministic("mu", f_trend + f_year + b_day[day_idx], dims="time")
        nu = pm.Gamma("nu", 2, 0.1)
        pm.StudentT(
            "likelihood", nu, mu, sigma=pm.HalfNormal("sigma", 0.5), observed=d["y"], dims="time"
        )
    return model


@foreign(GP + "GP-Latent", refused="cholesky|depend|Cholesky")
def gp_latent(n):
    d = frame(min(n, 1_500))
    with pm.Model() as model:
        ell, eta = pm.Gamma("ell", alpha=2, beta=1), pm.HalfNormal("eta", sigma=5)
        gp = pm.gp.Latent(cov_func=eta**2 * pm.gp.cov.ExpQuad(1, ell))
        f = gp.prior("f", X=d["rank"].to_numpy()[:, None])
        pm.Bernoulli("y", logit_p=f, observed=d["bin"])
    return model


@foreign(GP + "GP-Marginal", refused="depend|together|MvNormal")
def gp_marginal(n):
    d = frame(min(n, 1_500))
    with pm.Model() as model:
        ell, eta = pm.Gamma("ell", alpha=2, beta=1), pm.HalfCauchy("eta", beta=5)
        gp = pm.gp.Marginal(cov_func=eta**2 * pm.gp.cov.Matern52(1, ell))
        sigma = pm.HalfCauchy("sigma", beta=5)
        gp.marginal_likelihood(
            "y", X=d["rank"].to_numpy()[:, None], y=d["y"].to_numpy(), sigma=sigma
        )
    return model

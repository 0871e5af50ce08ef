#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Generalised linear models of PyMC's gallery of examples."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pymc as pm
import pytensor.tensor as pt

from benchmarks.correctness.foreign_registry import foreign, frame

__all__: list[str] = []

GLM = "pymc-examples: generalized_linear_models/"
CASE = "pymc-examples: case_studies/"


@foreign(GLM + "GLM-robust")
def robust(n):
    d = frame(n)
    with pm.Model() as model:
        x = pm.Data("x", d["x"], dims="obs_id")
        intercept, slope = pm.Normal("intercept", 0, 1), pm.Normal("slope", 0, 1)
        sigma, nu = pm.HalfCauchy("sigma", beta=10), pm.Gamma("nu", alpha=2, beta=0.1)
        mu = pm.Deterministic("mu", intercept + slope * x, dims="obs_id")
        pm.StudentT("y", mu=mu, sigma=sigma, nu=nu, observed=d["y"], dims="obs_id")
    return model


@foreign(GLM + "GLM-robust-with-outlier-detection", refused="discrete|is_outlier")
def outlier_detection(n):
    d = frame(n)
    with pm.Model(coords={"coefs": ["intercept", "slope"], "datapoint_id": d.index}) as model:
        x = pm.Data("tsv_x", d["x"], dims="datapoint_id")
        y = pm.Data("tsv_y", d["y"], dims="datapoint_id")
        beta = pm.Normal("beta", 0, 10, dims="coefs")
        y_out = pm.Normal("y_est_out", 0, 10)
        sigma_out = pm.HalfNormal("sigma_y_out", 10)
        is_outlier = pm.Bernoulli("is_outlier", p=0.2, dims="datapoint_id")
        inside = pm.logp(pm.Normal.dist(beta[0] + beta[1] * x, 0.8), y)
        outside = pm.logp(pm.Normal.dist(y_out, 0.8 + sigma_out), y)
        pm.Potential("obs", ((1 - is_outlier) * inside).sum() + (is_outlier * outside).sum())
    return model


@foreign(GLM + "GLM-poisson-regression")
def sneezes(n):
    d = frame(n)
    alcohol, nomeds = d["bin"], (d["h"] > 2).astype(int)
    with pm.Model() as model:
        b0, b1 = pm.Normal("intercept", 0, 10), pm.Normal("alcohol", 0, 10)
        b2, b3 = pm.Normal("nomeds", 0, 10), pm.Normal("alcohol:nomeds", 0, 10)
        eta = b0 + b1 * alcohol.values + b2 * nomeds.values + b3 * (alcohol * nomeds).values
        pm.Poisson("y", mu=pm.math.exp(eta), observed=d["count"])
    return model


@foreign(GLM + "GLM-negative-binomial-regression")
def negative_binomial(n):
    d = frame(n)
    with pm.Model(coords={"regressors": ["nomeds", "alcohol", "both"], "obs_idx": d.index}) as m:
        a, b = pm.Normal("intercept", 0, 5), pm.Normal("slopes", 0, 1, dims="regressors")
        alpha = pm.Exponential("alpha", 0.5)
        M = pm.Data("nomeds", d["x"], dims="obs_idx")
        A = pm.Data("alcohol", d["bin"].to_numpy(), dims="obs_idx")
        S = pm.Data("nsneeze", d["count"].to_numpy(), dims="obs_idx")
        lam = pm.math.exp(a + b[0] * M + b[1] * A + b[2] * M * A)
        pm.NegativeBinomial("y", mu=lam, alpha=alpha, observed=S, dims="obs_idx")
    return m


@foreign(GLM + "GLM-binomial-regression")
def binomial(n):
    d = frame(n)
    with pm.Model(coords={"observation": d.index}) as model:
        x = pm.Data("x", d["x"], dims="observation")
        trials = pm.Data("n", d["tries"].to_numpy(), dims="observation")
        b0, b1 = pm.Normal("beta0", 0, 1), pm.Normal("beta1", 0, 1)
        p = pm.Deterministic("p", pm.math.invlogit(b0 + b1 * x), dims="observation")
        pm.Binomial("y", n=trials, p=p, observed=d["wins"], dims="observation")
    return model


@foreign(GLM + "GLM-ordinal-regression")
def ordinal_logit(n):
    d = frame(n)
    with pm.Model() as model:
        cuts = pm.Normal(
            "cutpoints",
            mu=np.linspace(0, 5, 4),
            sigma=1,
            transform=pm.distributions.transforms.ordered,
            initval=np.linspace(-1.0, 2.0, 4),
        )
        beta, sigma = pm.Normal("beta", 0, 1, size=2), pm.Exponential("sigma", 1)
        mu = pm.Deterministic("mu", beta[0] * d["x"].values + beta[1] * d["z"].values)
        pm.OrderedLogistic(
            "y", cutpoints=cuts, eta=mu / sigma, compute_p=False, observed=d["level"]
        )
    return model


@foreign(GLM + "GLM-ordinal-regression")
def ordinal_probit_by_intervals(n):
    d = frame(n)
    with pm.Model() as model:
        theta = pm.Dirichlet("theta", a=np.ones(3))
        cuts = pt.concatenate([np.zeros(1), pt.extra_ops.cumsum(theta) * 2])
        sigma, beta = pm.HalfNormal("sigma", 1), pm.Normal("beta", 0, 1)
        mu = pm.Deterministic("mu", beta * d["x"].values)
        pm.OrderedProbit(
            "y", cutpoints=cuts, eta=mu, sigma=sigma, compute_p=False, observed=d["level"]
        )
    return model


@foreign(GLM + "GLM-ordinal-features")
def monotonic_levels(n):
    d = frame(n)
    with pm.Model(coords={"oid": d.index, "steps": ["1", "2", "3", "4"]}) as model:
        code = pm.Data("level", d["level"].to_numpy(), dims="oid")
        alpha, beta = pm.Normal("alpha", 0, 2), pm.Normal("beta", 0, 2)
        nu = pm.Dirichlet("nu", a=np.ones(4), dims="steps")
        steps = pt.concatenate([pt.zeros(1), nu])
        eps = pm.InverseGamma("epsilon", 2, 2)
        mu = alpha + beta * pt.cumsum(steps)[code]
        pm.Normal("yhat", mu=mu, sigma=eps, observed=d["y"], dims="oid")
    return model


@foreign(GLM + "GLM-hierarchical-binomial-model")
def rat_tumours(n):
    d = frame(n)
    coords = {"obs_id": np.arange(n), "param": ["alpha", "beta"]}
    with pm.Model(coords=coords) as model:
        n_val = pm.Data("n_val", d["tries"].to_numpy())
        ab = pm.HalfNormal("ab", sigma=10, dims="param")
        pm.Potential("p(a, b)", -2.5 * pt.log(pt.sum(ab)))
        theta = pm.Beta("theta", alpha=ab[0], beta=ab[1], dims="obs_id")
        pm.Binomial("y", p=theta, observed=d["wins"], n=n_val)
    return model


@foreign(GLM + "GLM-missing-values-in-covariates")
def missing_covariates(n):
    d = frame(n)
    x = np.ma.masked_invalid(np.where(np.random.default_rng(2).random(n) < 0.002, np.nan, d["x"]))
    with pm.Model(coords={"oid": d.index}) as model:
        b0, bx, bz = pm.Normal("b0", 0, 1), pm.Normal("bx", 0, 1), pm.Normal("bz", 0, 1)
        sigma = pm.InverseGamma("sigma", alpha=11, beta=10)
        mu_x = pm.Normal("x_mu", 0, 1)
        full = pm.Normal("x", mu_x, 1.0, observed=x, dims="oid")
        z = pm.Data("z", d["z"], dims="oid")
        pm.Normal("y", b0 + bx * full + bz * z, sigma, observed=d["y"], dims="oid")
    return model


@foreign(GLM + "GLM-out-of-sample-predictions")
def logistic_interaction(n):
    d = frame(n)
    design = pd.DataFrame({"Intercept": 1.0, "x1": d["x"], "x2": d["z"], "x1:x2": d["x"] * d["z"]})
    with pm.Model(coords={"coeffs": design.columns}) as model:
        X = pm.Data("X", design)
        y = pm.Data("y", d["bin"].to_numpy())
        b = pm.Normal("b", mu=0, sigma=1, dims="coeffs")
        p = pm.Deterministic("p", pm.math.sigmoid(pm.math.dot(X, b)))
        pm.Bernoulli("obs", p=p, observed=y)
    return model


@foreign(GLM + "GLM-rolling-regression")
def rolling_regression(n):
    d = frame(n)
    day = (np.arange(n) * 40) // n
    with pm.Model(coords={"time": np.arange(40)}) as model:
        step_a, step_b = pm.Exponential("sigma_alpha", 50.0), pm.Exponential("sigma_beta", 50.0)
        first = pm.Normal.dist(0, 1)
        alpha = pm.GaussianRandomWalk("alpha", sigma=step_a, init_dist=first, dims="time")
        beta = pm.GaussianRandomWalk("beta", sigma=step_b, init_dist=first, dims="time")
        sd = pm.HalfNormal("sd", sigma=0.1)
        pm.Normal("y", mu=alpha[day] + beta[day] * d["x"].values, sigma=sd, observed=d["y"])
    return model


@foreign(GLM + "GLM-simpsons-paradox")
def simpson_unpooled(n):
    d = frame(n)
    with pm.Model(coords={"group": range(12), "obs_id": d.index}) as model:
        beta0 = pm.Normal("β0", 0, 5, dims="group")
        beta1 = pm.Normal("β1", 0, 5, dims="group")
        sigma = pm.Gamma("sigma", 2, 2, dims="group")
        x = pm.Data("x", d["x"], dims="obs_id")
        g = pm.Data("g", d["g"].to_numpy(), dims="obs_id")
        mu = pm.Deterministic("μ", beta0[g] + beta1[g] * x, dims="obs_id")
        pm.Normal("y", mu=mu, sigma=sigma[g], observed=d["y"], dims="obs_id")
    return model


@foreign(GLM + "GLM-simpsons-paradox")
def simpson_hierarchical(n):
    d = frame(n)
    with pm.Model(coords={"group": range(12), "obs_id": d.index}) as model:
        x = pm.Data("x", d["x"], dims="obs_id")
        g = pm.Data("g", d["g"].to_numpy(), dims="obs_id")
        beta0, beta1 = pm.Normal("β0", 0, 5), pm.Normal("β1", 0, 5)
        z0, z1 = pm.Normal("z0", dims="group"), pm.Normal("z1", dims="group")
        s0, s1 = pm.Gamma("intercept_sigma", 2, 2), pm.Gamma("slope_sigma", 2, 2)
        mu = (beta0 + s0 * z0[g]) + (beta1 + s1 * z1[g]) * x
        pm.Normal("y", mu=mu, sigma=pm.Gamma("sigma", 2, 2), observed=d["y"], dims="obs_id")
    return model


@foreign(GLM + "GLM-truncated-censored-regression")
def truncated_regression(n):
    d = frame(2 * n)
    d = d[d["y"].between(-1, 2)].head(n)
    with pm.Model() as model:
        slope, intercept = pm.Normal("slope", 0, 1), pm.Normal("intercept", 0, 1)
        sigma = pm.HalfNormal("σ", sigma=1)
        latent = pm.Normal.dist(mu=slope * d["x"].values + intercept, sigma=sigma)
        pm.Truncated("obs", latent, lower=-1, upper=2, observed=d["y"].values)
    return model


@foreign(GLM + "GLM-truncated-censored-regression")
def censored_regression(n):
    d = frame(n)
    with pm.Model() as model:
        slope, intercept = pm.Normal("slope", 0, 1), pm.Normal("intercept", 0, 1)
        sigma = pm.HalfNormal("σ", sigma=1)
        latent = pm.Normal.dist(mu=slope * d["x"].values + intercept, sigma=sigma)
        pm.Censored("obs", latent, lower=-1, upper=2, observed=np.clip(d["y"].values, -1, 2))
    return model


def heating(n):
    """Simulate costs of five systems, and choices among them."""
    rng = np.random.default_rng(3)
    names = ["ec", "er", "gc", "gr", "hp"]
    costs = {f"{kind}.{name}": rng.gamma(5, 0.2, n) for kind in ("ic", "oc") for name in names}
    return pd.DataFrame(costs), names, rng.integers(0, 5, n)


@foreign(GLM + "GLM-discrete-choice_models")
def heating_choice(n):
    d, names, chosen = heating(n)
    with pm.Model(coords={"alts_probs": names, "obs": range(n)}) as model:
        ic, oc = pm.Normal("beta_ic", 0, 1), pm.Normal("beta_oc", 0, 1)
        u = [ic * d[f"ic.{name}"] + oc * d[f"oc.{name}"] for name in names[:4]]
        s = pm.math.stack([*u, np.zeros(n)]).T
        p = pm.Deterministic("p", pm.math.softmax(s, axis=1), dims=("obs", "alts_probs"))
        pm.Categorical("y_cat", p=p, observed=chosen, dims="obs")
    return model


@foreign(GLM + "GLM-discrete-choice_models")
def heating_choice_correlated(n):
    d, names, chosen = heating(n)
    coords = {"alts_intercepts": names[:4], "alts_probs": names, "obs": range(n)}
    with pm.Model(coords=coords) as model:
        data = {name: pm.Data(name, d[name]) for name in d.columns}
        ic, oc = pm.Normal("beta_ic", 0, 1), pm.Normal("beta_oc", 0, 1)
        chol, _, _ = pm.LKJCholeskyCov(
            "chol", n=4, eta=2, sd_dist=pm.Exponential.dist(1.0, shape=4)
        )
        alpha = pm.MvNormal("alpha", mu=np.zeros(4), chol=chol, dims="alts_intercepts")
        u = [
            alpha[i] + ic * data[f"ic.{a}"] + oc * data[f"oc.{a}"] for i, a in enumerate(names[:4])
        ]
        s = pm.math.stack([*u, pt.zeros_like(u[0])]).T
        p = pm.Deterministic("p", pm.math.softmax(s, axis=1), dims=("obs", "alts_probs"))
        pm.Categorical("y_cat", p=p, observed=chosen, dims="obs")
    return model

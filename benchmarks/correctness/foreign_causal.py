#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Causal, introductory and workflow models of PyMC's gallery of examples."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from benchmarks.correctness.foreign_registry import foreign, frame

__all__: list[str] = []

CAUSAL = "pymc-examples: causal_inference/"
CASE = "pymc-examples: case_studies/"
CRITICISM = "pymc-examples: diagnostics_and_criticism/"


@foreign(CAUSAL + "moderation_analysis")
def moderation(n):
    d = frame(n)
    with pm.Model() as model:
        x, m = pm.Data("x", d["x"]), pm.Data("m", d["z"])
        b0, b1 = pm.Normal("β0", 0, 10), pm.Normal("β1", 0, 10)
        b2, b3 = pm.Normal("β2", 0, 10), pm.Normal("β3", 0, 10)
        sigma = pm.HalfCauchy("σ", 1)
        mu = b0 + (b1 * x) + (b2 * x * m) + (b3 * m)
        pm.Normal("y", mu=mu, sigma=sigma, observed=d["y"])
    return model


@foreign(CAUSAL + "mediation_analysis")
def mediation(n):
    d = frame(n)
    with pm.Model(coords={"obs_id": d.index}) as model:
        x = pm.Data("x", d["x"], dims="obs_id")
        y = pm.Data("y", d["y"], dims="obs_id")
        m = pm.Data("m", d["z"], dims="obs_id")
        im, iy = pm.Normal("im", 0, 10), pm.Normal("iy", 0, 10)
        a, b, c = pm.Normal("a", 0, 10), pm.Normal("b", 0, 10), pm.Normal("cprime", 0, 10)
        sm, sy = pm.HalfCauchy("σm", 1), pm.HalfCauchy("σy", 1)
        pm.Normal("m_likelihood", mu=im + a * x, sigma=sm, observed=m, dims="obs_id")
        pm.Normal("y_likelihood", mu=iy + b * m + c * x, sigma=sy, observed=y, dims="obs_id")
        pm.Deterministic("indirect effect", a * b)
        pm.Deterministic("total effect", c + a * b)
    return model


@foreign(CAUSAL + "difference_in_differences")
def difference_in_differences(n):
    d = frame(n)
    with pm.Model(coords={"obs_idx": d.index}) as model:
        t = pm.Data("t", d["rank"])
        treated = pm.Data("treated", (d["rank"] > 0.5).astype(float))
        group = pm.Data("group", d["bin"].to_numpy())
        control, delta_g = pm.Normal("_control_intercept", 0, 5), pm.Normal("Δ_group", 0, 1)
        trend, delta = pm.Normal("trend", 0, 1), pm.Normal("Δ", 0, 1)
        sigma = pm.HalfNormal("sigma", 1)
        outcome = control + delta_g * group + trend * t + delta * treated * group
        mu = pm.Deterministic("mu", outcome, dims="obs_idx")
        pm.Normal("obs", mu, sigma, observed=d["y"])
    return model


@foreign(CAUSAL + "regression_discontinuity")
def regression_discontinuity(n):
    d = frame(n)
    with pm.Model() as model:
        x = pm.Data("x", d["x"], dims="obs_id")
        treated = pm.Data("treated", (d["x"] < 0.5).to_numpy(), dims="obs_id")
        sigma, delta = pm.HalfNormal("sigma", 1), pm.Cauchy("effect", alpha=0, beta=1)
        mu = pm.Deterministic("mu", x + (delta * treated), dims="obs_id")
        pm.Normal("y", mu=mu, sigma=sigma, observed=d["y"], dims="obs_id")
    return model


@foreign(CAUSAL + "interrupted_time_series")
def interrupted_time_series(n):
    d = frame(n)
    with pm.Model(coords={"obs_id": d.index}) as model:
        time = pm.Data("time", d["rank"], dims="obs_id")
        beta0, beta1 = pm.Normal("beta0", 0, 1), pm.Normal("beta1", 0, 0.2)
        mu = pm.Deterministic("mu", beta0 + (beta1 * time), dims="obs_id")
        sigma = pm.HalfNormal("sigma", 2)
        pm.Normal("obs", mu=mu, sigma=sigma, observed=d["y"], dims="obs_id")
    return model


@foreign(CAUSAL + "excess_deaths")
def excess_deaths(n):
    d = frame(n)
    deaths, names = 40 + 5 * d["y"].abs(), [f"month {i}" for i in range(12)]
    with pm.Model(coords={"month": names}) as model:
        month = pm.Data("month_idx", d["g"].to_numpy(), dims="t")
        t = pm.Data("time", d["rank"].to_numpy(), dims="t")
        temp = pm.Data("temp", d["x"].to_numpy(), dims="t")
        intercept = pm.Normal("intercept", 40, 10)
        effect = pm.ZeroSumNormal("month mu", sigma=3, dims="month")
        trend, b_temp = (
            pm.TruncatedNormal("linear trend", 0, 50, lower=0),
            pm.Normal("temp coeff", 0, 10),
        )
        mu = intercept + trend * t + effect[month] + b_temp * temp
        sigma = pm.HalfNormal("sigma", 2)
        pm.TruncatedNormal("obs", mu=mu, sigma=sigma, lower=0, observed=deaths, dims="t")
    return model


@foreign(CAUSAL + "interventional_what_if_do_operator")
def confounded(n):
    d = frame(n)
    with pm.Model(coords={"i": d.index}) as model:
        bc, bz = pm.Normal("beta_c", 0, 1), pm.Normal("beta_z", 0, 1, size=2)
        b0 = pm.Normal("beta_0", 0, 1)
        c = pm.Normal("c", 0, 1, observed=d["z"], dims="i")
        p = pm.invlogit(bz[0] + bz[1] * c)
        z = pm.Bernoulli("z", p, observed=d["bin"], dims="i")
        sigma = pm.HalfNormal("sigma_y", 1)
        pm.Normal("y", b0 + bc * c + z, sigma, observed=d["y"], dims="i")
    return model


@foreign(CASE + "BEST")
def best(n):
    d = frame(n)
    drug, placebo = 101 + d["y"].values, 100 + d["y2"].values[: n // 2]
    with pm.Model() as model:
        m1, m2 = (pm.Normal(f"group{i}_mean", 100.0, 10.0) for i in (1, 2))
        s1, s2 = (pm.Uniform(f"group{i}_std", 0.1, 10.0) for i in (1, 2))
        nu = pm.Exponential("nu_minus_one", 1 / 29.0) + 1
        pm.StudentT("drug", nu=nu, mu=m1, lam=s1**-2, observed=drug)
        pm.StudentT("placebo", nu=nu, mu=m2, lam=s2**-2, observed=placebo)
        diff = pm.Deterministic("difference of means", m1 - m2)
        pm.Deterministic("effect size", diff / np.sqrt((s1**2 + s2**2) / 2))
    return model


@foreign(CRITICISM + "Bayes_factor")
def beta_binomial(n):
    with pm.Model() as model:
        a = pm.Beta("a", 30, 30)
        pm.Bernoulli("yl", a, observed=frame(n)["bin"])
    return model


@foreign(CRITICISM + "model_averaging")
def milk(n):
    d = frame(n)
    with pm.Model() as model:
        alpha = pm.Normal("alpha", mu=0, sigma=1)
        beta = pm.Normal("beta", mu=0, sigma=1, shape=2)
        sigma = pm.HalfNormal("sigma", 10)
        mu = alpha + pm.math.dot(beta, d[["x", "z"]].T)
        pm.Normal("kcal", mu=mu, sigma=sigma, observed=d["y"])
    return model


@foreign("pymc-examples: fundamentals/data_container")
def temperatures(n):
    d = frame(n)
    temperature = 15 + d["y"].values[:, None] + np.random.default_rng(4).standard_normal((n, 3))
    with pm.Model(coords={"city": ["Berlin", "San Marino", "Paris"], "date": d.index}) as model:
        europe = pm.Normal("europe_mean_temp", mu=15.0, sigma=3.0)
        offset = pm.Normal("city_offset", mu=0.0, sigma=3.0, dims="city")
        mean = pm.Deterministic("expected_city_temp", europe + offset, dims="city")
        data = pm.Data("data", temperature, dims=("date", "city"))
        pm.Normal("likelihood", mu=mean, sigma=0.5, observed=data, dims=("date", "city"))
    return model


@foreign("pymc-examples: introductory/api_quickstart")
def neural_network(n):
    d = frame(n)
    rng = np.random.default_rng(5)
    with pm.Model(coords={"hidden_1": range(5), "hidden_2": range(5), "cols": range(3)}) as model:
        X = pm.Data("X", d[["x", "z", "w"]].to_numpy(), dims=("obs", "cols"))
        y = pm.Data("Y", d["bin"].to_numpy(), dims="obs")
        w1 = pm.Normal("w_in_1", dims=("cols", "hidden_1"), initval=rng.normal(size=(3, 5)))
        w2 = pm.Normal("w_1_2", dims=("hidden_1", "hidden_2"), initval=rng.normal(size=(5, 5)))
        w3 = pm.Normal("w_2_out", dims="hidden_2", initval=rng.normal(size=5))
        act = pm.math.tanh(pm.math.dot(pm.math.tanh(pm.math.dot(X, w1)), w2))
        pm.Bernoulli("out", pm.math.sigmoid(pm.math.dot(act, w3)), observed=y, dims="obs")
    return model


@foreign("pymc docs: learn/core_notebooks/pymc_overview", refused="discrete|switchpoint")
def coal_mining(n):
    d = frame(n)
    with pm.Model() as model:
        years = np.arange(n)
        switchpoint = pm.DiscreteUniform("switchpoint", lower=0, upper=n)
        early, late = pm.Exponential("early_rate", 1.0), pm.Exponential("late_rate", 1.0)
        rate = pm.math.switch(switchpoint >= years, early, late)
        pm.Poisson("disasters", rate, observed=d["count"])
    return model


@foreign("pymc docs: learn/core_notebooks/pymc_overview")
def escs(n):
    """Test scores with a regularised horseshoe."""
    d = frame(n)
    X = np.random.default_rng(6).standard_normal((n, 8))
    with pm.Model(coords={"predictors": [f"p{i}" for i in range(8)]}) as model:
        sigma = pm.HalfNormal("sigma", 25)
        tau = pm.HalfStudentT("tau", 2, 3 / (8 - 3) * sigma / np.sqrt(n))
        lam = pm.HalfStudentT("lam", 5, dims="predictors")
        c2 = pm.InverseGamma("c2", 1, 1)
        z = pm.Normal("z", 0.0, 1.0, dims="predictors")
        shrink = pt.sqrt(c2 / (c2 + tau**2 * lam**2))
        beta = pm.Deterministic("beta", z * tau * lam * shrink, dims="predictors")
        beta0 = pm.Normal("beta0", 100, 25.0)
        pm.Normal("scores", beta0 + pt.dot(X, beta), sigma, observed=100 + d["y"].values)
    return model


def putts(n):
    """Simulate putts: distances, tries and successes."""
    rng = np.random.default_rng(7)
    distance, tries = rng.uniform(1, 20, n), rng.integers(50, 500, n)
    return distance, tries, rng.binomial(tries, 1 / (1 + np.exp(0.25 * (distance - 8))))


def phi(x):
    """Cumulative distribution of the standard normal distribution."""
    return 0.5 + 0.5 * pt.erf(x / pt.sqrt(2.0))


@foreign(CASE + "putting_workflow")
def putting_logit(n):
    distance, tries, successes = putts(n)
    with pm.Model() as model:
        x = pm.Data("distance", distance, dims="obs_id")
        t = pm.Data("tries", tries, dims="obs_id")
        s = pm.Data("successes", successes, dims="obs_id")
        a, b = pm.Normal("a"), pm.Normal("b")
        p = pm.math.invlogit(a * x + b)
        pm.Binomial("success", n=t, p=p, observed=s, dims="obs_id")
    return model


@foreign(CASE + "putting_workflow")
def putting_angle_and_distance(n):
    distance, tries, successes = putts(n)
    with pm.Model() as model:
        x = pm.Data("distance", distance, dims="obs_id")
        t = pm.Data("tries", tries, dims="obs_id")
        y = pm.Data("obs_prop_success", successes / tries, dims="obs_id")
        of_shot, of_distance = (
            pm.HalfNormal("variance_of_shot"),
            pm.HalfNormal("variance_of_distance"),
        )
        dispersion = pm.HalfNormal("dispersion")
        angle = 2 * phi(pt.arcsin(0.1075 / x) / of_shot) - 1
        far = phi(2 / ((x + 1) * of_distance)) - phi(-1 / ((x + 1) * of_distance))
        p = pm.Deterministic("p_success", angle * far, dims="obs_id")
        sd = pt.sqrt(((p * (1 - p)) / t) + dispersion**2)
        pm.Normal("p_success_obs", mu=p, sigma=sd, observed=y, dims="obs_id")
    return model

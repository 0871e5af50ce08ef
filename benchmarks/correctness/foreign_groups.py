#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Hierarchical models and case studies of PyMC's gallery of examples."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from benchmarks.correctness.foreign_registry import foreign, frame

__all__: list[str] = []

CASE = "pymc-examples: case_studies/"
RADON = "pymc-examples: generalized_linear_models/multilevel_modeling"
COUNTIES = [f"county {i}" for i in range(12)]


@foreign(CASE + "item_response_nba")
def nba_fouls(n):
    d = frame(n)
    committing, disadvantaged = d["g"].to_numpy(), d["h"].to_numpy()
    with pm.Model(coords={"disadvantaged": range(5), "committing": range(12)}) as model:
        observed = pm.Data("foul_called_observed", d["bin"])
        mu = pm.Normal("mu_theta", 0.0, 100.0)
        s_theta, s_b = pm.HalfCauchy("sigma_theta", 2.5), pm.HalfCauchy("sigma_b", 2.5)
        z_theta = pm.Normal("Delta_theta", 0.0, 1.0, dims="disadvantaged")
        z_b = pm.Normal("Delta_b", 0.0, 1.0, dims="committing")
        theta = pm.Deterministic("theta", z_theta * s_theta + mu, dims="disadvantaged")
        b = pm.Deterministic("b", z_b * s_b, dims="committing")
        eta = pm.Deterministic("eta", theta[disadvantaged] - b[committing])
        pm.Bernoulli("y", logit_p=eta, observed=observed)
    return model


@foreign(CASE + "rugby_analytics")
def rugby(n):
    rng = np.random.default_rng(2)
    home, away = rng.integers(0, 6, n), rng.integers(0, 6, n)
    with pm.Model(coords={"team": list("EFISWT")}) as model:
        pm.Data("home_team", home, dims="match")
        pm.Data("away_team", away, dims="match")
        advantage, intercept = pm.Normal("home", 0, 1), pm.Normal("intercept", 3, 1)
        s_att, s_def = pm.HalfNormal("sd_att", 2), pm.HalfNormal("sd_def", 2)
        a, b = (
            pm.Normal(name, 0, sd, dims="team")
            for name, sd in (("atts_star", s_att), ("defs_star", s_def))
        )
        atts = pm.Deterministic("atts", a - pt.mean(a), dims="team")
        defs = pm.Deterministic("defs", b - pt.mean(b), dims="team")
        home_theta = pt.exp(intercept + advantage + atts[home] + defs[away])
        away_theta = pt.exp(intercept + atts[away] + defs[home])
        for name, theta in (("home_points", home_theta), ("away_points", away_theta)):
            pm.Poisson(name, mu=theta, observed=rng.poisson(20, n), dims="match")
    return model


@foreign(CASE + "hierarchical_partial_pooling")
def baseball(n):
    d = frame(n)
    with pm.Model(coords={"player_names": d.index}) as model:
        phi = pm.Uniform("phi", lower=0.0, upper=1.0)
        kappa_log = pm.Exponential("kappa_log", lam=1.5)
        kappa = pm.Deterministic("kappa", pt.exp(kappa_log))
        theta = pm.Beta("theta", alpha=phi * kappa, beta=(1 - phi) * kappa, dims="player_names")
        pm.Binomial("y", n=d["tries"].values, p=theta, dims="player_names", observed=d["wins"])
    return model


def radon(n):
    """Simulate measurements in counties."""
    d = frame(n)
    uranium = np.random.default_rng(3).standard_normal(12)
    return d["g"].to_numpy(), d["bin"].to_numpy(), d["y"].to_numpy(), uranium


@foreign(RADON)
def radon_unpooled(n):
    county, floor, y, _ = radon(n)
    coords = {"county": COUNTIES, "Level": ["Basement", "Floor"], "obs_id": np.arange(n)}
    with pm.Model(coords=coords) as model:
        floor_idx = pm.Data("floor_idx", floor, dims="obs_id")
        alpha = pm.Normal("alpha", 0, sigma=10, dims="county")
        beta = pm.Normal("beta", 0, sigma=10)
        theta = alpha[county] + beta * floor_idx
        pm.Normal("y", theta, sigma=pm.Exponential("sigma", 1), observed=y, dims="obs_id")
    return model


@foreign(RADON)
def radon_varying_intercept(n):
    county, floor, y, _ = radon(n)
    with pm.Model(coords={"county": COUNTIES, "obs_id": np.arange(n)}) as model:
        floor_idx = pm.Data("floor_idx", floor, dims="obs_id")
        county_idx = pm.Data("county_idx", county, dims="obs_id")
        mu_a, sigma_a = pm.Normal("mu_a", 0.0, 10.0), pm.Exponential("sigma_a", 1)
        alpha = pm.Normal("alpha", mu=mu_a, sigma=sigma_a, dims="county")
        beta, sd_y = pm.Normal("beta", 0, 10), pm.Exponential("sd_y", 1)
        y_hat = alpha[county_idx] + beta * floor_idx
        pm.Normal("y_like", mu=y_hat, sigma=sd_y, observed=y, dims="obs_id")
    return model


@foreign(RADON)
def radon_varying_slopes(n):
    county, floor, y, _ = radon(n)
    with pm.Model(coords={"county": COUNTIES, "obs_id": np.arange(n)}) as model:
        floor_idx = pm.Data("floor_idx", floor, dims="obs_id")
        county_idx = pm.Data("county_idx", county, dims="obs_id")
        mu_a, sigma_a = pm.Normal("mu_a", 0.0, 5.0), pm.Exponential("sigma_a", 1)
        mu_b, sigma_b = pm.Normal("mu_b", 0.0, 5.0), pm.Exponential("sigma_b", 1)
        z_a, z_b = pm.Normal("z_a", 0, 1, dims="county"), pm.Normal("z_b", 0, 1, dims="county")
        alpha = pm.Deterministic("alpha", mu_a + z_a * sigma_a, dims="county")
        beta = pm.Deterministic("beta", mu_b + z_b * sigma_b, dims="county")
        theta = alpha[county_idx] + beta[county_idx] * floor_idx
        pm.Normal("y", theta, pm.Exponential("sd_y", 1), observed=y, dims="obs_id")
    return model


@foreign(RADON)
def radon_correlated_slopes(n):
    county, floor, y, _ = radon(n)
    coords = {"county": COUNTIES, "param": ["alpha", "beta"], "obs_id": np.arange(n)}
    with pm.Model(coords=coords) as model:
        floor_idx = pm.Data("floor_idx", floor, dims="obs_id")
        county_idx = pm.Data("county_idx", county, dims="obs_id")
        sd_dist = pm.Exponential.dist(0.5, shape=(2,))
        chol, _, _ = pm.LKJCholeskyCov("chol", n=2, eta=2.0, sd_dist=sd_dist)
        mu = pm.Normal("mu_alpha_beta", mu=0.0, sigma=5.0, shape=2)
        z = pm.Normal("z", 0.0, 1.0, dims=("param", "county"))
        both = pm.Deterministic("alpha_beta", pt.dot(chol, z).T, dims=("county", "param"))
        theta = mu[0] + both[county_idx, 0] + (mu[1] + both[county_idx, 1]) * floor_idx
        pm.Normal("y_like", theta, pm.Exponential("sd_y", 1), observed=y, dims="obs_id")
    return model


@foreign(RADON)
def radon_uranium(n):
    county, floor, y, uranium = radon(n)
    with pm.Model(coords={"county": COUNTIES, "obs_id": np.arange(n)}) as model:
        floor_idx = pm.Data("floor_idx", floor, dims="obs_id")
        county_idx = pm.Data("county_idx", county, dims="obs_id")
        level = pm.Data("uranium", uranium, dims="county")
        g = pm.Normal("g", 0.0, 10.0, shape=2)
        sigma_a = pm.Exponential("sigma_a", 1.0)
        eps = pm.Normal("eps_a", 0, sigma_a, dims="county")
        alpha = pm.Deterministic("alpha", g[0] + g[1] * level + eps, dims="county")
        xbar = pm.Data("xbar", np.bincount(county, floor) / np.bincount(county))
        beta, gamma = pm.Normal("beta", 0, 10), pm.Normal("gamma", 0, 10)
        y_hat = alpha[county_idx] + beta * floor_idx + gamma * xbar[county_idx]
        pm.Normal("y", y_hat, pm.Exponential("sd_y", 1), observed=y, dims="obs_id")
    return model


@foreign(CASE + "longitudinal_models")
def longitudinal(n):
    d = frame(n)
    with pm.Model(coords={"ids": range(12), "obs": d.index}) as model:
        age = pm.Data("age_14", d["rank"].to_numpy())
        coa = pm.Data("coa", d["bin"].to_numpy())
        g0, g1 = pm.Normal("global_intercept", 0, 1), pm.Normal("global_age_beta", 0, 1)
        g2, g3 = pm.Normal("global_coa_beta", 0, 1), pm.Normal("global_coa_age", 0, 1)
        s0, s1 = pm.HalfNormal("subject_intercept_sigma", 5), pm.HalfNormal("subject_age_sigma", 5)
        u0 = pm.Normal("subject_intercept", 0, s0, dims="ids")
        u1 = pm.Normal("subject_age", 0, s1, dims="ids")
        ids = d["g"].to_numpy()
        growth = (g0 + u0[ids]) + (g1 + u1[ids]) * age + g2 * coa + g3 * (coa * age)
        sigma = pm.HalfStudentT("global_sigma", 1, 3)
        outcome = pm.Normal("outcome", growth, sigma, observed=d["y"].values, dims="obs")
        assert outcome is not None
    return model


@foreign("pymc-examples: howto/LKJ")
def lkj(n):
    x = np.random.default_rng(4).multivariate_normal([1, -2], [[1, 0.5], [0.5, 2]], n)
    with pm.Model(coords={"axis": ["y", "z"], "obs_id": np.arange(n)}) as model:
        chol, _, _ = pm.LKJCholeskyCov(
            "chol", n=2, eta=2.0, sd_dist=pm.Exponential.dist(1.0, shape=2)
        )
        pm.Deterministic("cov", chol.dot(chol.T))
        mu = pm.Normal("mu", 0.0, sigma=1.5, dims="axis")
        pm.MvNormal("obs", mu, chol=chol, observed=x, dims=("obs_id", "axis"))
    return model


@foreign(CASE + "copula-estimation")
def copula(n):
    data = np.random.default_rng(5).multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], n)
    with pm.Model(coords={"axis": ["a", "b"], "obs_id": np.arange(n)}) as model:
        _, corr, _ = pm.LKJCholeskyCov(
            "chol", n=2, eta=2.0, sd_dist=pm.Exponential.dist(1.0, shape=2)
        )
        pm.MvNormal("N", mu=0.0, cov=corr, observed=data, dims=("obs_id", "axis"))
    return model


@foreign(CASE + "spline")
def cherry_blossoms(n):
    d = frame(n)
    knots = np.linspace(0, 1, 12)
    B = np.maximum(0, 1 - 11 * np.abs(d["rank"].to_numpy()[:, None] - knots))
    with pm.Model(coords={"splines": range(12), "obs": d.index}) as model:
        a = pm.Normal("a", 100, 5)
        w = pm.Normal("w", mu=0, sigma=3, size=12, dims="splines")
        mu = pm.Deterministic("mu", a + pm.math.dot(np.asarray(B, order="F"), w.T))
        sigma = pm.Exponential("sigma", 1)
        pm.Normal("D", mu=mu, sigma=sigma, observed=100 + d["y"], dims="obs")
    return model


@foreign(CASE + "probabilistic_matrix_factorization")
def matrix_factorisation(n):
    rng = np.random.default_rng(6)
    users, items = 60, n // 40
    data = np.where(rng.random((items, users)) < 0.3, np.nan, rng.normal(size=(items, users)))
    known = ~np.isnan(data)
    with pm.Model(coords={"users": range(users), "movies": range(items), "k": range(3)}) as model:
        U = pm.MvNormal("U", mu=0, tau=0.5 * np.eye(3), dims=("movies", "k"))
        V = pm.MvNormal("V", mu=0, tau=0.5 * np.eye(3), dims=("users", "k"))
        pm.Normal("R", mu=(U @ V.T)[known], tau=2, observed=data[known])
    return model


@foreign(CASE + "factor_analysis")
def factor_analysis(n):
    Y = np.random.default_rng(7).standard_normal((10, n))
    coords = {"latent_columns": range(2), "rows": range(n), "observed_columns": range(10)}
    with pm.Model(coords=coords) as model:
        W = pm.Normal("W", dims=("observed_columns", "latent_columns"))
        F = pm.Normal("F", dims=("latent_columns", "rows"))
        sigma = pm.HalfNormal("sigma", 1.0)
        pm.Normal("X", mu=W @ F, sigma=sigma, observed=Y, dims=("observed_columns", "rows"))
    return model


@foreign(CASE + "factor_analysis")
def factor_analysis_integrated(n):
    Y = np.random.default_rng(7).standard_normal((10, n))
    with pm.Model(coords={"latent_columns": range(2), "observed_columns": range(10)}) as model:
        z = pm.HalfNormal("W_z", 1.0, dims="latent_columns")
        b = pm.HalfNormal("W_b", 1.0, shape=(17,), dims="packed_dim")
        L = pt.set_subtensor(pt.zeros((10, 2))[np.tril_indices(10, k=-1, m=2)], b)
        L = pt.set_subtensor(L[np.arange(2), np.arange(2)], pt.ones(2))
        W = pm.Deterministic("W", L @ pt.diag(pt.cumsum(z)))
        sigma = pm.HalfNormal("sigma", 1.0)
        E = pm.Deterministic("cov", W @ W.T + sigma**2 * pt.eye(10))
        pm.MvNormal("X", 0.0, cov=E, observed=Y.T)
    return model


@foreign(CASE + "CFA_SEM")
def confirmatory_factors(n):
    data = np.random.default_rng(8).standard_normal((n, 6))
    coords = {"obs": range(n), "latent": ["F1", "F2"], "indicators": list("abcdef")}
    with pm.Model(coords=coords) as model:
        psi = pm.InverseGamma("Psi", 5, 10, dims="indicators")
        l1, l2 = pm.Normal("lambdas1", 1, 10, shape=2), pm.Normal("lambdas2", 1, 10, shape=2)
        tau = pm.Normal("tau", 3, 10, dims="indicators")
        chol, _, _ = pm.LKJCholeskyCov(
            "chol_cov", n=2, eta=2, sd_dist=pm.Exponential.dist(1.0, shape=2)
        )
        ksi = pm.MvNormal("ksi", 0, chol=chol, dims=("obs", "latent"))
        m = [tau[0] + ksi[:, 0], *(tau[i + 1] + ksi[:, 0] * l1[i] for i in range(2))]
        m += [tau[3] + ksi[:, 1], *(tau[i + 4] + ksi[:, 1] * l2[i] for i in range(2))]
        mu = pm.Deterministic("mu", pm.math.stack(m).T)
        pm.Normal("likelihood", mu, psi, observed=data)
    return model

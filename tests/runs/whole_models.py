#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Ordinary models of all rows, as they are written for NUTS."""

import numpy as np
import pandas as pd
import pymc as pm

N = 4_000


def linear():
    """Linear regression whose posterior is Gaussian; return its mean and covariance too."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((N, 3)) @ [[1, 0.5, 0], [0, 1, 0.3], [0, 0, 2]]
    y = X @ [1.0, -0.5, 0.2] + rng.standard_normal(N)
    with pm.Model(coords={"row": np.arange(N), "k": list("abc")}) as model:
        data, observed = pm.Data("X", X, dims=("row", "k")), pm.Data("Y", y, dims="row")
        beta = pm.Normal("beta", dims="k")
        mu = pm.Deterministic("mu", data @ beta, dims="row")
        pm.Deterministic("fit", mu.std())
        pm.Deterministic("twice", 2 * beta, dims="k")
        pm.Deterministic("middle", data.mean(0) @ beta)
        pm.Normal("y", mu, 1.0, observed=observed, dims="row")
    covariance = np.linalg.inv(X.T @ X + np.eye(3))
    return model, covariance @ (X.T @ y), covariance


def logistic():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.standard_normal((N, 2)), columns=["age", "income"])
    frame["bought"] = (rng.random(N) < 1 / (1 + np.exp(-frame["age"] + 1))).astype("int64")
    with pm.Model(coords={"row": frame.index, "feature": ["age", "income"]}) as model:
        X = pm.Data("X", frame[["age", "income"]], dims=("row", "feature"))
        bought = pm.Data("bought_data", frame["bought"], dims="row")
        a, b = pm.Normal("a", 0, 2), pm.Normal("b", 0, 2, dims="feature")
        p = pm.Deterministic("p", pm.math.invlogit(a + X @ b), dims="row")
        pm.Bernoulli("bought", p, observed=bought, dims="row")
    return model


def counts_in_groups():
    rng = np.random.default_rng(3)
    group = pd.Categorical(rng.choice(list("uvwxyz"), N))
    y = rng.poisson(np.exp(1 + rng.normal(0, 0.4, 6)[group.codes]))
    with pm.Model(coords={"group": group.categories}) as model:
        mean, scale = pm.Normal("mean", 0, 2), pm.HalfNormal("scale", 1)
        effect = pm.Normal("effect", mean, scale, dims="group")
        pm.Poisson("y", pm.math.exp(effect[group.codes]), observed=pd.Series(y))
    return model


def two_likelihoods():
    rng = np.random.default_rng(4)
    x, z = rng.normal(1, 2, N), rng.normal(1, 1, 3 * N // 2)
    with pm.Model() as model:
        m, s = pm.Normal("m", 0, 5), pm.HalfNormal("s", 5, shape=2)
        pm.Normal("x", m, s[0], observed=x)
        pm.Normal("z", m, s[1], observed=z)
        pm.Normal("few", m, 1.0, observed=rng.normal(1, 1, 20))
    return model


def missing_outcomes():
    rng = np.random.default_rng(5)
    x = rng.standard_normal(N)
    y = np.where(np.arange(N) % 400, 1 + x + rng.standard_normal(N), np.nan)
    with pm.Model() as model:
        b, s = pm.Normal("b", shape=2), pm.HalfNormal("s")
        pm.Normal("y", b[0] + b[1] * x, s, observed=y)
    return model


def as_bambi_names_them():
    rng = np.random.default_rng(6)
    g, x = rng.integers(0, 8, N), rng.standard_normal(N)
    y = 0.5 + x + rng.normal(0, 0.6, 8)[g] + rng.standard_normal(N)
    with pm.Model(coords={"g__factor_dim": list("abcdefgh"), "__obs__": np.arange(N)}) as model:
        a, b = pm.Normal("Intercept", 0, 5), pm.Normal("x", 0, 5)
        scale = pm.HalfNormal("1|g_sigma", 1)
        u = pm.Deterministic(
            "1|g", scale * pm.Normal("1|g_offset", dims="g__factor_dim"), dims="g__factor_dim"
        )
        mu = pm.Deterministic("mu", a + b * x + u[g], dims="__obs__")
        pm.Normal("y", mu, pm.HalfStudentT("sigma", 4, 1), observed=y, dims="__obs__")
    return model

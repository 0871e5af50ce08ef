#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Regressions, and many ways of writing their data."""

import numpy as np
import pandas as pd
import pymc as pm
import pytensor
import pytensor.sparse
import pytensor.tensor as pt
import scipy.sparse as sp

from written_models import base, model


@model()
def linear_numpy(n=72):
    rng, X, _g = base(n)
    y = X @ [1.0, -1, 0.5] + rng.standard_normal(n)
    with pm.Model() as m:
        a = pm.Normal("a")
        b = pm.Normal("b", shape=3)
        s = pm.HalfNormal("s")
        pm.Normal("y", a + X @ b if False else a + pm.math.dot(X, b), s, observed=y)
    return m


@model()
def linear_data_dims(n=72):
    rng, X, _g = base(n)
    y = X @ [1.0, -1, 0.5] + rng.standard_normal(n)
    with pm.Model(coords={"obs": np.arange(n), "k": ["u", "v", "w"]}) as m:
        Xd = pm.Data("X", X, dims=("obs", "k"))
        yd = pm.Data("yd", y, dims="obs")
        a = pm.Normal("a")
        b = pm.Normal("b", dims="k")
        s = pm.HalfNormal("s")
        mu = pm.Deterministic("mu", a + Xd @ b, dims="obs")
        pm.Deterministic("mean_mu", mu.mean())
        pm.Normal("y", mu, s, observed=yd, dims="obs")
    return m


@model()
def pandas_columns(n=72):
    rng, X, _g = base(n)
    df = pd.DataFrame(X, columns=list("abc")).assign(y=X.sum(1) + rng.standard_normal(n))
    with pm.Model() as m:
        b = pm.Normal("b", 0, 2, shape=4)
        s = pm.Exponential("s", 1)
        pm.Normal(
            "y",
            b[0] + b[1] * df["a"].to_numpy() + b[2] * df.b.values + b[3] * df.c.values**2,
            s,
            observed=df["y"],
        )
    return m


@model()
def standardised_in_the_graph(n=72):
    rng, X, _g = base(n)
    y = 1 + X[:, 0] + rng.standard_normal(n)
    with pm.Model() as m:
        x = pm.Data("x", X[:, 0])
        yd = pm.Data("y_obs", y)
        z = (x - x.mean()) / x.std()
        b = pm.Normal("b", shape=2)
        s = pm.HalfNormal("s", sigma=yd.std())
        pm.Normal("y", b[0] + b[1] * z, s, observed=yd)
    return m


@model()
def int64_and_float32(n=72):
    rng, X, _g = base(n)
    y = rng.poisson(np.exp(0.3 * X[:, 0])).astype("int64")
    with pm.Model() as m:
        b = pm.Normal("b", shape=2)
        pm.Poisson("y", pm.math.exp(b[0] + b[1] * X[:, 0].astype("float32")), observed=y)
    return m


@model()
def iid_no_covariates(n=72):
    _rng, X, _g = base(n)
    with pm.Model() as m:
        mu = pm.Normal("mu")
        s = pm.HalfNormal("s")
        nu = pm.Exponential("nu", 1 / 10)
        pm.StudentT("y", mu=mu, sigma=s, nu=nu + 1, observed=X[:, 0])
    return m


@model()
def column_vectors(n=72):
    rng, X, _g = base(n)
    y = X[:, :1] + rng.standard_normal((n, 1))
    with pm.Model() as m:
        b = pm.Normal("b", shape=(3, 1))
        s = pm.HalfNormal("s")
        pm.Normal("y", pt.dot(X, b), s, observed=y)
    return m


@model()
def many_outcomes_matrix(n=72):
    rng, X, _g = base(n)
    Y = X + rng.standard_normal((n, 3))
    with pm.Model(coords={"row": range(n), "item": list("pqr")}) as m:
        a = pm.Normal("a", dims="item")
        b = pm.Normal("b", shape=(3, 3))
        s = pm.HalfNormal("s", dims="item")
        pm.Normal("y", a + X @ b, s, observed=Y, dims=("row", "item"))
    return m


@model()
def flattened_matrix(n=72):
    rng, X, _g = base(n)
    Y = X + rng.standard_normal((n, 3))
    with pm.Model() as m:
        a = pm.Normal("a", shape=3)
        b = pm.Normal("b")
        s = pm.HalfNormal("s")
        mu = a[None, :] + b * pt.as_tensor(X)
        pm.Normal("y", mu.flatten(), s, observed=Y.ravel())
    return m


@model()
def concatenated_parts(n=72):
    rng, X, _g = base(n)
    y = rng.standard_normal(n)
    h = n // 3
    with pm.Model() as m:
        a = pm.Normal("a", shape=2)
        b = pm.Normal("b")
        mu = pt.concatenate([a[0] + b * X[:h, 0], a[1] + b * X[h:, 0]])
        pm.Normal("y", mu, 1, observed=y)
    return m


@model()
def shape_arithmetic(n=72):
    rng, X, _g = base(n)
    y = rng.standard_normal(n)
    with pm.Model() as m:
        x = pm.Data("x", X[:, 0])
        b = pm.Normal("b")
        s = pm.HalfNormal("s")
        mu = pt.zeros(n) + b * pt.ones_like(x) + pt.full((x.shape[0],), 2.0) * b
        pm.Normal("y", mu, s * pt.sqrt(x.shape[0]) / 10, observed=y, shape=x.shape[0])
    return m


@model()
def sparse_design(n=72):
    rng, _X, _g = base(n)
    Z = sp.csr_matrix(
        (np.ones(2 * n), (np.repeat(np.arange(n), 2), rng.integers(0, 12, 2 * n))), shape=(n, 12)
    )
    y = rng.standard_normal(n)
    with pm.Model() as m:
        b = pm.Normal("b", shape=12)
        s = pm.HalfNormal("s")
        mu = pytensor.sparse.structured_dot(pytensor.sparse.as_sparse_variable(Z), b[:, None])[:, 0]
        pm.Normal("y", mu, s, observed=y)
    return m

#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Data as pandas and other libraries give them, and what cannot be read."""

import numpy as np
import pandas as pd
import pymc as pm
import pytensor.sparse
import pytensor.tensor as pt
import scipy.sparse

from written_models import base, model


@model()
def data_set_anew(n=72):
    """The values of the last ``pm.set_data`` count, whatever their number."""
    rng, X, _g = base(n)
    with pm.Model() as m:
        x, y = pm.Data("x", X[:40]), pm.Data("y_data", X[:40, 0])
        b = pm.Normal("b", shape=3)
        pm.Normal("y", x @ b, 1, observed=y)
        pm.set_data({"x": X, "y_data": rng.standard_normal(n)})
    return m


@model()
def strings_and_categories(n=72):
    rng, _X, _g = base(n)
    frame = pd.DataFrame(
        {
            "region": rng.choice(["north", "south", "west"], n),
            "sex": pd.Categorical(rng.choice(["f", "m"], n)),
            "y": pd.array(rng.integers(0, 9, n), dtype="Int64"),
        }
    )
    codes, regions = pd.factorize(frame["region"], sort=True)
    with pm.Model(coords={"region": regions, "sex": frame["sex"].cat.categories}) as m:
        a, b = pm.Normal("a", dims="region"), pm.Normal("b", dims="sex")
        mu = pt.exp(a[codes] + b[frame["sex"].cat.codes.to_numpy()])
        pm.Poisson("y", mu, observed=frame["y"])
    return m


@model()
def truth_values_as_columns(n=72):
    rng, _X, g = base(n)
    columns = pd.get_dummies(pd.Series(g))
    with pm.Model() as m:
        a = pm.Normal("a", shape=7)
        pm.Normal("y", pt.dot(columns.to_numpy(), a), 1, observed=rng.standard_normal(n))
    return m


@model()
def prior_from_data(n=72):
    _rng, X, _g = base(n)
    with pm.Model() as m:
        x = pm.Data("x", X)
        b = pm.Normal("b", 0, 2.5 / x.std(axis=0), shape=3)
        pm.Normal("y", x @ b, 1, observed=X[:, 0])
    return m


@model()
def submodels_that_share_a_variable(n=72):
    rng, X, _g = base(n)
    with pm.Model() as m:
        with pm.Model("first"):
            b = pm.Normal("b", shape=3)
            pm.Normal("y", X @ b, 1, observed=X[:, 0])
        with pm.Model("second"):
            c = pm.Normal("c")
            pm.Poisson("y", pt.exp(c + b[0]), observed=rng.poisson(1, 50))
    return m


@model()
def masked_matrix(n=72):
    rng, X, _g = base(n)
    with pm.Model() as m:
        b = pm.Normal("b", shape=3)
        pm.Normal("y", b, 1, observed=np.ma.masked_array(X, rng.random(X.shape) < 0.1))
    return m


@model("`y_observed` expected rows that are observed or missing as a whole")
def multivariate_rows_missing_in_part(n=72):
    _rng, X, _g = base(n)
    X[:5, 0] = np.nan
    with pm.Model() as m:
        b = pm.Normal("b", shape=3)
        pm.MvNormal("y", b, np.eye(3), observed=np.ma.masked_invalid(X))
    return m


def sparse_rows(n, width=5):
    """Return a matrix of whose entries most are zero, and outcomes."""
    rng = np.random.default_rng(3)
    Z = rng.standard_normal((n, width)) * (rng.random((n, width)) < 0.4)
    return scipy.sparse.csr_matrix(Z), rng.standard_normal(n)


@model()
def sparse_design_and_vector(n=72):
    Z, y = sparse_rows(n)
    with pm.Model() as m:
        b = pm.Normal("b", shape=5)
        pm.Normal("y", pytensor.sparse.dot(Z.tocsc(), b), 1.0, observed=y)
    return m


@model()
def sparse_design_on_the_right(n=72):
    Z, y = sparse_rows(n)
    with pm.Model() as m:
        b = pm.Normal("b", shape=(2, 5))
        mu = pytensor.sparse.dot(b, pytensor.sparse.as_sparse_variable(Z.T.tocsr()))
        pm.Normal("y", mu[1], 1.0, observed=y)
        pm.Normal("y2", mu, 1.0, observed=np.stack([y, -y]))
    return m


@model()
def sparse_design_transposed_in_the_graph(n=72):
    Z, y = sparse_rows(n)
    with pm.Model() as m:
        b = pm.Normal("b", shape=(5, 1))
        Z = pytensor.sparse.transpose(pytensor.sparse.as_sparse_variable(Z.T.tocsr()))
        pm.Normal("y", pytensor.sparse.structured_dot(Z, b)[:, 0], 1.0, observed=y)
    return m


@model()
def sparse_neighbours_of_groups(n=72):
    _rng, X, g = base(n)
    W, _ = sparse_rows(7, width=7)
    with pm.Model() as m:
        a = pm.Normal("a", shape=7)
        around = pytensor.sparse.dot(pytensor.sparse.as_sparse_variable(W), a[:, None])[:, 0]
        pm.Normal("y", (a + around)[g], 1.0, observed=X[:, 0])
    return m


@model()
def two_covariates_with_missing_values(n=72):
    rng, X, _g = base(n)
    x, z = np.where(rng.random((2, n)) < 0.2, np.nan, X[:, :2].T)
    with pm.Model() as m:
        x_, z_ = pm.Normal("x", 0.2, 1.0, observed=x), pm.Normal("z", -0.1, 1.0, observed=z)
        b = pm.Normal("b", shape=2)
        pm.Normal("y", b[0] * x_ + b[1] * z_, 1.0, observed=X[:, 2])
    return m

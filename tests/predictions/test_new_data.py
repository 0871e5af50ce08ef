#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Predictions of new rows, of known and of new groups."""

import numpy as np
import pandas as pd
import pymc as pm
import pytest
import xarray as xr

from test_predict import GROUPS, STORE, S, X, draws_of, predicted, regression

import pymc_geodesic as pmg

TABLE = pd.DataFrame({"x": X[:, 0], "z": X[:, 1], "store": STORE, "unused": "a"})


@pytest.fixture(scope="module")
def model():
    return regression()


@pytest.fixture(scope="module")
def idata(model):
    return draws_of(model)


@pytest.fixture(scope="module")
def old(idata, model):
    return predicted(idata, model, draws=True)["y"].values[0]


@pytest.mark.parametrize("rows", [[5], [5, 17, 3]])
def test_rows_of_the_model_as_new_rows(model, idata, old, rows):
    """The data are standardised by the mean of all rows of the model, not by that of the new."""
    table = TABLE.iloc[rows]
    found = predicted(idata, model, table, draws=True)
    np.testing.assert_allclose(found["y"].values[0], old[:, rows], rtol=1e-10, atol=1e-12)
    assert list(found["obs"].values) == rows
    arrays = {"X": X[rows], "store": STORE[rows]}
    found = predicted(idata, model, arrays, draws=True, var_names=["eta", "y"])
    for name in ("eta", "y"):
        np.testing.assert_allclose(found[name].values[0], old[:, rows], rtol=1e-10, atol=1e-12)


def test_rows_of_a_file_are_read_block_by_block(model, idata, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr("pymc_geodesic.parquet.BLOCK", 50)
    TABLE.to_parquet(tmp_path / "rows.parquet")
    chosen = np.arange(len(TABLE)) % 3 == 0
    for rows in (None, chosen):
        found = predicted(idata, model, tmp_path / "rows.parquet", rows=rows)
        xr.testing.assert_allclose(found, predicted(idata, model, TABLE, rows=rows), rtol=1e-12)


def test_a_model_of_a_stream_predicts_rows_of_a_file(tmp_path):
    pytest.importorskip("pyarrow")
    with pm.Model() as model:
        x, y = pm.Data("x", np.zeros(10)), pm.Data("y_of_batch", np.zeros(10))
        pm.Normal("y", pm.Normal("slope") * x, 1.0, observed=y, total_size=len(TABLE))
    slopes = xr.DataArray([[1.0, 3.0]], dims=("chain", "draw"))
    idata = xr.DataTree.from_dict({"posterior": xr.Dataset({"slope": slopes})})
    with pytest.raises(ValueError, match=r"`new_data` expected rows, because the model holds only"):
        predicted(idata, model)
    TABLE.to_parquet(tmp_path / "rows.parquet")
    found = predicted(idata, model, tmp_path / "rows.parquet")["y"].sel(summary="mean")
    np.testing.assert_allclose(found, 2 * X[:, 0], rtol=1e-12)
    with pm.Model() as model:
        batch = pm.Data("batch", np.zeros((10, 2)))
        mean = pm.Normal("slope") * batch[:, 0]
        pm.Normal("y", mean, 1.0, observed=batch[:, 1], total_size=len(TABLE))
    rows = pmg.ParquetRows(tmp_path / "rows.parquet", columns=["x", "z"])
    found = predicted(idata, model, rows)["y"].sel(summary="mean")
    np.testing.assert_allclose(found, 2 * X[:, 0], rtol=1e-12)


def test_new_groups_follow_their_prior(model, idata, old):
    table = TABLE.iloc[[5] * 5].copy()
    table["store"] = [STORE[5], GROUPS, GROUPS, GROUPS + 1, -1]
    with pytest.raises(ValueError, match=r"0 to 5, in `store`, got 6. Pass `sample_new_groups"):
        predicted(idata, model, table)
    found = predicted(idata, model, table, sample_new_groups=True, draws=True)["y"].values[0]
    np.testing.assert_allclose(found[:, 0], old[:, 5], rtol=1e-10)
    np.testing.assert_array_equal(found[:, 1], found[:, 2])
    posterior = idata["posterior"].to_dataset().isel(chain=0)
    scaled = (X[5] - X.mean(0)) / X.std(0)
    fixed = posterior["mu"].values + posterior["slopes"].values @ scaled
    scores = (found - fixed[:, None])[:, [1, 3, 4]] / posterior["tau"].values[:, None]
    # Two effects of one standard deviation each.
    assert np.all(np.abs(scores.mean(0)) < 5 * 2**0.5 / S**0.5)
    assert np.all(np.abs(scores.std(0) / 2**0.5 - 1) < 5 / (2 * S) ** 0.5)
    assert np.all(np.abs(np.corrcoef(scores.T) - np.eye(3)) < 0.36)


@pytest.mark.parametrize("likelihood", [pm.OrderedLogistic, pm.OrderedProbit])
def test_categories_are_drawn_for_rows_of_successive_groups(likelihood):
    """Their size is that of the rows which also choose effects."""
    rng = np.random.default_rng(1)
    with pm.Model() as model:
        x, group = pm.Data("x", np.zeros(600)), pm.Data("group", rng.integers(0, 4, 600))
        eta, cuts = pm.Normal("effect", shape=4)[group] + x, pm.Normal("cuts", shape=2)
        likelihood("y", eta=eta, cutpoints=cuts, observed=rng.integers(0, 3, 600))
    effects = np.broadcast_to([-20.0, 20.0, 0.0, 0.0], (1, 5_000, 4))
    cuts = np.broadcast_to([-1.0, 1.0], (1, 5_000, 2))
    draws = {"effect": (("chain", "draw", "of"), effects), "cuts": (("chain", "draw", "cut"), cuts)}
    idata = xr.DataTree.from_dict({"posterior": xr.Dataset(draws)})
    new = {"x": np.zeros(4), "group": [0, 1, 2, 3]}
    found = predicted(idata, model, new, kind="response", draws=True)["y"].values[0]
    assert np.all(found[:, 0] == 0)
    assert np.all(found[:, 1] == 2)
    p = predicted(idata, model, new)["y"].sel(summary="mean").values[2]
    shares = np.stack([(found[:, 2:] == k).mean(0) for k in range(3)], axis=1)
    # Five standard errors of shares of 5,000 draws.
    assert np.abs(shares - p).max() < 5 * 0.5 / 5_000**0.5
    # Rows are drawn independently.
    assert abs(np.corrcoef(found[:, 2], found[:, 3])[0, 1]) < 5 / 5_000**0.5


def test_correlated_effects_of_new_groups():
    covariance = np.array([[1.0, 0.8], [0.8, 1.0]])
    with pm.Model() as model:
        group, x = pm.Data("group", STORE), pm.Data("x", X[:, 0])
        both = pm.MvNormal("both", [5.0, 0.0], covariance, shape=(GROUPS, 2))
        pm.Normal("y", both[group, 0] + both[group, 1] * x, 1.0, observed=X[:, 1])
    new = {"group": [9, 9], "x": [0.0, 1.0]}
    found = predicted(draws_of(model, n=2_000), model, new, sample_new_groups=True, draws=True)
    first, second = found["y"].values[0].T
    np.testing.assert_allclose(np.cov(first, second - first), covariance, atol=0.2)
    assert abs(first.mean() - 5) < 0.12


@pytest.mark.parametrize(
    ("new", "error", "message"),
    [
        (TABLE.drop(columns="z"), ValueError, "`new_data` expected `X`, on which the rows depend"),
        (TABLE[["unused"]], ValueError, "`new_data` expected names of `pm.Data`"),
        ({"X": [[1.0, 2.0]], "other": [1]}, ValueError, r"expected names of .*got \['other'\]"),
        ({"X": [1.0, 2.0]}, ValueError, r"expected `X` with the shape \(rows, 2\), got \(2,\)"),
        ({"X": X[:3], "store": [1]}, ValueError, "arrays with one number of rows, got 3 in `X`"),
        ({"X": X[:1], "store": ["a"]}, ValueError, "`store` to be numbers of type"),
        ({"X": X[:1], "store": [0.5]}, ValueError, "`store` to be numbers of type"),
        (TABLE.iloc[:0], ValueError, "`new_data` expected rows, got none"),
        (3, TypeError, "`new_data` expected a DataFrame, a mapping"),
    ],
)
def test_mistakes(model, idata, new, error, message):
    with pytest.raises(error, match=message):
        predicted(idata, model, new)


def test_data_without_names_are_refused():
    with pm.Model() as model:
        x = pm.Data("x", X[:, 0])
        pm.Normal("y", pm.Normal("slope") * x + X[:, 1], 1.0, observed=X[:, 1])
    with pytest.raises(ValueError, match=r"got an array of shape \(120,\) without a name"):
        predicted(draws_of(model), model, {"x": X[:, 0]})
    with pm.Model() as model:
        pm.Normal("y", pm.Normal("slope") * X[:, 0], 1.0, observed=X[:, 1])
    with pytest.raises(ValueError, match=r"expected a model with `pm.Data`, got one without"):
        predicted(draws_of(model), model, {"x": X[:, 0]})


@pytest.mark.parametrize("kind", ["lookup", "place", "prior"])
def test_what_new_groups_lack_is_named(kind):
    region = np.arange(GROUPS) % 2
    with pm.Model() as model:
        group = pm.Data("group", STORE)
        regions = pm.Normal("regions", shape=2)
        if kind == "lookup":
            mean = (pm.Normal("effect", shape=GROUPS) + regions[region])[group]
        elif kind == "place":
            mean = pm.Normal("effect", shape=GROUPS)[group] + pm.math.cumsum(group * 1.0)
        else:
            mean = pm.Normal("effect", regions[region], shape=GROUPS)[group]
        pm.Normal("y", mean, 1.0, observed=X[:, 1])
    messages = {
        "lookup": "`sample_new_groups` expected groups that differ in nothing known",
        "place": "`new_data` expected rows that do not depend on each other",
        "prior": "whose prior is not the same for all",
    }
    with pytest.raises(ValueError, match=messages[kind]):
        predicted(draws_of(model), model, {"group": [0, 7]}, sample_new_groups=True)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_model_of_bambi(tmp_path):
    bambi = pytest.importorskip("bambi")
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"x": rng.normal(size=90), "g": rng.choice(list("abc"), 90)})
    table["y"] = (rng.random(90) < 0.5).astype(int)
    model = bambi.Model("y ~ scale(x) + (1|g)", table, family="bernoulli")
    idata = model.fit(draws=50, tune=100, chains=2, cores=1, random_seed=1, progressbar=False)
    expected = model.predict(idata, inplace=False)["posterior"]["p"].values.reshape(100, 90)
    found = predicted(idata, model)["y"]
    np.testing.assert_allclose(found.sel(summary="mean"), expected.mean(0), rtol=1e-10)
    np.testing.assert_allclose(found.sel(summary="95%"), np.quantile(expected, 0.95, axis=0))
    new = table.iloc[[4, 2]]
    found = predicted(idata, model, new, draws=True)["y"].values.reshape(100, 2)
    np.testing.assert_allclose(found, expected[:, [4, 2]], rtol=1e-10)
    other = pd.DataFrame({"x": [0.0], "g": ["d"]})
    with pytest.raises(ValueError, match="new groups"):
        predicted(idata, model, other)
    found = predicted(idata, model, other, kind="response", sample_new_groups=True)
    assert found["y"].sel(summary="95%") == 1
    table.to_parquet(tmp_path / "rows.parquet")
    found = predicted(idata, model, tmp_path / "rows.parquet")["y"].sel(summary="mean")
    np.testing.assert_allclose(found, expected.mean(0), rtol=1e-10)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", ["categorical", "cumulative"])
def test_categories_of_a_model_of_bambi(family):
    bambi = pytest.importorskip("bambi")
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"x": rng.normal(size=90), "y": rng.choice(["low", "mid", "top"], 90)})
    table["y"] = pd.Categorical(table["y"], ordered=family == "cumulative")
    model = bambi.Model("y ~ x", table, family=family)
    idata = model.fit(draws=50, tune=100, chains=2, cores=1, random_seed=1, progressbar=False)
    expected = predicted(idata, model)["y"]
    found = predicted(idata, model, kind="response")["y"]
    assert found.dims == expected.dims == ("__obs__", "y_category", "summary")
    assert list(found["y_category"]) == list(expected["y_category"]) == ["low", "mid", "top"]
    np.testing.assert_allclose(found.sel(summary="mean").sum("y_category"), 1.0)
    assert abs(found - expected).sel(summary="mean").max() < 5 * 0.5 / 10
